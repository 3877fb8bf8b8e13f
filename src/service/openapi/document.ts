import type { JsonSchema } from '../../shape/shape.ts';

export type { JsonSchema } from '../../shape/shape.ts';

/** The operations of a path, by method in lower case, and the parameters that they share. */
export type PathItem = Readonly<Record<string, JsonSchema | readonly JsonSchema[]>>;

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: JsonSchema;
  readonly servers: readonly JsonSchema[];
  readonly tags: readonly JsonSchema[];
  readonly paths: Readonly<Record<string, PathItem>>;
  /** Schemas, responses, parameters, header fields and security schemes, each by name. */
  readonly components: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>;
}

/** Returns the path parameters of a template. Each is a segment of the path, so it is not empty. */
export function pathParameters(
  template: string,
  described: Readonly<Record<string, string>> = {},
): JsonSchema[] {
  return [...template.matchAll(/\{([^}]*)\}/g)].map(([, name = '']) => {
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
