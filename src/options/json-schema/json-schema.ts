/** A JSON Schema (draft 2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Members of an object by name: one schema for each member of a declaration. */
export type MembersOf<Declaration> = Readonly<Record<keyof Declaration & string, JsonSchema>>;

/** A non-empty string. */
export const text: JsonSchema = { type: 'string', minLength: 1 };

/** `true` or `false`. */
export const flag: JsonSchema = { type: 'boolean' };

/** Returns the schema of a string of this form. The expression must have no flags. */
export function textOfForm(form: RegExp): JsonSchema {
  return { type: 'string', pattern: form.source };
}

/** Returns the schema of a whole number within bounds, which are included. */
export function wholeNumber(minimum: number, maximum: number): JsonSchema {
  return { type: 'integer', minimum, maximum };
}

/** Returns the schema of one of several words. */
export function word(words: readonly string[]): JsonSchema {
  return { enum: words };
}

/** Returns the schema of an array. */
export function buildArray(items: JsonSchema, rules: JsonSchema = {}): JsonSchema {
  return { type: 'array', items, ...rules };
}

/** Returns the schema of an object that has no other members than these. */
export function buildObject<Name extends string>(
  properties: Readonly<Record<Name, JsonSchema>>,
  required: readonly NoInfer<Name>[] = [],
  rules: JsonSchema = {},
): JsonSchema {
  const needed = required.length === 0 ? {} : { required };
  return { type: 'object', properties, additionalProperties: false, ...needed, ...rules };
}

/** Returns the schema of an object whose members have any name of one form. */
export function buildMap(names: JsonSchema, values: JsonSchema): JsonSchema {
  return { type: 'object', propertyNames: names, additionalProperties: values };
}

/** Returns a schema with a description. */
export function addDescription(description: string, schema: JsonSchema): JsonSchema {
  return { description, ...schema };
}

/** Returns a reference to one of the definitions of the configuration. */
export function definition(name: string): JsonSchema {
  return { $ref: `#/$defs/${name}` };
}
