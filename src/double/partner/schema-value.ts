// Creates values that schemas allow: the smallest one, with what the document gives as examples, or a full one of drawn values. The
// schemas that apply to a value are merged first; of alternatives, the first one is taken whose value the check accepts. Below the depth
// `fullDepth`, the alternative with the least nesting is tried first, so that recursion ends.
import { DeclarationError } from '../../schema/error.ts';
import type { StepBudget } from '../../schema/pattern/match.ts';
import type { JsonSchema } from '../../service/openapi/document.ts';
import type { SchemaSource } from './document.ts';
import { canonical, isEqual } from './json-values.ts';
import { isObject, type Located, type LocatedSchema } from './located.ts';
import { maxPatternSteps } from './patterns.ts';
import { type Direction, SchemaCheck } from './schema-check.ts';
import { SchemaHeights } from './schema-height.ts';
import {
  listTypes,
  numberOr,
  readBounds,
  schemaIn,
  schemaMapIn,
  schemasIn,
  textsIn,
} from './schema-parts.ts';
import { createText, drawInteger, type Randomness } from './schema-text.ts';

/** How a value is created. */
export interface ValueOptions extends Randomness {
  readonly direction: Direction;
}

/** The alternatives that are tried for one value, at most. */
const maxAttempts = 64;

/** The depth from which on values have only what is required. */
const fullDepth = 4;

/** The members and items of one value that are not required, at most. Each member of an object gets the same share of them. */
const maxOptional = 5000;

/** The steps of one creation, at most. Each schema of a value is one, each of its members, and 8 characters of a text. */
const maxSteps = 50_000;

/** The schemas that apply to one value, at most. */
const maxMerged = 1000;

/** The nesting of values, beyond which a schema requires itself. */
const maxDepth = 32;

/** A schema that no value of this depth fulfils; another alternative may. */
class NoValue extends Error {}

/** A value that takes too many steps to create. */
class Exhausted extends Error {}

/** What the creation of a value and its parts shares. */
interface Shared {
  readonly document: SchemaSource;
  readonly check: SchemaCheck;
  readonly heights: SchemaHeights;
  /** What patterns may still cost. */
  readonly patterns: StepBudget;
  steps: number;
}

/**
 * Creates a value of a schema. The work is bounded.
 * @throws DeclarationError if none is found, with the place of the schema
 */
export function createValue(schema: LocatedSchema, document: SchemaSource, options: ValueOptions): unknown {
  let failure: Error | undefined;
  const check = new SchemaCheck(document, options.direction);
  const heights = new SchemaHeights(document, maxDepth);
  const shared = { document, check, heights, patterns: { steps: maxPatternSteps }, steps: 0 };
  // The smallest values of alternatives are often equal, such as empty lists, so that `oneOf` permits none of them.
  for (const dynamic of options.dynamic ? [true] : [false, true])
    try {
      return new Creation(shared, { ...options, dynamic }).create([schema], 0, maxOptional);
    } catch (error) {
      if (!(error instanceof NoValue || error instanceof Exhausted)) throw error;
      failure ??= error;
      if (error instanceof Exhausted) break;
    }
  throw new DeclarationError(
    'value',
    schema.at,
    `no value of this schema was found: ${failure?.message ?? ''}`,
  );
}

/** The schemas that apply to one value together. `choices` are the lists of which one each applies. */
interface Merged {
  readonly schemas: readonly Located[];
  readonly choices: readonly (readonly LocatedSchema[])[];
}

class Creation {
  readonly #shared: Shared;
  readonly #options: ValueOptions;

  constructor(shared: Shared, options: ValueOptions) {
    this.#shared = shared;
    this.#options = options;
  }

  /** Creates a value to which all these schemas apply, with at most `share` members and items that are not required. */
  create(applied: readonly LocatedSchema[], depth: number, share: number): unknown {
    const at = applied[0]?.at ?? '#';
    if (depth > maxDepth) throw new NoValue(`${at} requires itself`);
    const { schemas, choices } = this.#merge(applied);
    this.#spend(1 + schemas.length);
    const given = this.#options.dynamic ? undefined : this.#findExample(schemas, applied);
    if (given !== undefined) return given.value;
    let failure = new NoValue(`none of the values tried fits ${at}`);
    for (const alternative of alternativesOf(depth < fullDepth ? choices : this.#byHeight(choices)))
      try {
        const value =
          alternative.length === 0
            ? this.#build(schemas, depth, share)
            : this.create([...schemas.map(withoutChoices), ...alternative], depth + 1, share);
        if (this.#isAccepted(applied, value)) return value;
      } catch (error) {
        if (!(error instanceof NoValue)) throw error;
        failure = error;
      }
    throw failure;
  }

  #spend(steps: number): void {
    this.#shared.steps += steps;
    if (this.#shared.steps > maxSteps) throw new Exhausted(`it takes more than ${maxSteps} steps to create`);
  }

  #isAccepted(applied: readonly LocatedSchema[], value: unknown): boolean {
    return applied.every((each) => this.#shared.check.check(each, value).length === 0);
  }

  /** Returns each list of alternatives with those first whose values are nested the least. */
  #byHeight(choices: Merged['choices']): Merged['choices'] {
    return choices.map((branches) => {
      const heights = new Map(branches.map((each) => [each, this.#shared.heights.heightOf(each)]));
      return [...branches].sort((one, other) => {
        const [first = 0, second = 0] = [heights.get(one), heights.get(other)];
        return first === second ? 0 : first - second;
      });
    });
  }

  /** Follows references and `allOf`. */
  #merge(applied: readonly LocatedSchema[]): Merged {
    const schemas: Located[] = [];
    const choices: (readonly LocatedSchema[])[] = [];
    const seen = new Set<JsonSchema>();
    const open = [...applied];
    for (let schema = open.shift(); schema !== undefined; schema = open.shift()) {
      if (schemas.length > maxMerged) throw new NoValue(`${schema.at} refers to itself without an end`);
      if (schema.value === false) throw new NoValue(`${schema.at} permits no value`);
      if (!isObject(schema.value) || seen.has(schema.value)) continue;
      seen.add(schema.value);
      const located = { value: schema.value, at: schema.at };
      if (typeof schema.value['$ref'] === 'string') {
        open.push(this.#shared.document.resolve(schema));
        if (this.#shared.document.version === '3.0') continue;
      }
      schemas.push(located);
      open.push(...schemasIn(located, 'allOf'));
      for (const name of ['oneOf', 'anyOf'] as const) {
        const branches = schemasIn(located, name);
        if (branches.length > 0) choices.push(branches.map((branch) => nameBranch(located, branch)));
      }
      const condition = schemaIn(located, 'if');
      if (condition === undefined) continue;
      const otherwise = schemaIn(located, 'else') ?? { value: true, at: located.at };
      const met = { allOf: [condition.value, schemaIn(located, 'then')?.value ?? true] };
      choices.push([otherwise, { value: met, at: located.at }]);
    }
    return { schemas, choices };
  }

  /** Returns an example, a default or a fixed value of a schema, if the check accepts it. */
  #findExample(
    schemas: readonly Located[],
    applied: readonly LocatedSchema[],
  ): { readonly value: unknown } | undefined {
    for (const { value } of schemas) {
      const { example, examples, default: usual, const: fixed } = value;
      const listed: unknown[] = Array.isArray(examples) ? examples : [];
      for (const each of [example, ...listed, usual, fixed])
        if (each !== undefined && this.#isAccepted(applied, each)) return { value: each };
    }
    return undefined;
  }

  #build(schemas: readonly Located[], depth: number, share: number): unknown {
    const listed = schemas.flatMap(({ value }) => (Array.isArray(value['enum']) ? [value['enum']] : []));
    const fixed = schemas
      .filter(({ value }) => Object.hasOwn(value, 'const'))
      .map(({ value }) => [value['const']]);
    const [values, ...others] = [...fixed, ...listed];
    if (values !== undefined) {
      const types = commonTypes(schemas.map(({ value }) => value));
      const common = values.filter(
        (each) => others.every((list) => list.some((other) => isEqual(other, each))) && isOneOf(each, types),
      );
      if (common.length === 0) throw new NoValue(`${schemas[0]?.at ?? '#'} has no value in enum`);
      return common[this.#options.dynamic ? this.#integer(common.length) : 0];
    }
    switch (
      chooseType(
        schemas.map(({ value }) => value),
        depth >= fullDepth,
      )
    ) {
      case 'object':
        return this.#object(schemas, depth, share);
      case 'array':
        return this.#list(schemas, depth, share);
      case 'string':
        return this.#text(schemas);
      case 'integer':
        return this.#number(schemas, true);
      case 'number':
        return this.#number(schemas, false);
      case 'boolean':
        return this.#options.dynamic && this.#integer(2) === 1;
      default:
        return null;
    }
  }

  #object(schemas: readonly Located[], depth: number, share: number): JsonSchema {
    const documented = propertiesIn(schemas);
    const properties = new Map([...documented].filter(([, property]) => !this.#isOmitted(property)));
    const required = requiredIn(schemas);
    for (const name of documented.keys()) if (!properties.has(name)) required.delete(name);
    this.#spend(properties.size + required.size);
    const isWanted = (property: readonly LocatedSchema[]): boolean =>
      this.#options.dynamic ? depth < fullDepth : this.#hasExample(property, depth);
    const wanted = [...properties].filter(([name, each]) => required.has(name) || isWanted(each));
    const chosen = wanted.length > share ? wanted.filter(([name]) => required.has(name)) : wanted;
    const inner = Math.floor(share / Math.max(1, chosen.length)) - 1;
    const create = (property: readonly LocatedSchema[]): unknown => this.create(property, depth + 1, inner);
    const created = new Map<string, unknown>();
    for (const [name, property] of chosen)
      try {
        created.set(name, create(property));
      } catch (error) {
        if (required.has(name) || !(error instanceof NoValue)) throw error;
      }
    const additional = schemas.flatMap((schema) => schemaIn(schema, 'additionalProperties') ?? []);
    for (const name of required) if (!created.has(name)) created.set(name, create(additional));
    const least = Math.max(0, ...schemas.map(({ value }) => numberOr(value['minProperties'], 0)));
    for (const [name, property] of properties)
      if (created.size < least && !created.has(name)) created.set(name, create(property));
    for (let count = 1; created.size < least; count += 1) created.set(`member${count}`, create(additional));
    return Object.fromEntries(created);
  }

  /** Returns whether a member belongs to the other direction only. */
  #isOmitted(property: readonly LocatedSchema[]): boolean {
    const other = this.#options.direction === 'request' ? 'readOnly' : 'writeOnly';
    return property.some((each) => this.#shared.document.combine(each)[other]);
  }

  /** Returns whether the schema of an optional member has an example, so that the smallest value has it too. */
  #hasExample(property: readonly LocatedSchema[], depth: number): boolean {
    if (depth > fullDepth) return false;
    return this.#merge(property).schemas.some(({ value }) =>
      ['example', 'examples', 'default', 'const'].some((name) => Object.hasOwn(value, name)),
    );
  }

  #list(schemas: readonly Located[], depth: number, share: number): readonly unknown[] {
    const { dynamic } = this.#options;
    const least = Math.max(0, ...schemas.map(({ value }) => numberOr(value['minItems'], 0)));
    const most = Math.min(
      ...schemas.map(({ value }) => numberOr(value['maxItems'], Number.POSITIVE_INFINITY)),
    );
    const contained = schemas.flatMap((schema) => schemaIn(schema, 'contains') ?? []);
    const first = schemas.flatMap((schema) => [schemasIn(schema, 'prefixItems')])[0] ?? [];
    const items = schemas.flatMap((schema) => schemaIn(schema, 'items') ?? []);
    const wanted =
      dynamic && depth < fullDepth && share >= 2
        ? Math.max(least, 1 + this.#integer(2))
        : Math.max(least, contained.length);
    const isUnique = schemas.some(({ value }) => value['uniqueItems'] === true);
    const count = Math.min(wanted, most);
    const inner = Math.floor(share / Math.max(1, count)) - 1;
    const created = new Map<string, unknown>();
    for (let index = 0; index < count; index += 1) {
      const special = first[index];
      const own = [...(special === undefined ? items : [special]), ...contained.slice(index, index + 1)];
      const item = this.create(own, depth + 1, inner);
      const key = isUnique ? canonical(item) : String(index);
      if (created.has(key)) this.#addAnother(own, created, depth, inner);
      else created.set(key, item);
    }
    return [...created.values()];
  }

  /** Adds an item that the list does not have yet. */
  #addAnother(
    own: readonly LocatedSchema[],
    existing: Map<string, unknown>,
    depth: number,
    share: number,
  ): void {
    const drawing = new Creation(this.#shared, { ...this.#options, dynamic: true });
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const item = drawing.create(own, Math.min(depth + 1, fullDepth), share);
      const key = canonical(item);
      if (existing.has(key)) continue;
      existing.set(key, item);
      return;
    }
    throw new NoValue(`${own[0]?.at ?? '#'} has too few values for a list without repetitions`);
  }

  #number(schemas: readonly Located[], isWhole: boolean): number {
    const bounds = schemas.map(({ value }) => readBounds(value));
    const steps = schemas.flatMap(({ value }) =>
      typeof value['multipleOf'] === 'number' ? [value['multipleOf']] : [],
    );
    const step = Math.max(isWhole ? 1 : 0, ...steps);
    const unit = step > 0 ? step : 0.5;
    const lowest = Math.max(...bounds.map(({ least }) => least));
    const above = Math.max(...bounds.map(({ above: bound }) => bound));
    const highest = Math.min(...bounds.map(({ most }) => most));
    const below = Math.min(...bounds.map(({ below: bound }) => bound));
    const start = Math.max(
      lowest,
      above + (Number.isFinite(above) ? Number.EPSILON * Math.max(1, Math.abs(above)) : 0),
    );
    const end = Math.min(highest, below);
    const base = start > 0 ? start : end < 0 ? Math.min(end, 0) : 0;
    const rounded = step > 0 ? (base < 0 ? Math.floor(base / unit) : Math.ceil(base / unit)) * unit : base;
    const fits = (value: number): boolean =>
      value >= lowest && value > above && value <= highest && value < below;
    const drawn = this.#options.dynamic ? rounded + unit * this.#integer(1000) : rounded;
    const candidates = [drawn, rounded, rounded + unit, rounded - unit, (start + end) / 2];
    const found = candidates.find((value) => Number.isFinite(value) && fits(value));
    if (found === undefined) throw new NoValue(`${schemas[0]?.at ?? '#'} has no number within its bounds`);
    return found;
  }

  #text(schemas: readonly Located[]): string {
    const least = Math.max(0, ...schemas.map(({ value }) => numberOr(value['minLength'], 0)));
    const most = Math.min(
      ...schemas.map(({ value }) => numberOr(value['maxLength'], Number.POSITIVE_INFINITY)),
    );
    const textsOf = (name: string): readonly string[] =>
      schemas.map(({ value }) => value[name]).filter((each) => typeof each === 'string');
    const patterns = textsOf('pattern').flatMap(
      (source) => this.#shared.document.patterns.find(source) ?? [],
    );
    this.#spend(least / 8);
    const text = createText(
      { least, most, patterns, formats: textsOf('format') },
      this.#options,
      this.#shared.patterns,
    );
    if (text !== undefined) return text;
    const rules = patterns.map(({ source }) => source).join(' and ');
    throw new NoValue(`no text was found for the pattern ${rules} at ${schemas[0]?.at ?? '#'}`);
  }

  #integer(limit: number): number {
    return drawInteger(limit, this.#options.random);
  }
}

/** Returns the type of a value. If it should end, an object or a list that may be null is null. */
function chooseType(schemas: readonly JsonSchema[], endsEarly: boolean): string {
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
function propertiesIn(schemas: readonly Located[]): ReadonlyMap<string, readonly LocatedSchema[]> {
  const properties = new Map<string, LocatedSchema[]>();
  for (const schema of schemas)
    for (const [name, property] of schemaMapIn(schema, 'properties'))
      properties.set(name, [...(properties.get(name) ?? []), property]);
  return properties;
}

/** Returns the names of the members that objects must have. */
function requiredIn(schemas: readonly Located[]): Set<string> {
  const required = new Set(schemas.flatMap(({ value }) => textsIn(value['required'])));
  for (const { value } of schemas)
    if (isObject(value['dependentRequired']))
      for (const name of [...required])
        for (const each of textsIn(value['dependentRequired'][name])) required.add(each);
  return required;
}

/** Adds the value of the discriminator that selects a branch. */
function nameBranch({ value }: Located, branch: LocatedSchema): LocatedSchema {
  const { discriminator } = value;
  const reference = isObject(branch.value) ? branch.value['$ref'] : undefined;
  if (!isObject(discriminator) || typeof reference !== 'string') return branch;
  const { propertyName, mapping } = discriminator;
  const mapped = Object.entries(isObject(mapping) ? mapping : {});
  const isTarget = (target: unknown): boolean =>
    target === reference || `#/components/schemas/${String(target)}` === reference;
  const name = mapped.find(([, target]) => isTarget(target))?.[0] ?? reference.replace(/^.*\//, '');
  const property = String(propertyName);
  const named = { properties: { [property]: { enum: [name] } }, required: [property] };
  return { value: { allOf: [branch.value, named] }, at: branch.at };
}

/** Returns a schema without what `merge` follows. */
function withoutChoices({ value, at }: Located): LocatedSchema {
  const { oneOf: _, anyOf: __, allOf: ___, $ref: ____, if: _____, ...others } = value;
  return { value: others, at };
}

/** Yields the combinations of one schema of each list, at most `maxAttempts`. */
function* alternativesOf(choices: Merged['choices']): Generator<readonly LocatedSchema[]> {
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
function commonTypes(schemas: readonly JsonSchema[]): readonly string[] | undefined {
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

function isOneOf(value: unknown, types: readonly string[] | undefined): boolean {
  const own = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  return types === undefined || types.includes(own) || (own === 'number' && types.includes('integer'));
}
