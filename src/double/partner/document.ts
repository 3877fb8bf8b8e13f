// Reads an OpenAPI document of a partner, 3.0 or 3.1. Everything that a start needs is checked here, so that an error names its place,
// as a JSON Pointer in a fragment (RFC 6901 §6): `#/paths/~1orders/get`. Schemas are read when a request needs them.

import { DeclarationError } from '../../collections/fields/error.ts';
import { parseMediaType } from '../../http/headers/media-type.ts';
import { isToken } from '../../http/syntax/token.ts';
import type { JsonSchema } from '../../service/openapi/document.ts';
import { describeKind } from '../../shape/fault.ts';
import { type Combine, createCombine } from './combined-schemas.ts';
import { createFindHeirs, type FindHeirs } from './discriminators.ts';
import { type BrokenPlaces, examinePatterns, findBrokenPlaces } from './document-faults.ts';
import { readDocumentFiles } from './document-file.ts';
import type { DocumentFiles } from './document-walk.ts';
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
import { addDynamicReferences, createResolver, type Resolve, readResources } from './references.ts';

/** A media type of content, with its schema and its examples. */
export interface Media extends Located {
  /** The key in the document: `application/json; charset=utf-8`, `image/*`. */
  readonly type: string;
  /** Type and subtype in lower case. */
  readonly essence: string;
  readonly schema: LocatedSchema | undefined;
}

/** The places of parameters. */
const parameterPlaces = ['path', 'query', 'header', 'cookie'] as const;

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

/** The address of an operation. */
export interface Route {
  readonly method: string;
  /** The key in the document, which can have a query or a fragment: `/orders/{id}?draft=true`. */
  readonly key: string;
  /** The path template: `/orders/{id}`. */
  readonly path: string;
  /** The parameters that a query must have, from the key. An empty value stands for any. */
  readonly query: readonly (readonly [name: string, value: string])[];
}

/** An operation that is not served because of a mistake in the document. */
export interface FaultyOperation extends Route {
  /** The mistake, with its place. */
  readonly fault: DeclarationError;
}

/** An operation of the document. */
export interface Operation extends Route, Located {
  /** The operationId; without one, or if an earlier operation has it, method and path: `GET /orders`. */
  readonly id: string;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly required: boolean; readonly content: readonly Media[] } | undefined;
  readonly responses: readonly DocumentedResponse[];
  /** The alternatives, of which a request needs one. Empty if anyone may send it. */
  readonly security: readonly Requirement[];
}

/** A document that has been read. */
export interface PartnerDocument {
  /** That of OpenAPI; 3.2 is read as 3.1. */
  readonly version: '3.0' | '3.1';
  /** The operations in the order of the document, without those that have a mistake. */
  readonly operations: readonly Operation[];
  readonly faulty: readonly FaultyOperation[];
  /** All mistakes of the document, with their places. */
  readonly faults: readonly DeclarationError[];
  /** The paths of the servers without a slash at the end: `/v1`. */
  readonly basePaths: readonly string[];
  readonly securitySchemes: ReadonlyMap<string, Located>;
  /** Follows references. Throws DeclarationError if one leads nowhere, or in a circle. */
  resolve(node: LocatedSchema): LocatedSchema;
  /** Returns what a schema says together with those that it refers to and combines. */
  readonly combine: Combine;
  /** Returns the schemas that extend one with a discriminator. */
  readonly findHeirs: FindHeirs;
  /** The compiled patterns of schemas. */
  readonly patterns: Patterns;
  /** The schemas of the format `uri` for which an example of the document has a relative one. It grows as examples are read. */
  readonly relativeUris: WeakSet<JsonSchema>;
  /** Returns the patterns that are not enforced, one sentence each. */
  examinePatterns(): readonly string[];
}

/** What a document says about the schemas in it. */
export type SchemaSource = Pick<
  PartnerDocument,
  'version' | 'resolve' | 'combine' | 'findHeirs' | 'patterns' | 'relativeUris'
>;

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;

/**
 * Reads a document from a file in JSON or YAML, or from its object.
 * @throws DeclarationError that names the file, and the place in it
 */
export async function readDocument(source: string | object): Promise<PartnerDocument> {
  if (typeof source !== 'string') return parseDocument(source);
  const files = await readDocumentFiles(source);
  return named(source, () => parseFiles(files));
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

/**
 * Reads a document. A mistake in an operation, or in what it uses, costs that operation only.
 * @throws DeclarationError with the place, if the document is none of OpenAPI
 */
export function parseDocument(source: unknown): PartnerDocument {
  return parseFiles(new Map([['', source]]));
}

function parseFiles(given: DocumentFiles): PartnerDocument {
  const version = readVersion(membersAt(given.get(''), '#'));
  const resources = readResources(given, version);
  const files = resources.hasDynamicReferences
    ? new Map(Array.from(given, ([name, file]) => [name, addDynamicReferences(file)]))
    : given;
  const root = membersAt(files.get(''), '#');
  const resolve = createResolver(
    files,
    resources.hasDynamicReferences ? readResources(files, version) : resources,
    version,
  );
  const reader = new Reader(root, resolve, findBrokenPlaces(files, resolve));
  const patterns = createPatterns();
  return {
    version,
    resolve,
    combine: createCombine(resolve),
    findHeirs: createFindHeirs(isObject(root['components']) ? root['components']['schemas'] : {}, resolve),
    patterns,
    relativeUris: new WeakSet(),
    examinePatterns: () => examinePatterns(files, patterns),
    ...reader.read(),
  };
}

function readVersion({ openapi, swagger }: JsonSchema): PartnerDocument['version'] {
  if (typeof openapi === 'string' && /^3\.[012](\.|$)/.test(openapi))
    return openapi.startsWith('3.0') ? '3.0' : '3.1';
  if (swagger !== undefined)
    throw new DeclarationError('value', '#/swagger', 'is Swagger; convert the document to OpenAPI 3.0');
  const found = typeof openapi === 'string' ? JSON.stringify(openapi) : describeKind(openapi);
  throw new DeclarationError('value', '#/openapi', `must be 3.0, 3.1 or 3.2, is ${found}`);
}

/** The methods of a path that cannot be read. */
const usualMethods = ['get', 'put', 'post', 'delete', 'patch'] as const;

/** Reads the operations of a document and what belongs to them. */
class Reader {
  readonly #root: JsonSchema;
  readonly #resolve: Resolve;
  readonly #broken: BrokenPlaces;
  readonly #operations: Operation[] = [];
  readonly #faulty: FaultyOperation[] = [];
  readonly #faults = new Map<string, DeclarationError>();

  constructor(root: JsonSchema, resolve: Resolve, broken: BrokenPlaces) {
    this.#root = root;
    this.#resolve = resolve;
    this.#broken = broken;
    for (const fault of broken.faults) this.#faults.set(fault.message, fault);
  }

  read(): Pick<PartnerDocument, 'operations' | 'faulty' | 'faults' | 'basePaths' | 'securitySchemes'> {
    this.#readPaths();
    const [basePaths, securitySchemes] = [this.#basePaths(), this.#securitySchemes()];
    const { faults } = { faults: [...this.#faults.values()] };
    return { operations: this.#operations, faulty: this.#faulty, faults, basePaths, securitySchemes };
  }

  /** Reads a part of the document. A mistake in it is kept, and the part is left out. */
  #attempt<Part>(read: () => Part, without: (fault: DeclarationError) => void = () => {}): Part | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof DeclarationError)) throw error;
      this.#faults.set(error.message, error);
      without(error);
      return undefined;
    }
  }

  #paths(): JsonSchema {
    const { paths = {} } = this.#root;
    return this.#attempt(() => membersAt(paths, '#/paths')) ?? {};
  }

  #readPaths(): void {
    const ids = new Set<string>();
    for (const [key, source] of Object.entries(this.#paths())) {
      if (key.startsWith('x-')) continue;
      const at = formatPlace('#/paths', key);
      const { path, query } = readKey(key);
      const route = (method: string): Route => ({ method: method.toUpperCase(), key, path, query });
      const addFaulty = (method: string, fault: DeclarationError): void => {
        if (path.startsWith('/')) this.#faulty.push({ ...route(method), fault });
      };
      const item = this.#attempt(
        () => {
          if (!path.startsWith('/')) throw new DeclarationError('path', at, 'must begin with a slash');
          return this.#object(source, at);
        },
        (fault) => {
          for (const method of usualMethods) addFaulty(method, fault);
        },
      );
      for (const method of methods) {
        const value = item?.value[method];
        if (item === undefined || value === undefined) continue;
        const read = (): Operation => {
          checkTemplate(path, at);
          const place = formatPlace(item.at, method);
          for (const part of [place, formatPlace(item.at, 'parameters')]) this.#broken.check(part);
          return this.#operation(route(method), item, this.#object(value, place), ids);
        };
        const operation = this.#attempt(read, (fault) => addFaulty(method, fault));
        if (operation === undefined) continue;
        ids.add(operation.id);
        this.#operations.push(operation);
      }
    }
  }

  #operation(route: Route, item: Located, { value, at }: Located, ids: ReadonlySet<string>): Operation {
    const { operationId, requestBody, responses = {} } = value;
    const unnamed = `${route.method} ${route.key}`;
    const isNamed = typeof operationId === 'string' && operationId !== '' && !ids.has(operationId);
    const parameters = new Map<string, Parameter>();
    for (const owner of [item, { value, at }])
      for (const each of this.#parameters(owner)) parameters.set(`${each.place} ${each.name}`, each);
    return {
      value,
      at,
      id: isNamed ? operationId : unnamed,
      ...route,
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
      // The first three are described elsewhere, and a parameter of their names is ignored (OpenAPI, Parameter Object).
      // A preference that is not recognized is ignored (RFC 7240 §2), and those of the double choose a response.
      const isIgnored = known === 'header' && /^(?:accept|content-type|authorization|prefer)$/i.test(name);
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

  #securitySchemes(): ReadonlyMap<string, Located> {
    const { components = {} } = this.#root;
    const at = '#/components/securitySchemes';
    const schemes = this.#attempt(() =>
      membersAt(membersAt(components, '#/components')['securitySchemes'] ?? {}, at),
    );
    return new Map(
      Object.entries(schemes ?? {}).flatMap(([name, source]) => {
        const scheme = this.#attempt(() => this.#object(source, formatPlace(at, name)));
        return scheme === undefined ? [] : [[name, scheme] as const];
      }),
    );
  }

  /** Returns the paths of all servers, also those of a path or an operation, with the defaults of variables. */
  #basePaths(): string[] {
    const owners: Located[] = [{ value: this.#root, at: '#' }];
    for (const [key, source] of Object.entries(this.#paths())) {
      if (key.startsWith('x-')) continue;
      const item = this.#attempt(() => this.#object(source, formatPlace('#/paths', key)));
      if (item === undefined) continue;
      owners.push(item);
      for (const method of methods) {
        const operation = item.value[method];
        if (isObject(operation)) owners.push({ value: operation, at: formatPlace(item.at, method) });
      }
    }
    const found = owners.flatMap(({ value: { servers = [] }, at }) => {
      const place = formatPlace(at, 'servers');
      return (this.#attempt(() => listAt(servers, place)) ?? []).flatMap(
        (server, index) => this.#attempt(() => serverPath(server, formatPlace(place, index))) ?? [],
      );
    });
    return [...new Set(found)].filter((path) => path !== '');
  }

  /** Returns an object, behind its reference if it is one. */
  #object(source: unknown, at: string): Located {
    const { value, at: place } = this.#resolve({ value: membersAt(source, at), at }, true);
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

/** Splits the key of a path. Documents write a query for an operation of its own; a fragment is no part of a request. */
function readKey(key: string): Pick<Route, 'path' | 'query'> {
  const [address = ''] = key.split('#');
  const [path = '', search = ''] = address.split('?');
  const query = Array.from(new URLSearchParams(search), ([name, value]): [string, string] => [
    name,
    value.startsWith('{') ? '' : value,
  ]);
  return { path, query };
}

function checkTemplate(path: string, at: string): void {
  if (/[{}]/.test(path.replace(/\{[^{}/]+\}/g, '')))
    throw new DeclarationError('path', at, 'is not a path template such as /orders/{id}');
  const names = Array.from(path.matchAll(/\{([^{}/]+)\}/g), ([, name]) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new DeclarationError('path', at, `has the parameter ${twice} twice`);
}
