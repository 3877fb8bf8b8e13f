// Computes how deep the smallest values of schemas are nested, so that the creation of a recursive value ends.
import type { JsonSchema } from '../../service/openapi/document.ts';
import type { PartnerDocument } from './document.ts';
import { type Located, type LocatedSchema, referenceOf } from './located.ts';
import { numberOr, schemaIn, schemaMapIn, schemasIn, textsIn } from './schema-parts.ts';
import { listTypes } from './schema-types.ts';

/** The references and combinations that are followed for one value, at most. */
const maxFollowed = 200;

/** Returns the least nesting of a value: 0 for a text or an empty object. Infinity if there is none. */
export type HeightOf = (schema: LocatedSchema) => number;

/**
 * Creates the function that computes heights.
 * @param most the height from which on none is looked for
 */
export function createHeightOf(
  { version, resolve }: Pick<PartnerDocument, 'version' | 'resolve'>,
  most: number,
): HeightOf {
  /** Whether a schema has a value of a height, by the height. */
  const found = new Map<JsonSchema, (boolean | undefined)[]>();

  const has = ({ value, at }: LocatedSchema, height: number, followed: number): boolean => {
    if (typeof value === 'boolean') return value;
    if (height < 0 || followed > maxFollowed) return false;
    const known = found.get(value) ?? [];
    found.set(value, known);
    const existing = known[height];
    if (existing !== undefined) return existing;
    // A schema that requires itself of the same value has none.
    known[height] = false;
    const computed = compute({ value, at }, height, followed);
    known[height] = computed;
    return computed;
  };
  const compute = (schema: Located, height: number, followed: number): boolean => {
    const hasToo = (each: LocatedSchema): boolean => has(each, height, followed + 1);
    if (referenceOf(schema.value) !== undefined) {
      if (!hasToo(resolve(schema))) return false;
      if (version === '3.0') return true;
    }
    const choices = [schemasIn(schema, 'oneOf'), schemasIn(schema, 'anyOf')];
    return (
      schemasIn(schema, 'allOf').every(hasToo) &&
      choices.every((branches) => branches.length === 0 || branches.some(hasToo)) &&
      listInner(schema).every((inner) => has(inner, height - 1, 0))
    );
  };
  return (schema) => {
    for (let height = 0; height <= most; height += 1) if (has(schema, height, 0)) return height;
    return Number.POSITIVE_INFINITY;
  };
}

/** Returns the schemas of the members and items that every value has. */
function listInner(schema: Located): readonly LocatedSchema[] {
  const { value } = schema;
  const types = listTypes(value);
  const isPlain = types?.some((type) => type !== 'object' && type !== 'array') === true;
  if (isPlain || Object.hasOwn(value, 'const') || Array.isArray(value['enum'])) return [];
  const properties = schemaMapIn(schema, 'properties');
  const members = textsIn(value['required']).flatMap((name) => properties.get(name) ?? []);
  const items = numberOr(value['minItems'], 0) > 0 ? schemaIn(schema, 'items') : undefined;
  if (types?.includes('array') === true && types.length === 1) return items === undefined ? [] : [items];
  return members;
}
