import assert from 'node:assert/strict';
import type { OpenApiDocument } from '../../../src/index.ts';
import { resolvePackage } from '../packages.ts';

type Json = Readonly<Record<string, unknown>>;

/** Checks responses against a document. */
export interface DocumentCheck {
  /** Asserts that a response is one that the operation can have. */
  response(method: string, target: string, response: Response): Promise<void>;
  /** Returns whether a value matches the schema of a component, with the reason if it does not. */
  matches(component: string, value: unknown): string | undefined;
}

/** The fields that must be in the document if a response has them. */
const documentedFields = [
  'etag',
  'last-modified',
  'location',
  'content-location',
  'link',
  'retry-after',
  'preference-applied',
  'www-authenticate',
  'accept-post',
  'ratelimit',
  'ratelimit-policy',
  'x-request-id',
  'accept-signature',
  'allow',
];

/** Creates the check of a document by ajv. */
export async function documentCheck(document: OpenApiDocument): Promise<DocumentCheck> {
  const { Ajv2020 } = await import(resolvePackage('ajv/dist/2020.js'));
  const { default: addFormats } = await import(resolvePackage('ajv-formats'));
  const ajv = new Ajv2020({ strict: false, allErrors: true, ownProperties: true });
  (addFormats.default ?? addFormats)(ajv);
  ajv.addFormat('decimal', true);
  ajv.addSchema(structuredClone(document), 'openapi');
  const mismatch = (schema: object, value: unknown): string | undefined =>
    ajv.validate(schema, value) ? undefined : ajv.errorsText();
  const at = (value: unknown): Json => {
    const object = toObject(value);
    const reference = object['$ref'];
    if (typeof reference !== 'string') return object;
    return reference
      .slice(2)
      .split('/')
      .reduce<Json>((inner, name) => toObject(inner[name]), toObject(document));
  };

  return {
    matches: (component, value) => mismatch({ $ref: `openapi#/components/schemas/${component}` }, value),
    async response(method, target, response) {
      const { status, headers } = response;
      const where = `${method} ${target}: ${status}`;
      const item = findItem(document, new URL(target, 'http://a.example').pathname);
      const operation =
        item && at(item[method.toLowerCase()] ?? (method === 'HEAD' ? item['get'] : undefined));
      const notAllowed = { 405: { $ref: '#/components/responses/MethodNotAllowed' } };
      const responses = status === 405 ? notAllowed : toObject(operation?.['responses']);
      const declared = responses as Json;
      const known = at(declared[status] ?? declared[`${Math.floor(status / 100)}XX`] ?? declared['default']);
      assert.notDeepEqual(known, {}, `${where} is not documented`);
      const fields = Object.keys(toObject(known['headers'])).map((name) => name.toLowerCase());
      for (const name of documentedFields)
        if (headers.has(name))
          assert.ok(fields.includes(name), `${where} has ${name}, which is not documented`);
      const text = await response.text();
      if (text === '') return;
      const type = headers.get('content-type')?.split(';')[0] ?? '';
      const content = toObject(known['content']);
      const media = content[type] ?? content['*/*'];
      assert.ok(media !== undefined, `${where} has ${type}, which is not documented`);
      const schema = toObject(media)['schema'];
      if (schema === undefined || !type.endsWith('json')) return;
      const inDocument = JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#', '"$ref":"openapi#'));
      const errors = mismatch(inDocument, JSON.parse(text));
      assert.equal(errors, undefined, `${where}: ${errors}\n${text}`);
    },
  };
}

/** Returns the path item whose template matches a path, the one with the most literals. */
function findItem({ paths }: OpenApiDocument, path: string): Json | undefined {
  const matching = Object.entries(paths).filter(([template]) =>
    new RegExp(`^${template.replace(/[.$()*+]/g, '\\$&').replace(/\{[^}]*\}/g, '[^/]+')}$`).test(path),
  );
  const [best] = matching.sort(([one], [other]) => one.split('{').length - other.split('{').length);
  return best?.[1];
}

function toObject(value: unknown): Json {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
