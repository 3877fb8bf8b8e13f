// Finds the members and items to which no schema for their place applies: those of `unevaluatedProperties` and `unevaluatedItems` (JSON
// Schema 2020-12, Core, 11).
import type { JsonSchema } from '../../service/openapi/document.ts';
import { isObject, type Located, type LocatedSchema, referenceOf } from './located.ts';
import { schemaIn, schemaMapIn, schemasIn } from './schema-parts.ts';

/** What decides which schemas apply to a value. */
interface Applying {
  resolve(schema: Located): LocatedSchema;
  /** Returns whether a schema accepts a value. */
  accepts(schema: LocatedSchema, value: unknown): boolean;
  /** Returns whether a name matches a pattern; undefined if the pattern is not enforced. */
  matches(pattern: string, name: string): boolean | undefined;
}

/** Returns the names of members to which no schema for a member applies. */
export function listUnevaluatedNames(
  schema: Located,
  value: JsonSchema,
  applying: Applying,
): readonly string[] {
  let names = Object.keys(value);
  for (const each of listApplied(schema, value, applying)) {
    if (each.value['additionalProperties'] !== undefined) return [];
    if (each.value !== schema.value && each.value['unevaluatedProperties'] !== undefined) return [];
    const properties = schemaMapIn(each, 'properties');
    const patterns = [...schemaMapIn(each, 'patternProperties').keys()];
    names = names.filter(
      (name) =>
        !properties.has(name) && patterns.every((pattern) => applying.matches(pattern, name) === false),
    );
  }
  return names;
}

/** Returns the indexes of items to which no schema for an item applies. */
export function listUnevaluatedItems(
  schema: Located,
  value: readonly unknown[],
  applying: Applying,
): readonly number[] {
  let indexes = [...value.keys()];
  for (const each of listApplied(schema, value, applying)) {
    if (each.value['items'] !== undefined) return [];
    if (each.value !== schema.value && each.value['unevaluatedItems'] !== undefined) return [];
    const first = schemasIn(each, 'prefixItems').length;
    const contained = schemaIn(each, 'contains');
    indexes = indexes.filter(
      (index) => index >= first && (contained === undefined || !applying.accepts(contained, value[index])),
    );
  }
  return indexes;
}

/** Returns a schema and those that it applies to the same value, as far as they accept it. */
function listApplied(schema: Located, value: unknown, applying: Applying): readonly Located[] {
  const found = new Map<JsonSchema, Located>();
  const open: LocatedSchema[] = [schema];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (!isObject(next.value) || found.has(next.value)) continue;
    const each = { value: next.value, at: next.at };
    found.set(each.value, each);
    open.push(...listNext(each, value, applying));
  }
  return [...found.values()];
}

function listNext(schema: Located, value: unknown, { resolve, accepts }: Applying): readonly LocatedSchema[] {
  const choices = [...schemasIn(schema, 'anyOf'), ...schemasIn(schema, 'oneOf')];
  const dependents = isObject(value)
    ? Array.from(schemaMapIn(schema, 'dependentSchemas')).filter(([name]) => Object.hasOwn(value, name))
    : [];
  return [
    ...(referenceOf(schema.value) === undefined ? [] : [resolve(schema)]),
    ...schemasIn(schema, 'allOf'),
    ...choices.filter((each) => accepts(each, value)),
    ...dependents.map(([, each]) => each),
    ...listConditional(schema, value, accepts),
  ];
}

function listConditional(
  schema: Located,
  value: unknown,
  accepts: Applying['accepts'],
): readonly LocatedSchema[] {
  const condition = schemaIn(schema, 'if');
  if (condition === undefined) return [];
  const isMet = accepts(condition, value);
  const consequence = schemaIn(schema, isMet ? 'then' : 'else');
  return [...(isMet ? [condition] : []), ...(consequence === undefined ? [] : [consequence])];
}
