// Merges what the schemas that apply to one value say: types, members, alternatives.
import type { JsonSchema } from '../../service/openapi/document.ts';
import { isObject, type Located, type LocatedSchema } from './located.ts';
import { listTypes, schemaMapIn, textsIn } from './schema-parts.ts';

/** The alternatives that are tried for one value, at most. */
const maxAttempts = 64;

/** Returns the type of a value. If it should end, an object or a list that may be null is null. */
export function chooseType(schemas: readonly JsonSchema[], endsEarly: boolean): string {
  const types = commonTypes(schemas);
  const usable = types?.filter((type) => type !== 'null') ?? [];
  const isNested = usable[0] === 'object' || usable[0] === 'array';
  if (endsEarly && isNested && types?.includes('null') === true) return 'null';
  if (types !== undefined) return usable[0] ?? 'null';
  const has = (...names: readonly string[]): boolean =>
    schemas.some((each) => names.some((name) => name in each));
  if (has('properties', 'required', 'additionalProperties', 'minProperties', 'patternProperties'))
    return 'object';
  if (has('items', 'prefixItems', 'minItems', 'contains')) return 'array';
  if (has('minimum', 'maximum', 'multipleOf', 'exclusiveMinimum', 'exclusiveMaximum')) return 'number';
  return has('pattern', 'minLength', 'maxLength', 'format') ? 'string' : 'object';
}

/** Returns the properties of objects to which all these schemas apply. */
export function propertiesIn(schemas: readonly Located[]): ReadonlyMap<string, readonly LocatedSchema[]> {
  const properties = new Map<string, LocatedSchema[]>();
  for (const schema of schemas)
    for (const [name, property] of schemaMapIn(schema, 'properties'))
      properties.set(name, [...(properties.get(name) ?? []), property]);
  return properties;
}

/** Returns the names of the members that objects must have. */
export function requiredIn(schemas: readonly Located[]): Set<string> {
  const required = new Set(schemas.flatMap(({ value }) => textsIn(value['required'])));
  for (const { value } of schemas)
    if (isObject(value['dependentRequired']))
      for (const name of [...required])
        for (const each of textsIn(value['dependentRequired'][name])) required.add(each);
  return required;
}

/** The keywords that `merge` follows, and those that mean something only beside them. */
const choiceNames = [
  ...['oneOf', 'anyOf', 'allOf', '$ref', 'if', 'then', 'else', 'not'],
  ...['unevaluatedProperties', 'unevaluatedItems', 'discriminator'],
];

/** Returns a schema without what `merge` follows. */
export function withoutChoices({ value, at }: Located): LocatedSchema {
  return {
    value: Object.fromEntries(Object.entries(value).filter(([name]) => !choiceNames.includes(name))),
    at,
  };
}

/** The types that are tried for a schema that names none, and excludes some values. */
const anyTypes = ['object', 'string', 'integer', 'array', 'boolean', 'null'];

/** Returns the types to choose from if `not` excludes values and no schema names a type; otherwise none. */
export function listOpenTypes(schemas: readonly Located[]): readonly LocatedSchema[] {
  const values = schemas.map(({ value }) => value);
  if (!values.some((value) => value['not'] !== undefined) || commonTypes(values) !== undefined) return [];
  const types = new Set([chooseType(values, false), ...anyTypes]);
  return Array.from(types, (type) => ({ value: { type }, at: schemas[0]?.at ?? '#' }));
}

/** Yields the combinations of one schema of each list, at most `maxAttempts`. */
export function* alternativesOf(
  choices: readonly (readonly LocatedSchema[])[],
): Generator<readonly LocatedSchema[]> {
  const total = choices.reduce((product, list) => product * list.length, 1);
  for (let index = 0; index < Math.min(total, maxAttempts); index += 1) {
    let rest = index;
    yield choices.flatMap((list) => {
      const chosen = list[rest % list.length];
      rest = Math.floor(rest / list.length);
      return chosen === undefined ? [] : [chosen];
    });
  }
}

/** Returns the types that all schemas permit; undefined if none names a type. */
export function commonTypes(schemas: readonly JsonSchema[]): readonly string[] | undefined {
  let common: readonly string[] | undefined;
  for (const schema of schemas) {
    const types = listTypes(schema);
    if (types === undefined) continue;
    common = common === undefined ? types : intersect(common, types);
  }
  return common;
}

function intersect(one: readonly string[], other: readonly string[]): readonly string[] {
  const narrowed = one.map((type) => (type === 'number' && !other.includes(type) ? 'integer' : type));
  return narrowed.filter((type) => other.includes(type) || (type === 'integer' && other.includes('number')));
}

/** Returns whether a value has one of these types. */
export function isOneOf(value: unknown, types: readonly string[] | undefined): boolean {
  const own = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  return types === undefined || types.includes(own) || (own === 'number' && types.includes('integer'));
}
