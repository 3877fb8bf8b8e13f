// Valid requests for the operations of a document, and their schemas as Ajv reads them.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Operation, PartnerDocument } from '../../../src/double/partner/document.ts';
import { createValue } from '../../../src/double/partner/schema-value.ts';
import { createSeededRandom } from '../../../src/double/state/random.ts';
import { root } from '../documents/markdown.ts';

/** A request that an operation accepts. */
interface OperationRequest {
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Reads the JSON of a file in a package of test/node_modules. */
export function readPackageFile(name: string, file: string): Record<string, unknown> {
  // Some packages do not export their package.json.
  const path = join(root, 'test/node_modules', name, file);
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** Creates a request with every required parameter and, if it is JSON or a form, the required content. */
export function requestFor(operation: Operation, document: PartnerDocument): OperationRequest {
  const random = createSeededRandom(operation.id).bytes;
  const create = (schema: Operation['parameters'][number]['schema']): unknown =>
    schema === undefined
      ? 'text'
      : createValue(schema, document, { direction: 'request', dynamic: false, random, now: 0 }).value;
  const headers: Record<string, string> = {};
  const query: string[] = [];
  let path = operation.path;
  for (const { place, name, required, schema, media, value } of operation.parameters) {
    if (!required) continue;
    const { example } = value;
    const found = example ?? create(schema);
    const text = media === undefined ? textOf(found) : JSON.stringify(found);
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(text === '' ? 'x' : text));
    if (place === 'header') headers[name] = text;
    if (place === 'cookie') headers['Cookie'] = `${name}=${text}`;
    if (place === 'query') query.push(...queryOf(name, found, value, media !== undefined));
  }
  const content = operation.body?.content ?? [];
  const media = content.find(({ essence }) => /json$/.test(essence)) ?? content[0];
  let body: string | undefined;
  if (operation.body?.required === true && media !== undefined) {
    headers['Content-Type'] = media.type.replace('*/*', 'application/json').replace('/*', '/plain');
    const created =
      /json$|\*\/\*/.test(media.essence) || media.essence.includes('form') ? create(media.schema) : 'text';
    const isJson = /json$|\*\/\*/.test(media.essence);
    body = isJson ? JSON.stringify(created) : formOf(created);
    if (media.essence === 'multipart/form-data') {
      headers['Content-Type'] = 'multipart/form-data; boundary=limit';
      body = multipartOf(created);
    }
  }
  return {
    path: query.length === 0 ? path : `${path}?${query.join('&')}`,
    method: operation.method,
    headers,
    body,
  };
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join(',');
  if (typeof value === 'object' && value !== null) return Object.entries(value).flat().join(',');
  return String(value);
}

function queryOf(
  name: string,
  value: unknown,
  { style, explode }: Record<string, unknown>,
  isContent: boolean,
): string[] {
  const pair = (key: string, each: unknown): string =>
    `${encodeURIComponent(key)}=${encodeURIComponent(String(each))}`;
  if (isContent) return [pair(name, JSON.stringify(value))];
  if (Array.isArray(value)) {
    if (value.length === 0) return [`${name}=`];
    const separator = style === 'pipeDelimited' ? '|' : style === 'spaceDelimited' ? ' ' : ',';
    return explode === false || (style !== undefined && style !== 'form' && explode !== true)
      ? [pair(name, value.join(separator))]
      : value.map((each) => pair(name, each));
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value);
    if (style === 'deepObject') return entries.map(([key, each]) => pair(`${name}[${key}]`, each));
    return explode === false
      ? [pair(name, entries.flat().join(','))]
      : entries.map(([key, each]) => pair(key, each));
  }
  return [pair(name, value)];
}

function formOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return String(
    new URLSearchParams(Object.entries(value).map(([name, each]): [string, string] => [name, String(each)])),
  );
}

function multipartOf(value: unknown): string {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const parts = entries.map(
    ([name, each]) => `--limit\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${String(each)}\r\n`,
  );
  return `${parts.join('')}--limit--\r\n`;
}

/** Returns whether a value is valid, and the errors if it is not. */
export type Validate = (place: string, value: unknown) => string | undefined;

/** Creates the check of Ajv, with the schemas of the document as they stand there. */
export function ajvFor(document: Record<string, unknown>): Validate {
  const require = createRequire(import.meta.url);
  const { default: Ajv } = require('ajv/dist/2020');
  const { default: addFormats } = require('ajv-formats');
  const ajv = addFormats(new Ajv({ strict: false, validateFormats: true, inlineRefs: false, logger: false }));
  const isOld = String(document['openapi']).startsWith('3.0');
  ajv.addSchema(modernize(document, isOld), 'https://document.example/');
  const compiled = new Map<string, ReturnType<typeof ajv.compile>>();
  return (place, value) => {
    const validate =
      compiled.get(place) ?? ajv.compile({ $ref: `https://document.example/${encodeURI(place)}` });
    compiled.set(place, validate);
    return validate(value) ? undefined : ajv.errorsText(validate.errors);
  };
}

/**
 * Rewrites what OpenAPI writes differently than JSON Schema: nullable, exclusive bounds and, in 3.0, members beside a reference. Without
 * `$id`, references are those of the document.
 */
function modernize(value: unknown, isOld: boolean): unknown {
  if (Array.isArray(value)) return value.map((each) => modernize(each, isOld));
  if (typeof value !== 'object' || value === null) return value;
  if (isOld && '$ref' in value && typeof value.$ref === 'string') return { $ref: value.$ref };
  const copy: Record<string, unknown> = Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      name === 'enum' || name === 'example' ? each : modernize(each, isOld),
    ]),
  );
  // A relative URI is sent where the document's own example is one.
  if (copy['format'] === 'uri') copy['format'] = 'uri-reference';
  if (copy['nullable'] === true && typeof copy['type'] === 'string') copy['type'] = [copy['type'], 'null'];
  for (const name of ['$id', '$anchor', '$dynamicAnchor', '$dynamicRef'])
    if (typeof copy[name] === 'string') delete copy[name];
  if (typeof copy['nullable'] === 'boolean') delete copy['nullable'];
  for (const [flag, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof copy[flag] !== 'boolean') continue;
    if (copy[flag] === true) {
      copy[flag] = copy[bound];
      delete copy[bound];
    } else delete copy[flag];
  }
  return copy;
}
