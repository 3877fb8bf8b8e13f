// Reads an OpenAPI document of a partner, 3.0 or 3.1. Everything that a start needs is checked here, so that an error names its place,
// as a JSON Pointer in a fragment (RFC 6901 §6): `#/paths/~1orders/get`. Schemas are read when a request needs them.
import { readFile } from 'node:fs/promises';
import { parseMediaType } from '../../http/headers/media-type.ts';
import { isToken } from '../../http/syntax/token.ts';
import { DeclarationError } from '../../schema/error.ts';
import type { JsonSchema } from '../../service/openapi/document.ts';
import { describeKind } from '../../shape/fault.ts';
import { type Combine, createCombine } from './combined-schemas.ts';
import {
  formatPlace,
  isObject,
  type Located,
  type LocatedSchema,
  listAt,
  membersAt,
  schemaAt,
} from './located.ts';
import { createPatterns, type Patterns } from './patterns.ts';
import { checkReferences, createResolver, examinePatterns } from './references.ts';

/** A media type of content, with its schema and its examples. */
export interface Media extends Located {
  /** The key in the document: `application/json; charset=utf-8`, `image/*`. */
  readonly type: string;
  /** Type and subtype in lower case. */
  readonly essence: string;
  readonly schema: LocatedSchema | undefined;
}

/** The places of parameters. */
export const parameterPlaces = ['path', 'query', 'header', 'cookie'] as const;

/** A parameter of an operation, or a field of a response. */
export interface Parameter extends Located {
  readonly name: string;
  readonly place: (typeof parameterPlaces)[number];
  readonly required: boolean;
  readonly schema: LocatedSchema | undefined;
  /** The media type of a parameter that has `content` in place of `schema`. */
  readonly media: Media | undefined;
}

/** A response of an operation. */
export interface DocumentedResponse extends Located {
  /** A status, a range or all others: `200`, `4XX`, `default`. */
  readonly status: string;
  readonly content: readonly Media[];
  readonly headers: readonly Parameter[];
}

/** The names of security schemes that a request needs together, with the scopes of each. */
export type Requirement = ReadonlyMap<string, readonly string[]>;

/** An operation of the document. */
export interface Operation extends Located {
  /** The operationId; without one, or if an earlier operation has it, method and path: `GET /orders`. */
  readonly id: string;
  readonly method: string;
  /** The path template: `/orders/{id}`. */
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly required: boolean; readonly content: readonly Media[] } | undefined;
  readonly responses: readonly DocumentedResponse[];
  /** The alternatives, of which a request needs one. Empty if anyone may send it. */
  readonly security: readonly Requirement[];
}

/** A document that has been read. */
export interface PartnerDocument {
  readonly version: '3.0' | '3.1';
  /** The operations in the order of the document. */
  readonly operations: readonly Operation[];
  /** The paths of the servers without a slash at the end: `/v1`. */
  readonly basePaths: readonly string[];
  readonly securitySchemes: ReadonlyMap<string, Located>;
  /** Follows references. Throws DeclarationError if one leads nowhere, or in a circle. */
  resolve(node: LocatedSchema): LocatedSchema;
  /** Returns what a schema says together with those that it refers to and combines. */
  readonly combine: Combine;
  /** The compiled patterns of schemas. */
  readonly patterns: Patterns;
  /** Returns the patterns that are not enforced, one sentence each. */
  examinePatterns(): readonly string[];
}

/** What a document says about the schemas in it. */
export type SchemaSource = Pick<PartnerDocument, 'version' | 'resolve' | 'combine' | 'patterns'>;

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;

/**
 * Reads a document from a file in JSON, or from its object.
 * @throws DeclarationError that names the file, and the place in it
 */
export async function readDocument(source: string | object): Promise<PartnerDocument> {
  if (typeof source !== 'string') return parseDocument(source);
  const text = await readFile(source, 'utf8').catch((error: unknown) => {
    throw new DeclarationError('value', source, `cannot be read: ${formatMessage(error)}`);
  });
  return named(source, () => parseDocument(parseJson(text)));
}

/** Adds the name of the file to an error about the document. */
export function named<Result>(source: string | object, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DeclarationError) || typeof source !== 'string') throw error;
    throw new DeclarationError(error.code, source, error.message);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new DeclarationError('value', '#', `is not JSON: ${formatMessage(error)}`);
  }
}

function formatMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Reads a document. Throws DeclarationError that names the place. */
export function parseDocument(source: unknown): PartnerDocument {
  const root = membersAt(source, '#');
  const version = readVersion(root);
  const resolve = createResolver(root);
  checkReferences(root, resolve);
  const reader = new Reader(root, resolve);
  const patterns = createPatterns();
  return {
    version,
    resolve,
    combine: createCombine(resolve),
    patterns,
    examinePatterns: () => examinePatterns(root, patterns),
    operations: reader.operations(),
    basePaths: reader.basePaths(),
    securitySchemes: reader.securitySchemes(),
  };
}

function readVersion({ openapi, swagger }: JsonSchema): PartnerDocument['version'] {
  if (typeof openapi === 'string' && /^3\.[01](\.|$)/.test(openapi))
    return openapi.startsWith('3.0') ? '3.0' : '3.1';
  if (swagger !== undefined)
    throw new DeclarationError('value', '#/swagger', 'is Swagger; convert the document to OpenAPI 3.0');
  const found = typeof openapi === 'string' ? JSON.stringify(openapi) : describeKind(openapi);
  throw new DeclarationError('value', '#/openapi', `must be 3.0 or 3.1, is ${found}`);
}

/** Reads the operations of a document and what belongs to them. */
class Reader {
  readonly #root: JsonSchema;
  readonly #resolve: PartnerDocument['resolve'];

  constructor(root: JsonSchema, resolve: PartnerDocument['resolve']) {
    this.#root = root;
    this.#resolve = resolve;
  }

  operations(): Operation[] {
    const paths = this.#root['paths'] === undefined ? {} : membersAt(this.#root['paths'], '#/paths');
    const ids = new Set<string>();
    return Object.entries(paths).flatMap(([path, source]) => {
      if (path.startsWith('x-')) return [];
      const at = formatPlace('#/paths', path);
      checkTemplate(path, at);
      const item = this.#object(source, at);
      return methods.flatMap((method) => {
        const value = item.value[method];
        if (value === undefined) return [];
        const operation = this.#operation(
          method,
          path,
          item,
          { value: membersAt(value, formatPlace(item.at, method)), at: formatPlace(item.at, method) },
          ids,
        );
        ids.add(operation.id);
        return [operation];
      });
    });
  }

  #operation(
    method: string,
    path: string,
    item: Located,
    { value, at }: Located,
    ids: ReadonlySet<string>,
  ): Operation {
    const { operationId, requestBody, responses = {} } = value;
    const unnamed = `${method.toUpperCase()} ${path}`;
    const isNamed = typeof operationId === 'string' && operationId !== '' && !ids.has(operationId);
    const parameters = new Map<string, Parameter>();
    for (const owner of [item, { value, at }])
      for (const each of this.#parameters(owner)) parameters.set(`${each.place} ${each.name}`, each);
    return {
      value,
      at,
      id: isNamed ? operationId : unnamed,
      method: method.toUpperCase(),
      path,
      parameters: [...parameters.values()],
      body: requestBody === undefined ? undefined : this.#body(requestBody, formatPlace(at, 'requestBody')),
      responses: Object.entries(membersAt(responses, formatPlace(at, 'responses'))).flatMap(
        ([status, source]) =>
          status.startsWith('x-')
            ? []
            : [this.#response(status, source, formatPlace(at, 'responses', status))],
      ),
      security: this.#security(
        value['security'] === undefined ? { value: this.#root, at: '#' } : { value, at },
      ),
    };
  }

  #parameters({ value, at }: Located): Parameter[] {
    const { parameters = [] } = value;
    return listAt(parameters, formatPlace(at, 'parameters')).flatMap((source, index) => {
      const located = this.#object(source, formatPlace(at, 'parameters', index));
      const { name, in: place } = located.value;
      const known = parameterPlaces.find((each) => each === place);
      if (known === undefined)
        throw new DeclarationError(
          'value',
          formatPlace(located.at, 'in'),
          `must be one of ${parameterPlaces.join(', ')}`,
        );
      if (typeof name !== 'string' || name === '')
        throw new DeclarationError(
          'value',
          formatPlace(located.at, 'name'),
          `must be text, is ${describeKind(name)}`,
        );
      // These three are described elsewhere, and a parameter of their names is ignored (OpenAPI, Parameter Object).
      const isIgnored = known === 'header' && /^(?:accept|content-type|authorization)$/i.test(name);
      return isIgnored ? [] : [this.#parameter(name, known, located)];
    });
  }

  #parameter(name: string, place: Parameter['place'], located: Located): Parameter {
    const { value, at } = located;
    const [media] =
      value['content'] === undefined ? [] : this.#content(value['content'], formatPlace(at, 'content'));
    return {
      ...located,
      name,
      place,
      required: value['required'] === true || place === 'path',
      schema: media?.schema ?? schemaAt(value['schema'], formatPlace(at, 'schema')),
      media,
    };
  }

  #body(source: unknown, at: string): Operation['body'] {
    const { value, at: place } = this.#object(source, at);
    return {
      required: value['required'] === true,
      content: this.#content(value['content'] ?? {}, formatPlace(place, 'content')),
    };
  }

  #response(status: string, source: unknown, at: string): DocumentedResponse {
    if (!/^(?:[1-5](?:\d\d|XX)|default)$/.test(status))
      throw new DeclarationError('value', at, 'is not a status such as 200, a range such as 4XX, or default');
    const located = this.#object(source, at);
    const { content = {}, headers = {} } = located.value;
    const fields = membersAt(headers, formatPlace(located.at, 'headers'));
    return {
      ...located,
      status,
      content: this.#content(content, formatPlace(located.at, 'content')),
      headers: Object.entries(fields).map(([name, field]) => {
        const header = this.#object(field, formatPlace(located.at, 'headers', name));
        if (!isToken(name))
          throw new DeclarationError('name', header.at, 'is not the name of a header field');
        return this.#parameter(name, 'header', header);
      }),
    };
  }

  #content(source: unknown, at: string): Media[] {
    return Object.entries(membersAt(source, at)).map(([type, media]) => {
      const { value, at: place } = this.#object(media, formatPlace(at, type));
      const parsed = parseMediaType(type);
      if (parsed === undefined)
        throw new DeclarationError('name', formatPlace(at, type), 'is not a media type');
      return {
        value,
        at: place,
        type,
        essence: parsed.type,
        schema: schemaAt(value['schema'], formatPlace(place, 'schema')),
      };
    });
  }

  #security({ value, at }: Located): Requirement[] {
    const place = formatPlace(at, 'security');
    return listAt(value['security'] ?? [], place).map((source, index) => {
      const here = formatPlace(place, index);
      return new Map(
        Object.entries(membersAt(source, here)).map(([name, scopes]) => {
          const texts = listAt(scopes, formatPlace(here, name));
          return [name, texts.map((scope) => String(scope))];
        }),
      );
    });
  }

  securitySchemes(): ReadonlyMap<string, Located> {
    const components = membersAt(this.#root['components'] ?? {}, '#/components');
    const at = '#/components/securitySchemes';
    const schemes = membersAt(components['securitySchemes'] ?? {}, at);
    return new Map(
      Object.entries(schemes).map(([name, source]) => [name, this.#object(source, formatPlace(at, name))]),
    );
  }

  /** Returns the paths of all servers, also those of a path or an operation, with the defaults of variables. */
  basePaths(): string[] {
    const owners: Located[] = [{ value: this.#root, at: '#' }];
    for (const [path, source] of Object.entries(membersAt(this.#root['paths'] ?? {}, '#/paths'))) {
      if (path.startsWith('x-')) continue;
      const item = this.#object(source, formatPlace('#/paths', path));
      owners.push(item);
      for (const method of methods) {
        const operation = item.value[method];
        if (isObject(operation)) owners.push({ value: operation, at: formatPlace(item.at, method) });
      }
    }
    const found = owners.flatMap(({ value, at }) =>
      value['servers'] === undefined
        ? []
        : listAt(value['servers'], formatPlace(at, 'servers')).map((server, index) =>
            serverPath(server, formatPlace(at, 'servers', index)),
          ),
    );
    return [...new Set(found)].filter((path) => path !== '');
  }

  /** Returns an object, behind its reference if it is one. */
  #object(source: unknown, at: string): Located {
    const { value, at: place } = this.#resolve({ value: membersAt(source, at), at });
    return { value: membersAt(value, place), at: place };
  }
}

function serverPath(source: unknown, at: string): string {
  const { url, variables = {} } = membersAt(source, at);
  if (typeof url !== 'string')
    throw new DeclarationError('value', formatPlace(at, 'url'), `must be text, is ${describeKind(url)}`);
  const known = membersAt(variables, formatPlace(at, 'variables'));
  const filled = url.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const variable = Object.hasOwn(known, name) ? known[name] : undefined;
    return isObject(variable) ? String(variable['default'] ?? '') : '';
  });
  const path = URL.canParse(filled, 'http://localhost') ? new URL(filled, 'http://localhost').pathname : '';
  return path.replace(/(?<!\/)\/+$/, '');
}

function checkTemplate(path: string, at: string): void {
  if (!path.startsWith('/')) throw new DeclarationError('path', at, 'must begin with a slash');
  if (/[{}]/.test(path.replace(/\{[^{}/]+\}/g, '')))
    throw new DeclarationError('path', at, 'is not a path template such as /orders/{id}');
  const names = Array.from(path.matchAll(/\{([^{}/]+)\}/g), ([, name]) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new DeclarationError('path', at, `has the parameter ${twice} twice`);
}
