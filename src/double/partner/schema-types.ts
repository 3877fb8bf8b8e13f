// The types of JSON Schema: those that schemas permit, and the type of a value that is created.
import type { JsonSchema } from '../../service/openapi/document.ts';
import { describeKind } from '../../shape/fault.ts';
import { isObject, type Located, type LocatedSchema } from './located.ts';
import type { Found } from './violations.ts';

/** Returns the types that a schema permits; undefined for all. In 3.0, `nullable` adds null. */
export function listTypes({ type, nullable }: JsonSchema): readonly string[] | undefined {
  if (type === undefined) return undefined;
  const types = Array.isArray(type) ? type.map(String) : [String(type)];
  return nullable === true ? [...types, 'null'] : types;
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

/** Returns whether a value has a type of JSON Schema. */
export function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value);
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    default:
      return typeof value === type;
  }
}

/** Checks the type. Returns whether it is permitted. */
export function checkType(found: Found, value: unknown): boolean {
  const types = listTypes(found.schema.value);
  if (types === undefined || types.some((type) => isOfType(value, type))) return true;
  found.add('type', `must be ${types.join(' or ')}, is ${describeKind(value)}`);
  return false;
}

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

/** The types that are tried for a schema that names none, and excludes some values. */
const anyTypes = ['object', 'string', 'integer', 'array', 'boolean', 'null'];

/** Returns the types to choose from if `not` excludes values and no schema names a type; otherwise none. */
export function listOpenTypes(schemas: readonly Located[]): readonly LocatedSchema[] {
  const values = schemas.map(({ value }) => value);
  if (!values.some((value) => value['not'] !== undefined) || commonTypes(values) !== undefined) return [];
  const types = new Set([chooseType(values, false), ...anyTypes]);
  return Array.from(types, (type) => ({ value: { type }, at: schemas[0]?.at ?? '#' }));
}

/** Returns a value of one of these types, where there is no better one. */
export function emptyValue(types: ReadonlySet<string>): unknown {
  const empty: Readonly<Record<string, unknown>> = {
    object: {},
    array: [],
    string: '',
    integer: 0,
    number: 0,
    boolean: false,
  };
  const [type = 'null'] = types;
  return empty[type] ?? null;
}
