// Follows discriminators (OpenAPI 3.1.1, Discriminator Object): those of alternatives, and those of a schema that others extend by `allOf`.
import type { JsonSchema } from '../../service/openapi/document.ts';
import type { Combine } from './combined-schemas.ts';
import { formatPlace, isObject, type Located, type LocatedSchema, referenceOf } from './located.ts';
import type { Resolve } from './references.ts';
import { schemasIn } from './schema-parts.ts';

/** The schemas that extend another one, by the values of its discriminator. */
export type Heirs = ReadonlyMap<string, Located>;

/** Returns the schemas that extend a schema with a discriminator; none for other schemas. */
export type FindHeirs = (schema: Located) => Heirs;

const noHeirs: Heirs = new Map();
const schemasPlace = '#/components/schemas';

/** Creates the function that finds heirs among the schemas of a document. They are looked for once, if a schema can have some. */
export function createFindHeirs(schemas: unknown, resolve: Resolve): FindHeirs {
  const found = new WeakMap<JsonSchema, Heirs>();
  let parents: ReadonlyMap<string, readonly string[]> | undefined;
  return (schema) => {
    const { discriminator, oneOf, anyOf } = schema.value;
    if (!isObject(discriminator) || oneOf !== undefined || anyOf !== undefined) return noHeirs;
    parents ??= listParents(schemas, resolve);
    const known = found.get(schema.value) ?? readHeirs(schema, discriminator, parents, resolve);
    found.set(schema.value, known);
    return known;
  };
}

/** Returns the places of the schemas that each schema extends directly, by its place. */
function listParents(schemas: unknown, resolve: Resolve): ReadonlyMap<string, readonly string[]> {
  return new Map(
    Object.entries(isObject(schemas) ? schemas : {}).map(([name, value]) => {
      const at = formatPlace(schemasPlace, name);
      const parts = isObject(value) ? schemasIn({ value, at }, 'allOf') : [];
      return [at, parts.flatMap((part) => (referenceOf(part.value) === undefined ? [] : [resolve(part).at]))];
    }),
  );
}

function readHeirs(
  schema: Located,
  { mapping }: JsonSchema,
  parents: ReadonlyMap<string, readonly string[]>,
  resolve: Resolve,
): Heirs {
  const heirs = new Map<string, Located>();
  const add = (name: string, reference: string): void => {
    const { value, at } = resolve({ value: { $ref: reference }, at: schema.at });
    if (isObject(value) && !heirs.has(name)) heirs.set(name, { value, at });
  };
  for (const [name, target] of Object.entries(isObject(mapping) ? mapping : {}))
    add(name, toReference(String(target), parents));
  for (const at of parents.keys()) if (extendsSchema(at, schema.at, parents)) add(decodeName(at), at);
  if (heirs.size > 0 && schema.at.startsWith(`${schemasPlace}/`)) add(decodeName(schema.at), schema.at);
  return heirs;
}

function extendsSchema(at: string, parent: string, parents: ReadonlyMap<string, readonly string[]>): boolean {
  const open = [at];
  const seen = new Set(open);
  for (let next = open.pop(); next !== undefined; next = open.pop())
    for (const each of parents.get(next) ?? []) {
      if (each === parent) return true;
      if (seen.has(each)) continue;
      seen.add(each);
      open.push(each);
    }
  return false;
}

function decodeName(at: string): string {
  return at
    .slice(at.lastIndexOf('/') + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');
}

/** Returns the reference for a value of `mapping`, which can be the name of a schema. */
function toReference(target: string, parents: ReadonlyMap<string, unknown>): string {
  const named = formatPlace(schemasPlace, target);
  return parents.has(named) ? named : target;
}

/** Adds the value of the discriminator that selects a branch, unless the branch permits only others. */
export function nameBranch({ value }: Located, branch: LocatedSchema, combine: Combine): LocatedSchema {
  const { discriminator } = value;
  const reference = referenceOf(branch.value);
  if (!isObject(discriminator) || reference === undefined) return branch;
  const { propertyName, mapping } = discriminator;
  const mapped = Object.entries(isObject(mapping) ? mapping : {});
  const isTarget = (target: unknown): boolean =>
    target === reference || `${schemasPlace}/${String(target)}` === reference;
  const names = mapped.filter(([, target]) => isTarget(target)).map(([name]) => name);
  if (names.length === 0) names.push(reference.replace(/^.*\//, ''));
  return withName(branch, String(propertyName), names, combine);
}

/** What a schema with a discriminator and the schemas that extend it say about a value. */
interface NamedHeirs {
  /** The heirs of which one applies, each with its name. Empty if one applies already. */
  readonly choices: readonly LocatedSchema[];
  /** The name of the heir that applies already. */
  readonly own: readonly Located[];
}

/** Returns the heirs of a schema with their names in its discriminator. `applied` are the schemas that apply together with it. */
export function nameHeirs(
  schema: Located,
  applied: readonly Located[],
  { findHeirs, combine }: { readonly findHeirs: FindHeirs; readonly combine: Combine },
): NamedHeirs {
  const { discriminator } = schema.value;
  const heirs = [...findHeirs(schema)].filter(([, { value }]) => value !== schema.value);
  const property = isObject(discriminator) ? String(discriminator['propertyName']) : '';
  const namesOf = (heir: Located): readonly string[] =>
    heirs.filter(([, { value }]) => value === heir.value).map(([name]) => name);
  const isHeir = (each: Located): boolean => namesOf(each).length > 0;
  const own = applied.find(isHeir);
  if (own !== undefined) return { choices: [], own: createName(own, property, namesOf(own), combine) };
  const distinct = new Map(heirs.map(([, heir]) => [heir.value, heir]));
  const choices = Array.from(distinct.values(), (heir) => withName(heir, property, namesOf(heir), combine));
  return { choices, own: [] };
}

/** Returns a schema with the values of a discriminator, as far as the schema permits them. */
function withName(
  schema: LocatedSchema,
  property: string,
  names: readonly string[],
  combine: Combine,
): LocatedSchema {
  const [named] = createName(schema, property, names, combine);
  return named === undefined ? schema : { value: { allOf: [schema.value, named.value] }, at: schema.at };
}

/** Returns the schema of the values of a discriminator that a schema permits. */
function createName(
  schema: LocatedSchema,
  property: string,
  names: readonly string[],
  combine: Combine,
): readonly Located[] {
  const own = combine(combine(schema).properties.get(property));
  const permitted = names.filter((name) => own.schemas.every((each) => permits(each, name)));
  // The name of a schema selects it, but the schema may be selected by none (OpenAPI 3.1.1, Discriminator Object). Some documents name
  // a member that is no text.
  if (permitted.length === 0 || (own.types.size > 0 && !own.types.has('string'))) return [];
  return [
    { value: { properties: { [property]: { enum: permitted } }, required: [property] }, at: schema.at },
  ];
}

function permits({ value }: Located, name: string): boolean {
  const { enum: values, const: fixed = name } = value;
  return fixed === name && (!Array.isArray(values) || values.includes(name));
}

/** Returns the schema that a discriminator selects for a value; undefined if there is no discriminator, or it selects none. */
export function discriminated(schema: Located, value: unknown): LocatedSchema | undefined {
  const name = readDiscriminator(schema, value);
  if (name === undefined) return undefined;
  const { discriminator } = schema.value;
  const { mapping = {} } = isObject(discriminator) ? discriminator : {};
  const mapped = isObject(mapping) && Object.hasOwn(mapping, name) ? String(mapping[name]) : name;
  const reference = mapped.startsWith('#') ? mapped : `${schemasPlace}/${mapped}`;
  const branches = [...schemasIn(schema, 'oneOf'), ...schemasIn(schema, 'anyOf')];
  return branches.find((branch) => referenceOf(branch.value) === reference);
}

/** Returns the value of the discriminator of a schema; undefined if there is none, or it is no text. */
export function readDiscriminator({ value: { discriminator } }: Located, value: unknown): string | undefined {
  if (!isObject(discriminator) || !isObject(value)) return undefined;
  const { propertyName } = discriminator;
  const name = typeof propertyName === 'string' ? value[propertyName] : undefined;
  return typeof name === 'string' ? name : undefined;
}
