// Reads what a schema says about a value together with the schemas that it refers to and combines, whichever of them applies.

import type { JsonSchema } from '../../service/openapi/document.ts';
import { isObject, type Located, type LocatedSchema, referenceOf } from './located.ts';
import { schemaIn, schemaMapIn, schemasIn, textsIn } from './schema-parts.ts';
import { listTypes } from './schema-types.ts';

// Merges what the schemas that apply to one value say: members and alternatives.

/** The alternatives that are tried for one value, at most. */
const maxAttempts = 64;

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

/** What a schema and those that it refers to and combines say about a value. */
export interface Combined {
  readonly schemas: readonly Located[];
  /** The types that they name; none if all are permitted. */
  readonly types: ReadonlySet<string>;
  readonly properties: ReadonlyMap<string, LocatedSchema>;
  readonly additional: LocatedSchema | undefined;
  readonly items: LocatedSchema | undefined;
  /** Whether a member with this schema is left out of requests. */
  readonly readOnly: boolean;
  /** Whether a member with this schema is left out of responses. */
  readonly writeOnly: boolean;
}

/** Returns what a schema says. It is read once. */
export type Combine = (schema: LocatedSchema | undefined) => Combined;

const nothing = readCombined([]);

/** Creates the function that reads the schemas of a document. `resolve` follows references. */
export function createCombine(resolve: (schema: LocatedSchema) => LocatedSchema): Combine {
  const read = new WeakMap<JsonSchema, Combined>();
  return (schema) => {
    if (schema === undefined || !isObject(schema.value)) return nothing;
    const known = read.get(schema.value) ?? readCombined(listCombined(schema, resolve));
    read.set(schema.value, known);
    return known;
  };
}

function listCombined(
  schema: LocatedSchema,
  resolve: (schema: LocatedSchema) => LocatedSchema,
): readonly Located[] {
  const found = new Map<JsonSchema, Located>();
  const open = [schema];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, at } = next;
    if (!isObject(value) || found.has(value)) continue;
    const located = { value, at };
    found.set(value, located);
    if (referenceOf(value) !== undefined) open.push(resolve(located));
    for (const name of ['allOf', 'anyOf', 'oneOf']) open.push(...schemasIn(located, name));
  }
  return [...found.values()];
}

function readCombined(schemas: readonly Located[]): Combined {
  const first = (name: string): LocatedSchema | undefined =>
    schemas.map((each) => schemaIn(each, name)).find((each) => each !== undefined);
  const isMarked = (name: string): boolean => schemas.some(({ value }) => value[name] === true);
  return {
    schemas,
    types: new Set(schemas.flatMap(({ value }) => listTypes(value) ?? [])),
    properties: combineProperties(schemas),
    additional: first('additionalProperties'),
    items: first('items'),
    readOnly: isMarked('readOnly'),
    writeOnly: isMarked('writeOnly'),
  };
}

/** Returns the schemas of members by name. All that are given for one name apply. */
export function combineProperties(schemas: readonly Located[]): ReadonlyMap<string, LocatedSchema> {
  const properties = new Map<string, LocatedSchema>();
  for (const schema of schemas)
    for (const [name, property] of schemaMapIn(schema, 'properties')) {
      const earlier = properties.get(name);
      const both = earlier && { value: { allOf: [earlier.value, property.value] }, at: earlier.at };
      properties.set(name, both ?? property);
    }
  return properties;
}

/** Whether schemas have examples at most so many levels below, by the number of levels. */
const examples = new WeakMap<Combined, (boolean | undefined)[]>();

/** Returns whether a schema, or one of a member or an item at most `depth` levels below, has an example, a default or a fixed value. */
export function hasExample(
  document: { readonly combine: Combine },
  schema: LocatedSchema,
  depth: number,
): boolean {
  if (depth < 0) return false;
  const combined = document.combine(schema);
  const found = examples.get(combined) ?? [];
  examples.set(combined, found);
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
