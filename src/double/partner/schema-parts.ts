// Reads the keywords of schemas. What is read of a schema is kept, because every value that the schema describes needs it.
import { onceEach } from '../../once.ts';
import type { JsonSchema } from '../../service/openapi/document.ts';
import { formatPlace, isObject, type Located, type LocatedSchema } from './located.ts';

/** Returns a number, or another value if it is none. */
export function numberOr(value: unknown, other: number): number {
  return typeof value === 'number' ? value : other;
}

/** What was read of schemas, by the name of the keyword. */
class Parts<Part> {
  readonly #read = new WeakMap<JsonSchema, { readonly at: string; readonly parts: Map<string, Part> }>();

  get({ value, at }: Located, name: string, read: () => Part): Part {
    let known = this.#read.get(value);
    // An object that a caller passes can have the same schema at several places.
    if (known?.at !== at) {
      known = { at, parts: new Map() };
      this.#read.set(value, known);
    }
    const existing = known.parts.get(name);
    if (existing !== undefined) return existing;
    const part = read();
    known.parts.set(name, part);
    return part;
  }
}

const lists = new Parts<readonly LocatedSchema[]>();
const maps = new Parts<ReadonlyMap<string, LocatedSchema>>();
const noSchemas: readonly LocatedSchema[] = [];
const noMap: ReadonlyMap<string, LocatedSchema> = new Map();

/** Returns the schemas in a member that is a list. */
export function schemasIn(schema: Located, name: string): readonly LocatedSchema[] {
  const list = schema.value[name];
  if (!Array.isArray(list)) return noSchemas;
  return lists.get(schema, name, () =>
    list.flatMap((each, index) => locateSchema(each, formatPlace(schema.at, name, index))),
  );
}

/** Returns the schema in a member. */
export function schemaIn(schema: Located, name: string): LocatedSchema | undefined {
  const source = schema.value[name];
  if (source === undefined) return undefined;
  return lists.get(schema, name, () => locateSchema(source, formatPlace(schema.at, name)))[0];
}

/** Returns the schemas in a member that is a map, by name. */
export function schemaMapIn(schema: Located, name: string): ReadonlyMap<string, LocatedSchema> {
  const map = schema.value[name];
  if (!isObject(map)) return noMap;
  return maps.get(schema, name, () => {
    const entries = Object.entries(map).flatMap(([key, each]) =>
      locateSchema(each, formatPlace(schema.at, name, key)).map((part) => [key, part] as const),
    );
    return new Map(entries);
  });
}

/**
 * Returns the schemas of a member by one schema of its object: those of its name and of the patterns that match it; otherwise that of
 * additional members. `matches` returns undefined for a pattern that is not enforced.
 */
export function schemasOfMember(
  schema: Located,
  name: string,
  matches: (pattern: string) => boolean | undefined,
): readonly LocatedSchema[] {
  const own = schemaMapIn(schema, 'properties').get(name);
  const applied: LocatedSchema[] = own === undefined ? [] : [own];
  let isKnown = own !== undefined;
  for (const [pattern, each] of schemaMapIn(schema, 'patternProperties')) {
    const matched = matches(pattern);
    if (matched === true) applied.push(each);
    if (matched !== false) isKnown = true;
  }
  const additional = isKnown ? undefined : schemaIn(schema, 'additionalProperties');
  return additional === undefined ? applied : [additional];
}

function locateSchema(value: unknown, at: string): LocatedSchema[] {
  return isObject(value) || typeof value === 'boolean' ? [{ value, at }] : [];
}

const selectTexts = onceEach((list: readonly unknown[]) => list.filter((each) => typeof each === 'string'));

/** Returns the texts in a list; none if it is no list. */
export function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? selectTexts(value) : [];
}
