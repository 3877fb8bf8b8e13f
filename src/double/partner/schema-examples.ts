// Finds the schemas whose values have an example or a default, so that they are worth sending although they are not required.
import type { Combined } from './combined-schemas.ts';
import type { SchemaSource } from './document.ts';
import type { LocatedSchema } from './located.ts';

const known = new WeakMap<Combined, (boolean | undefined)[]>();

/** Returns whether a schema, or one of a member or an item at most `depth` levels below, has an example, a default or a fixed value. */
export function hasExample(document: SchemaSource, schema: LocatedSchema, depth: number): boolean {
  if (depth < 0) return false;
  const combined = document.combine(schema);
  const found = known.get(combined) ?? [];
  known.set(combined, found);
  const existing = found[depth];
  if (existing !== undefined) return existing;
  found[depth] = false;
  const { schemas, properties, items } = combined;
  const inner = items === undefined ? [...properties.values()] : [...properties.values(), items];
  const has =
    schemas.some(({ value }) => exampleNames.some((name) => Object.hasOwn(value, name))) ||
    inner.some((each) => hasExample(document, each, depth - 1));
  found[depth] = has;
  return has;
}

const exampleNames = ['example', 'examples', 'default', 'const'];
