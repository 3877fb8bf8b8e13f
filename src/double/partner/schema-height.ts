// Computes how deep the smallest values of schemas are nested, so that the creation of a recursive value ends.
import type { JsonSchema } from '../../service/openapi/document.ts';
import type { PartnerDocument } from './document.ts';
import { type Located, type LocatedSchema, referenceOf } from './located.ts';
import { numberOr, schemaIn, schemaMapIn, schemasIn, textsIn } from './schema-parts.ts';
import { listTypes } from './schema-types.ts';

/** The references and combinations that are followed for one value, at most. */
const maxFollowed = 200;

/** Computes heights. */
export class SchemaHeights {
  readonly #document: Pick<PartnerDocument, 'version' | 'resolve'>;
  readonly #most: number;
  /** Whether a schema has a value of a height, by the height. */
  readonly #known = new Map<JsonSchema, (boolean | undefined)[]>();

  /** @param most the height from which on none is looked for */
  constructor(document: Pick<PartnerDocument, 'version' | 'resolve'>, most: number) {
    this.#document = document;
    this.#most = most;
  }

  /** Returns the least nesting of a value: 0 for a text or an empty object. Infinity if there is none. */
  heightOf(schema: LocatedSchema): number {
    for (let height = 0; height <= this.#most; height += 1) if (this.#has(schema, height, 0)) return height;
    return Number.POSITIVE_INFINITY;
  }

  #has({ value, at }: LocatedSchema, height: number, followed: number): boolean {
    if (typeof value === 'boolean') return value;
    if (height < 0 || followed > maxFollowed) return false;
    const known = this.#known.get(value) ?? [];
    this.#known.set(value, known);
    const existing = known[height];
    if (existing !== undefined) return existing;
    // A schema that requires itself of the same value has none.
    known[height] = false;
    const found = this.#compute({ value, at }, height, followed);
    known[height] = found;
    return found;
  }

  #compute(schema: Located, height: number, followed: number): boolean {
    const has = (each: LocatedSchema): boolean => this.#has(each, height, followed + 1);
    if (referenceOf(schema.value) !== undefined) {
      if (!has(this.#document.resolve(schema))) return false;
      if (this.#document.version === '3.0') return true;
    }
    const choices = [schemasIn(schema, 'oneOf'), schemasIn(schema, 'anyOf')];
    return (
      schemasIn(schema, 'allOf').every(has) &&
      choices.every((branches) => branches.length === 0 || branches.some(has)) &&
      listInner(schema).every((inner) => this.#has(inner, height - 1, 0))
    );
  }
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
