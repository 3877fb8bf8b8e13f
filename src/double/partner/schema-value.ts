// Creates values that schemas allow: the smallest one, with what the document gives as examples, or a full one of drawn values. The
// schemas that apply to a value are merged first; of alternatives, the first one is taken whose value the check accepts. Below the depth
// `fullDepth`, the alternative with the least nesting is tried first, so that recursion ends.
import type { StepBudget } from '../../collections/fields/pattern/match.ts';
import type { JsonSchema } from '../../service/openapi/document.ts';
import {
  alternativesOf,
  combineProperties,
  hasExample,
  requiredIn,
  withoutChoices,
} from './combined-schemas.ts';
import { nameBranch, nameHeirs } from './discriminators.ts';
import type { SchemaSource } from './document.ts';
import { canonical, isEqual } from './json-values.ts';
import { isObject, type Located, type LocatedSchema, referenceOf } from './located.ts';
import { maxPatternSteps } from './patterns.ts';
import { type Direction, SchemaCheck } from './schema-check.ts';
import { createHeightOf, type HeightOf } from './schema-height.ts';
import { createNumber } from './schema-number.ts';
import { numberOr, schemaIn, schemaMapIn, schemasIn, schemasOfMember } from './schema-parts.ts';
import { createText, drawInteger, type Randomness } from './schema-text.ts';
import { chooseType, commonTypes, emptyValue, isOfType, listOpenTypes } from './schema-types.ts';
import { describe } from './violations.ts';

/** How a value is created. */
export interface ValueOptions extends Randomness {
  readonly direction: Direction;
  /** Documented values that the schema does not permit. The first one is returned where none is found that it permits. */
  readonly examples?: readonly unknown[];
  /** Returns whether a member is created that is not required, and a list of this name with an item. Default: none. */
  readonly asks?: (name: string) => boolean;
}

/** A value of a schema. */
export interface CreatedValue {
  readonly value: unknown;
  /** Why it is only near to what the schema permits, with the rule that it violates; undefined if it is permitted. */
  readonly fault: string | undefined;
}

/** The items or names that are drawn until one is new, at most. */
const maxDraws = 64;

/** The depth from which on values have only what is required. */
const fullDepth = 4;

/** The members and items of one value that are not required, at most. Each member of an object gets the same share of them. */
const maxOptional = { all: 5000, shown: 1000, required: 0 };

/** The steps of one creation, at most. Each schema of a value is one, each of its members, and 8 characters of a text. */
const maxSteps = 50_000;

/** The schemas that apply to one value, at most. */
const maxMerged = 1000;

/** The nesting of values, beyond which a schema requires itself. */
const maxDepth = 32;

/** A schema that no value of this depth fulfils; another alternative may. */
class NoValue extends Error {}

/** Returns what is created, or why there is no value. */
function attempt(create: () => unknown): unknown {
  try {
    return create();
  } catch (error) {
    if (error instanceof NoValue) return error;
    throw error;
  }
}

/** A value that takes too many steps to create. */
class Exhausted extends Error {}

/** What the creation of a value and its parts shares. */
interface Shared {
  readonly document: SchemaSource;
  readonly check: SchemaCheck;
  /** Permits what validators permit that do not know discriminators, too. */
  readonly plainCheck: SchemaCheck;
  readonly heightOf: HeightOf;
  /** What patterns may still cost. */
  readonly patterns: StepBudget;
  steps: number;
}

/** How a value is tried to create. */
interface Manner extends ValueOptions {
  /** The members that are not required: all, those with an example or a default, or none. */
  readonly members: keyof typeof maxOptional;
  /** Whether a value is created where the schema permits none of those tried. */
  readonly lenient: boolean;
}

/**
 * Creates a value of a schema; if none is found, a documented one or else the nearest one. The work is bounded.
 * @throws DeclarationError if a reference leads nowhere
 */
export function createValue(
  schema: LocatedSchema,
  document: SchemaSource,
  options: ValueOptions,
): CreatedValue {
  const create = (manner: Omit<Manner, keyof ValueOptions>, dynamic: boolean): unknown => {
    const check = new SchemaCheck(document, options.direction);
    const plainCheck = new SchemaCheck(document, options.direction, { countsBranches: true });
    const heightOf = createHeightOf(document, maxDepth);
    const shared = { document, check, plainCheck, heightOf, patterns: { steps: maxPatternSteps }, steps: 0 };
    return new Creation(shared, { ...options, ...manner, dynamic }).create(
      [schema],
      0,
      maxOptional[manner.members],
    );
  };
  const { dynamic } = options;
  // The smallest values of alternatives are often equal, such as empty lists, so that `oneOf` permits none of them.
  const manners = [
    [dynamic ? 'all' : 'shown', dynamic],
    ['required', dynamic],
    ['all', true],
  ] as const;
  let failure: Error | undefined;
  for (const [members, isDrawn] of manners)
    try {
      return { value: create({ members, lenient: false }, isDrawn), fault: undefined };
    } catch (error) {
      if (!(error instanceof NoValue || error instanceof Exhausted)) throw error;
      failure ??= error;
    }
  const { examples: [example] = [] } = options;
  const value = example ?? create({ members: dynamic ? 'all' : 'shown', lenient: true }, dynamic);
  const [violation] = new SchemaCheck(document, options.direction).check(schema, value);
  const reason = `${schema.at}: no value of this schema was found: ${failure?.message ?? ''}`;
  const sent = example === undefined ? 'nearest one' : 'documented example';
  const rule = violation === undefined ? '.' : `; the ${sent} is sent: ${describe(violation)}`;
  return { value, fault: reason + rule };
}

/** The schemas that apply to one value together. `choices` are the lists of which one each applies. */
interface Merged {
  readonly schemas: readonly Located[];
  readonly choices: readonly (readonly LocatedSchema[])[];
}

class Creation {
  readonly #shared: Shared;
  readonly #options: Manner;

  constructor(shared: Shared, options: Manner) {
    this.#shared = shared;
    this.#options = options;
  }

  /** Creates a value to which all these schemas apply, with at most `share` members and items that are not required. */
  create(applied: readonly LocatedSchema[], depth: number, share: number): unknown {
    if (!this.#options.lenient) return this.#create(applied, depth, share);
    try {
      return this.#create(applied, depth, share);
    } catch (error) {
      if (!(error instanceof NoValue || error instanceof Exhausted)) throw error;
      const { schemas, types } = this.#shared.document.combine(applied[0]);
      const [example] = schemas.flatMap(({ value }) => listExamples(value));
      return example ?? emptyValue(types);
    }
  }

  #create(applied: readonly LocatedSchema[], depth: number, share: number): unknown {
    const at = applied[0]?.at ?? '#';
    if (depth > (this.#options.lenient ? fullDepth : maxDepth)) throw new NoValue(`${at} requires itself`);
    const { schemas, choices } = this.#merge(applied);
    this.#spend(1 + schemas.length);
    const given = this.#options.dynamic ? undefined : this.#findExample(schemas, applied);
    if (given !== undefined) return given.value;
    let failure: NoValue | undefined;
    let nearest: { readonly value: unknown } | undefined;
    let permitted: { readonly value: unknown } | undefined;
    for (const alternative of alternativesOf(depth < fullDepth ? choices : this.#byHeight(choices))) {
      const value = attempt(() =>
        alternative.length === 0
          ? this.#build(schemas, depth, share, at)
          : this.create([...schemas.map(withoutChoices), ...alternative], depth + 1, share),
      );
      if (value instanceof NoValue) failure = value;
      else if (!this.#isAccepted(applied, value)) nearest ??= { value };
      else if (this.#isUnambiguous(schemas, value)) return value;
      else permitted ??= { value };
    }
    if (permitted !== undefined) return permitted.value;
    if (this.#options.lenient && nearest !== undefined) return nearest.value;
    throw failure ?? new NoValue(`none of the values tried fits ${at}`);
  }

  #spend(steps: number): void {
    this.#shared.steps += steps;
    if (this.#shared.steps > maxSteps) throw new Exhausted(`it takes more than ${maxSteps} steps to create`);
  }

  #isAccepted(applied: readonly LocatedSchema[], value: unknown): boolean {
    return applied.every((each) => this.#shared.check.check(each, value).length === 0);
  }

  /** Returns whether each `oneOf` with a discriminator also matches a value where the discriminator is not known. */
  #isUnambiguous(schemas: readonly Located[], value: unknown): boolean {
    const { plainCheck } = this.#shared;
    return schemas
      .filter(({ value: { oneOf, discriminator } }) => oneOf !== undefined && discriminator !== undefined)
      .every((each) => plainCheck.check(each, value).length === 0);
  }

  /** Returns each list of alternatives with those first whose values are nested the least. */
  #byHeight(choices: Merged['choices']): Merged['choices'] {
    return choices.map((branches) => {
      const heights = new Map(branches.map((each) => [each, this.#shared.heightOf(each)]));
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
      if (referenceOf(schema.value) !== undefined) {
        open.push(this.#shared.document.resolve(schema));
        if (this.#shared.document.version === '3.0') continue;
      }
      schemas.push(located);
      open.push(...schemasIn(located, 'allOf'));
      for (const name of ['oneOf', 'anyOf'] as const) {
        const branches = schemasIn(located, name);
        if (branches.length > 0)
          choices.push(branches.map((branch) => nameBranch(located, branch, this.#shared.document.combine)));
      }
      const condition = schemaIn(located, 'if');
      if (condition === undefined) continue;
      const otherwise = schemaIn(located, 'else') ?? { value: true, at: located.at };
      const met = { allOf: [condition.value, schemaIn(located, 'then')?.value ?? true] };
      choices.push([otherwise, { value: met, at: located.at }]);
    }
    for (const schema of [...schemas]) {
      const heirs = nameHeirs(schema, schemas, this.#shared.document);
      if (heirs.choices.length > 0) choices.push(heirs.choices);
      schemas.push(...heirs.own);
    }
    const types = listOpenTypes(schemas);
    return { schemas, choices: types.length === 0 ? choices : [...choices, types] };
  }

  /** Returns an example, a default or a fixed value of a schema, if the check accepts it. */
  #findExample(
    schemas: readonly Located[],
    applied: readonly LocatedSchema[],
  ): { readonly value: unknown } | undefined {
    for (const { value } of schemas) {
      const found = listExamples(value).find((each) => this.#isAccepted(applied, each));
      if (found !== undefined) return { value: found };
    }
    return undefined;
  }

  #build(schemas: readonly Located[], depth: number, share: number, at: string): unknown {
    const listed = schemas.flatMap(({ value }) => (Array.isArray(value['enum']) ? [value['enum']] : []));
    const fixed = schemas
      .filter(({ value }) => Object.hasOwn(value, 'const'))
      .map(({ value }) => [value['const']]);
    const [values, ...others] = [...fixed, ...listed];
    if (values !== undefined) {
      const types = commonTypes(schemas.map(({ value }) => value));
      const isPermitted = (each: unknown): boolean =>
        others.every((list) => list.some((other) => isEqual(other, each))) &&
        (types === undefined || types.some((type) => isOfType(each, type)));
      const common = values.filter(isPermitted);
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
        return this.#text(schemas, at);
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
    const documented = combineProperties(schemas);
    const properties = new Map([...documented].filter(([, property]) => !this.#isOmitted(property)));
    const required = requiredIn(schemas);
    for (const name of documented.keys()) if (!properties.has(name)) required.delete(name);
    this.#spend(properties.size + required.size);
    const bounds = boundsIn(schemas, 'minProperties', 'maxProperties');
    const most = Math.min(share + required.size, bounds.most);
    const wanted = [...properties]
      .filter(([name, property]) => !required.has(name) && this.#isChosen(name, property, depth))
      .map(([name]) => name);
    const optional = wanted.length > share ? [] : wanted.slice(0, Math.max(0, most - required.size));
    const count = required.size + optional.length;
    const inner = Math.floor(share / Math.max(1, count)) - 1;
    const created = new Map<string, unknown>();
    const add = (name: string): void => {
      this.#spend(1);
      created.set(name, this.#member(name, this.#schemasOfMember(schemas, name), depth + 1, inner));
    };
    for (const name of properties.keys())
      if (required.has(name)) add(name);
      else if (optional.includes(name)) attempt(() => add(name));
    for (const name of required) if (!created.has(name)) add(name);
    for (const name of properties.keys()) if (created.size < bounds.least && !created.has(name)) add(name);
    const taken = new Map([...created.keys()].map((name) => [canonical(name), name]));
    const addNamed = (): void => add(this.#createName(schemas, taken));
    while (created.size < bounds.least) addNamed();
    const isMap =
      documented.size === 0 &&
      schemas.some(
        ({ value }) => isObject(value['additionalProperties']) || isObject(value['patternProperties']),
      );
    if (isMap && created.size === 0 && most > 0 && this.#options.members === 'all' && depth < fullDepth)
      attempt(addNamed);
    return Object.fromEntries(created);
  }

  /** Creates a member; a list that is asked for has an item, if it can have one. */
  #member(name: string, own: readonly LocatedSchema[], depth: number, share: number): unknown {
    const list = own.find((each) => this.#shared.document.combine(each).items !== undefined);
    if (list === undefined || !this.#isAskedFor(name, depth)) return this.create(own, depth, share);
    const filled = attempt(() =>
      this.create([...own, { value: { minItems: 1 }, at: list.at }], depth, share),
    );
    return filled instanceof NoValue ? this.create(own, depth, share) : filled;
  }

  /** Returns the schemas of a member by all schemas of its object. */
  #schemasOfMember(schemas: readonly Located[], name: string): readonly LocatedSchema[] {
    const { patterns } = this.#shared.document;
    const matches = (source: string): boolean | undefined =>
      patterns.find(source)?.isIn(name, this.#shared.patterns);
    const applied = schemas.flatMap((schema) => schemasOfMember(schema, name, matches));
    return applied.length > 0 ? applied : listOthers(schemas, 'unevaluatedProperties');
  }

  /** Creates the name of a further member, which is not taken yet. */
  #createName(schemas: readonly Located[], taken: Map<string, unknown>): string {
    const rules = schemas.flatMap((schema) => schemaIn(schema, 'propertyNames') ?? []);
    const closed = schemas.filter(({ value }) => value['additionalProperties'] === false);
    const listed = (closed.length > 0 ? closed : schemas).flatMap((schema) => [
      ...schemaMapIn(schema, 'patternProperties').keys(),
    ]);
    const patterns: readonly (string | undefined)[] = listed.length > 0 ? listed : [undefined];
    if (rules.length === 0 && listed.length === 0) {
      const name = `member${taken.size + 1}`;
      taken.set(canonical(name), name);
      return name;
    }
    let failure = new NoValue(`${schemas[0]?.at ?? '#'} permits no further name`);
    for (const pattern of patterns) {
      const value = { type: 'string', ...(pattern !== undefined && { pattern }) };
      const text = { value, at: schemas[0]?.at ?? '#' };
      const name = attempt(() => this.#createAnother([text, ...rules], taken, fullDepth, 0));
      if (!(name instanceof NoValue)) return String(name);
      failure = name;
    }
    throw failure;
  }

  /** Returns whether a member belongs to the other direction only. */
  #isOmitted(property: LocatedSchema): boolean {
    const other = this.#options.direction === 'request' ? 'readOnly' : 'writeOnly';
    return this.#shared.document.combine(property)[other];
  }

  /** Returns whether a member is asked for. Those of errors within errors are not, so that recursion ends. */
  #isAskedFor(name: string, depth: number): boolean {
    const { members, asks } = this.#options;
    return members !== 'required' && depth < fullDepth && asks?.(name) === true;
  }

  /** Returns whether a member that is not required is created. One of a few fixed values would be drawn from these. */
  #isChosen(name: string, property: LocatedSchema, depth: number): boolean {
    if (this.#isShown([property], depth)) return true;
    const { schemas } = this.#shared.document.combine(property);
    const isFree = schemas.every(({ value }) => value['enum'] === undefined);
    return isFree && this.#isAskedFor(name, depth);
  }

  /** Returns whether a member or item that is not required is created. `own` are the schemas of it. */
  #isShown(own: readonly LocatedSchema[], depth: number): boolean {
    const { members } = this.#options;
    if (members !== 'shown') return members === 'all' && depth < fullDepth;
    return own.some((each) => hasExample(this.#shared.document, each, fullDepth - depth));
  }

  #list(schemas: readonly Located[], depth: number, share: number): readonly unknown[] {
    const { dynamic } = this.#options;
    const { least, most } = boundsIn(schemas, 'minItems', 'maxItems');
    const contained = schemas.flatMap(listContained);
    const items = listOthers(schemas, 'items');
    const shown = share >= 2 && this.#isShown(items, depth) ? 1 + (dynamic ? this.#integer(2) : 0) : 0;
    const wanted = Math.max(least, contained.length, shown);
    const isUnique = schemas.some(({ value }) => value['uniqueItems'] === true);
    const count = Math.min(wanted, most);
    const inner = Math.floor(share / Math.max(1, count)) - 1;
    const created = new Map<string, unknown>();
    for (let index = 0; index < count; index += 1) {
      this.#spend(1);
      const own = listSchemasOfItem(schemas, index, contained.slice(index, index + 1));
      const item = this.create(own, depth + 1, inner);
      const key = isUnique ? canonical(item) : String(index);
      if (!created.has(key)) created.set(key, item);
      else if (created.size < least) this.#createAnother(own, created, depth + 1, inner);
      else attempt(() => this.#createAnother(own, created, depth + 1, inner));
    }
    return [...created.values()];
  }

  /** Creates a value that differs from others, and adds it to them, by its canonical text. */
  #createAnother(
    own: readonly LocatedSchema[],
    others: Map<string, unknown>,
    depth: number,
    share: number,
  ): unknown {
    const { random } = this.#options;
    for (let count = 0; count < 2 * maxDraws; count += 1) {
      // Where drawing finds no new value, those of a short list come in their order.
      const counting = (size: number) => new Uint8Array(size).fill(count % 256);
      const drawn = count < maxDraws ? random : counting;
      const drawing = new Creation(this.#shared, {
        ...this.#options,
        random: drawn,
        dynamic: true,
        lenient: false,
      });
      const value = drawing.create(own, Math.min(depth, fullDepth), share);
      const key = canonical(value);
      if (others.has(key)) continue;
      others.set(key, value);
      return value;
    }
    throw new NoValue(`${own[0]?.at ?? '#'} has too few values for a list without repetitions`);
  }

  #number(schemas: readonly Located[], isWhole: boolean): number {
    const found = createNumber(schemas, isWhole, this.#options);
    if (found === undefined) throw new NoValue(`${schemas[0]?.at ?? '#'} has no number within its bounds`);
    return found;
  }

  #text(schemas: readonly Located[], at: string): string {
    const { least, most } = boundsIn(schemas, 'minLength', 'maxLength');
    const textsOf = (name: string): readonly string[] =>
      schemas.map(({ value }) => value[name]).filter((each) => typeof each === 'string');
    const patterns = textsOf('pattern').flatMap(
      (source) => this.#shared.document.patterns.find(source) ?? [],
    );
    this.#spend(least / 8);
    const text = createText(
      { least, most, patterns, formats: textsOf('format'), at },
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

/** Returns the examples, the default and the fixed value of a schema. */
function listExamples({ example, examples, default: usual, const: fixed }: JsonSchema): readonly unknown[] {
  const listed: unknown[] = Array.isArray(examples) ? examples : [];
  return [example, ...listed, usual, fixed].filter((each) => each !== undefined);
}

/** Returns the bounds of a length or a size. */
function boundsIn(schemas: readonly Located[], minimum: string, maximum: string) {
  return {
    least: Math.max(0, ...schemas.map(({ value }) => numberOr(value[minimum], 0))),
    most: Math.min(...schemas.map(({ value }) => numberOr(value[maximum], Number.POSITIVE_INFINITY))),
  };
}

/** Returns the schemas in one member of each schema, as far as they have it. */
function listOthers(schemas: readonly Located[], name: string): readonly LocatedSchema[] {
  return schemas.flatMap((schema) => schemaIn(schema, name) ?? []);
}

/** Returns the schemas of an item. `contained` is that of `contains`, if the item is one that it requires. */
function listSchemasOfItem(
  schemas: readonly Located[],
  index: number,
  contained: readonly LocatedSchema[],
): readonly LocatedSchema[] {
  const own = schemas.flatMap(
    (schema) => schemasIn(schema, 'prefixItems')[index] ?? schemaIn(schema, 'items') ?? [],
  );
  const all = [...own, ...contained];
  return all.length > 0 ? all : listOthers(schemas, 'unevaluatedItems');
}

/** Returns the schemas of the items that `contains` requires. */
function listContained(schema: Located): readonly LocatedSchema[] {
  const contained = schemaIn(schema, 'contains');
  const least = Math.min(Math.ceil(numberOr(schema.value['minContains'], 1)), maxDraws);
  return contained === undefined ? [] : Array.from({ length: least }, () => contained);
}
