// Reads what a schema says about a value together with the schemas that it refers to and combines, whichever of them applies.
import type { JsonSchema } from '../../service/openapi/document.ts';
import { isObject, type Located, type LocatedSchema, referenceOf } from './located.ts';
import { schemaIn, schemaMapIn, schemasIn } from './schema-parts.ts';
import { listTypes } from './schema-types.ts';

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
