import type { Collection } from '../../collections/declaration.ts';
import type { Resource } from '../../pipeline/resource.ts';
import type { Scope } from '../../principal.ts';
import type { AuthScheme } from '../../schemes/auth-scheme.ts';
import type { JsonSchema } from '../../shape/shape.ts';
import type { ServiceOptions } from '../options.ts';

export type { JsonSchema } from '../../shape/shape.ts';

/** The operations of a path, by method in lower case, and the parameters that they share. */
export type PathItem = Readonly<Record<string, JsonSchema | readonly JsonSchema[]>>;

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  /** The version of OpenAPI. */
  readonly openapi: '3.1.0';
  /** The title and the version of the interface. */
  readonly info: JsonSchema;
  /** The origins of the service. */
  readonly servers: readonly JsonSchema[];
  /** The names by which operations are grouped. */
  readonly tags: readonly JsonSchema[];
  /** The operations by path and method. */
  readonly paths: Readonly<Record<string, PathItem>>;
  /** Schemas, responses, parameters, header fields and security schemes, each by name. */
  readonly components: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>;
}

/** Returns the path parameters of a template. Each is a segment of the path, so it is not empty. */
export function pathParameters(
  template: string,
  described: Readonly<Record<string, string>> = {},
): JsonSchema[] {
  return [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => {
    const description = described[name];
    return {
      name,
      in: 'path',
      required: true,
      ...(description !== undefined && { description }),
      schema: { type: 'string', minLength: 1 },
    };
  });
}

/** Returns the content of a message in JSON. */
export function jsonContent(schema: JsonSchema): JsonSchema {
  return { 'application/json': { schema } };
}

/** The kinds of components. */
type ComponentKind = 'schemas' | 'responses' | 'parameters' | 'headers' | 'securitySchemes';

/** Returns a distinct name for each call: the name itself, or with a number if it is taken. */
class DistinctNames {
  readonly #taken = new Set<string>();

  take(wanted: string): string {
    // Problem400_2 is not a status.
    const mark = /[0-9]$/.test(wanted) ? '_' : '';
    let name = wanted;
    for (let number = 2; this.#taken.has(name); number += 1) name = `${wanted}${mark}${number}`;
    this.#taken.add(name);
    return name;
  }
}

interface ComponentsOfKind {
  readonly names: DistinctNames;
  readonly named: Map<string, JsonSchema>;
}

/** Collects the components of a document. Equal components are listed once. */
export class Components {
  readonly #kinds = new Map<ComponentKind, ComponentsOfKind>();
  /** The references by kind and content. */
  readonly #known = new Map<string, string>();
  readonly operationIds = new DistinctNames();

  /** Adds a component, unless there is an equal one. Returns the reference to it. */
  add(kind: ComponentKind, wanted: string, component: JsonSchema): JsonSchema {
    return { $ref: `#/components/${kind}/${this.addNamed(kind, wanted, component)}` };
  }

  /** Adds a component, unless there is an equal one. Returns its name. */
  addNamed(kind: ComponentKind, wanted: string, component: JsonSchema): string {
    const content = `${kind} ${JSON.stringify(component)}`;
    const known = this.#known.get(content);
    if (known !== undefined) return known;
    const { names, named } = this.#kinds.get(kind) ?? { names: new DistinctNames(), named: new Map() };
    this.#kinds.set(kind, { names, named });
    // Letters, digits and . _ - only (OpenAPI 3.1, Components Object).
    const name = names.take(wanted.replace(/[^A-Za-z0-9._-]/gu, '_'));
    this.#known.set(content, name);
    named.set(name, component);
    return name;
  }

  /** Returns all components by kind and name. */
  all(): OpenApiDocument['components'] {
    return Object.fromEntries([...this.#kinds].map(([kind, { named }]) => [kind, Object.fromEntries(named)]));
  }
}

/** Returns words in one, each with a capital letter: `NotFound` for `not-found`. */
export function pascalCase(text: string): string {
  return text
    .split(/[^\p{L}\p{N}_]+/u)
    .filter((word) => word !== '')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

/** The path of the OpenAPI document. */
export const openApiPath = '/openapi.json';

/** What a service serves. */
export interface ServedApi {
  readonly collections: readonly Collection[];
  readonly resources: Readonly<Record<string, Resource>>;
  readonly options: Pick<
    ServiceOptions,
    'basePath' | 'publicUrl' | 'strictQuery' | 'defaultFormat' | 'health' | 'requestId' | 'openapi'
  >;
  readonly schemes: readonly AuthScheme[];
  /** Whether OAuth 2.0 and OAuth 1.0a are offered. */
  readonly oauth2: boolean;
  readonly oauth1: boolean;
  /** The scopes of OAuth 2.0. */
  readonly scopes: readonly Scope[];
  /** Whether the requests of users or peers are limited. */
  readonly quota: boolean;
}
