import type { JsonSchema } from '../../shape/shape.ts';

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
