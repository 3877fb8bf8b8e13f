// Checks values against the schemas of a document: those of OpenAPI 3.0, and JSON Schema 2020-12 as far as documents of APIs use it.
// Each schema is checked once for each value, so that the work grows with the number of values, however the schemas refer to each other.

import type { StepBudget } from '../../collections/fields/pattern/match.ts';
import { isOfFormat } from '../../collections/fields/text-format.ts';
import { countCharacters } from '../../http/syntax/characters.ts';
import type { JsonSchema } from '../../service/openapi/document.ts';
import { discriminated, readDiscriminator } from './discriminators.ts';
import type { SchemaSource } from './document.ts';
import { canonical, permittedBy } from './json-values.ts';
import { isObject, type Located, type LocatedSchema, referenceOf } from './located.ts';
import { maxPatternSteps } from './patterns.ts';
import { checkNumber } from './schema-number.ts';
import { numberOr, schemaIn, schemaMapIn, schemasIn, schemasOfMember, textsIn } from './schema-parts.ts';
import { checkType } from './schema-types.ts';
import { listUnevaluatedItems, listUnevaluatedNames } from './schema-unevaluated.ts';
import { Found, isNearer, none, type Violation } from './violations.ts';

/** Whether a value is in a request, where members that are `readOnly` are not required, or in a response. */
export type Direction = 'request' | 'response';

/** Checks values. */
export interface SchemaChecker {
  /** Returns the violations of a value. A check that would not end, or hardly, is one violation with the reason. */
  check(schema: LocatedSchema, value: unknown, direction: Direction): readonly Violation[];
  /** Returns the violations of an example of a response. One that has relative URIs permits them wherever its schemas apply. */
  checkExample(schema: LocatedSchema, value: unknown): readonly Violation[];
}

/** The nesting of values and of schemas within each other, at most. */
const maxDepth = 500;

/** The steps of one check, at most. Each schema that is applied to a value is one, and each member that it looks at. */
const maxSteps = 2_000_000;

/** The violations of one value by schema; undefined while they are being collected. */
type Results = Map<JsonSchema, readonly Violation[] | undefined>;

/** Creates a checker. */
export function createChecker(document: SchemaSource): SchemaChecker {
  return {
    check: (schema, value, direction) => new SchemaCheck(document, direction).check(schema, value),
    checkExample(schema, value) {
      const relative = new Set<JsonSchema>();
      const violations = new SchemaCheck(document, 'response', { relative }).check(schema, value);
      if (violations.length === 0) for (const each of relative) document.relativeUris.add(each);
      return violations;
    },
  };
}

/** A check that is not carried out to its end. */
class Unchecked extends Error {
  /** The place of the schema. */
  readonly at: string;

  constructor(at: string, detail: string) {
    super(detail);
    this.at = at;
  }
}

/** What a check permits beyond the rules of a document, or does not. */
interface SchemaCheckOptions {
  /** Collects the schemas whose URIs are relative, if the value is an example, which may have some. */
  readonly relative?: Set<JsonSchema>;
  /** Whether exactly one branch of `oneOf` must match, also where a discriminator names it. Default: false. */
  readonly countsBranches?: boolean;
}

/** A check of values that have parts in common: no schema is checked twice for the same value, which must not change. */
export class SchemaCheck {
  readonly #document: SchemaSource;
  readonly #direction: Direction;
  /** The violations of objects and lists, by the schema of the member or item that they are. */
  readonly #results = new Map<object, Map<LocatedSchema['value'], Results>>();
  /** The violations of the text, number or other plain value that is being checked, by schema. */
  readonly #plain: Results = new Map();
  readonly #texts = new Map<object, string>();
  /** What patterns may still cost in this check. */
  readonly #budget: StepBudget = { steps: maxPatternSteps };
  readonly #relative: Set<JsonSchema> | undefined;
  readonly #countsBranches: boolean;
  #steps = 0;

  constructor(
    document: SchemaSource,
    direction: Direction,
    { relative, countsBranches = false }: SchemaCheckOptions = {},
  ) {
    this.#document = document;
    this.#direction = direction;
    this.#relative = relative;
    this.#countsBranches = countsBranches;
  }

  check(schema: LocatedSchema, value: unknown): readonly Violation[] {
    try {
      return this.#visit(schema, value, 0);
    } catch (error) {
      if (!(error instanceof Unchecked)) throw error;
      this.#results.clear();
      this.#plain.clear();
      return [{ path: '', rule: error.at, detail: error.message }];
    }
  }

  /**
   * Returns the violations of a value, with paths that begin at it. `whole` is the schema of the member or item, which `schema` may be
   * a part of: another part can say which members belong to the other direction.
   */
  #visit(
    part: LocatedSchema,
    value: unknown,
    depth: number,
    whole: LocatedSchema = this.#withoutReference(part),
  ): readonly Violation[] {
    const { value: schema, at } = part;
    // Length and pattern of a text take time that grows with it.
    this.#spend(typeof value === 'string' ? 1 + value.length / 64 : 1, at);
    if (depth > maxDepth) throw new Unchecked(at, 'is nested too deeply to be checked');
    if (typeof schema === 'boolean')
      return schema ? none : [{ path: '', rule: at, detail: 'is not permitted' }];
    const located = { value: schema, at };
    const isPlain = typeof value !== 'object' || value === null;
    if (isPlain && !isCombined(schema)) return this.#collect(located, value, depth, whole);
    const results = isPlain ? this.#plain : this.#resultsOf(value, whole);
    const known = results.get(schema);
    if (known !== undefined) return known;
    if (results.has(schema))
      throw new Unchecked(at, 'cannot be checked: the schema requires itself of a value');
    const isOutermost = isPlain && results.size === 0;
    results.set(schema, undefined);
    const found = this.#collect(located, value, depth, whole);
    results.set(schema, found);
    if (isOutermost) results.clear();
    return found;
  }

  /** Returns the target of a schema that only refers to it. */
  #withoutReference(schema: LocatedSchema): LocatedSchema {
    const { value } = schema;
    const refersOnly = referenceOf(value) !== undefined && Object.keys(value).length === 1;
    return refersOnly ? this.#document.resolve(schema) : schema;
  }

  #resultsOf(value: object, whole: LocatedSchema): Results {
    const all = this.#results.get(value) ?? new Map<LocatedSchema['value'], Results>();
    this.#results.set(value, all);
    const results: Results = all.get(whole.value) ?? new Map();
    all.set(whole.value, results);
    return results;
  }

  #spend(steps: number, at: string): void {
    this.#steps += steps;
    if (this.#steps > maxSteps) throw new Unchecked(at, `takes more than ${maxSteps} steps to check`);
  }

  #collect(schema: Located, value: unknown, depth: number, whole: LocatedSchema): readonly Violation[] {
    const found = new Found(schema, depth, whole);
    if (referenceOf(schema.value) !== undefined) {
      this.#apply(found, this.#document.resolve(schema), value);
      // In 3.0, members beside a reference are ignored.
      if (this.#document.version === '3.0') return found.violations;
    }
    if (!checkType(found, value)) return found.violations;
    this.#checkValue(found, value);
    if (typeof value === 'string') this.#checkText(found, value);
    else if (typeof value === 'number') checkNumber(found, value);
    else if (Array.isArray(value)) this.#checkList(found, value);
    else if (isObject(value)) this.#checkObject(found, value);
    this.#checkCombinations(found, value);
    if (this.#document.version !== '3.0') this.#checkUnevaluated(found, value);
    return found.violations;
  }

  /** Adds the violations of another schema by the same value. */
  #apply(found: Found, schema: LocatedSchema, value: unknown): void {
    found.addAll(this.#visit(schema, value, found.depth + 1, found.whole));
  }

  /** Adds the violations of a schema by a member or an item. */
  #applyWithin(found: Found, schema: LocatedSchema, value: unknown, name: string | number): void {
    found.addAll(this.#visit(schema, value, found.depth + 1), name);
  }

  #checkValue(found: Found, value: unknown): void {
    const { value: schema } = found.schema;
    const { enum: values, const: fixed } = schema;
    const textOf = (of: object): string => this.#canonical(of, found.at);
    if (Array.isArray(values)) {
      const permitted = permittedBy(values, values);
      if (!permitted.has(value, textOf)) found.add('enum', `must be one of ${permitted.text}`);
    }
    if (!Object.hasOwn(schema, 'const')) return;
    const permitted = permittedBy(schema, [fixed]);
    if (!permitted.has(value, textOf)) found.add('const', `must be ${permitted.text}`);
  }

  #canonical(value: unknown, at: string): string {
    if (typeof value !== 'object' || value === null) return canonical(value);
    const known = this.#texts.get(value);
    if (known !== undefined) return known;
    try {
      const text = canonical(value);
      this.#texts.set(value, text);
      return text;
    } catch (error) {
      if (error instanceof RangeError) throw new Unchecked(at, error.message);
      throw error;
    }
  }

  #checkText(found: Found, value: string): void {
    const { value: schema } = found.schema;
    const { minLength, maxLength, pattern, format } = schema;
    if (minLength !== undefined || maxLength !== undefined) {
      const length = countCharacters(value);
      if (length < numberOr(minLength, 0))
        found.add('minLength', `must have at least ${String(minLength)} characters, has ${length}`);
      if (length > numberOr(maxLength, Number.POSITIVE_INFINITY))
        found.add('maxLength', `must have at most ${String(maxLength)} characters, has ${length}`);
    }
    if (typeof pattern === 'string') this.#checkPattern(pattern, value, found);
    if (
      typeof format === 'string' &&
      isOfFormat(value, format) === false &&
      !this.#isRelativeUri(schema, value)
    )
      found.add('format', `must be of the format ${format}`);
  }

  /** Returns whether a text is a relative URI where the document's own example is one. */
  #isRelativeUri(schema: JsonSchema, value: string): boolean {
    const { format, example } = schema;
    if (format !== 'uri' || !isRelativeUri(value)) return false;
    this.#relative?.add(schema);
    return this.#relative !== undefined || isRelativeUri(example) || this.#document.relativeUris.has(schema);
  }

  #checkPattern(source: string, value: string, found: Found): void {
    const pattern = this.#document.patterns.find(source);
    const matched = pattern === undefined || pattern.isIn(value, this.#budget);
    if (matched === undefined) found.add('pattern', `takes too long to be compared with ${source}`);
    else if (!matched) found.add('pattern', `must match ${source}`);
  }

  #checkList(found: Found, value: readonly unknown[]): void {
    const { schema } = found;
    const { minItems, maxItems, uniqueItems } = schema.value;
    if (value.length < numberOr(minItems, 0))
      found.add('minItems', `must have at least ${String(minItems)} items`);
    if (value.length > numberOr(maxItems, Number.POSITIVE_INFINITY))
      found.add('maxItems', `must have at most ${String(maxItems)} items`);
    if (uniqueItems === true) {
      this.#spend(value.length, schema.at);
      const distinct = new Set(value.map((item) => this.#canonical(item, schema.at)));
      if (distinct.size < value.length) found.add('uniqueItems', 'must not have an item twice');
    }
    const first = schemasIn(schema, 'prefixItems');
    const items = schemaIn(schema, 'items');
    for (const [index, item] of value.entries()) {
      if (found.isFull) return;
      const own = first[index] ?? items;
      if (own !== undefined) this.#applyWithin(found, own, item, index);
    }
    const contained = schemaIn(schema, 'contains');
    if (contained === undefined) return;
    const { minContains, maxContains } = schema.value;
    const count = value.filter((item) => this.#accepts(contained, item, found.depth)).length;
    if (count < numberOr(minContains, 1))
      found.add('contains', 'lacks an item that matches the schema of contains');
    if (count > numberOr(maxContains, Number.POSITIVE_INFINITY))
      found.add('maxContains', 'has too many items that match the schema of contains');
  }

  #checkObject(found: Found, value: JsonSchema): void {
    const { schema, whole } = found;
    const { minProperties, maxProperties, required, dependentRequired } = schema.value;
    const names = Object.keys(value);
    if (names.length < numberOr(minProperties, 0))
      found.add('minProperties', `must have at least ${String(minProperties)} members`);
    if (names.length > numberOr(maxProperties, Number.POSITIVE_INFINITY))
      found.add('maxProperties', `must have at most ${String(maxProperties)} members`);
    this.#spend(names.length + textsIn(required).length, schema.at);
    for (const name of textsIn(required)) {
      if (found.isFull) return;
      if (!Object.hasOwn(value, name) && !isOmitted(this.#document, whole, name, this.#direction))
        found.add('required', 'is missing', name);
    }
    this.#checkMembers(found, value);
    const dependents = schemaMapIn(schema, 'dependentSchemas');
    const hasRequired = isObject(dependentRequired);
    if (dependents.size === 0 && !hasRequired) return;
    for (const name of names) {
      const needed = hasRequired && Object.hasOwn(dependentRequired, name) ? dependentRequired[name] : [];
      this.#spend(textsIn(needed).length, schema.at);
      for (const each of textsIn(needed))
        if (!Object.hasOwn(value, each))
          found.add(['dependentRequired', name], `is missing beside ${name}`, each);
      const dependent = dependents.get(name);
      if (dependent !== undefined) this.#apply(found, dependent, value);
    }
  }

  #checkMembers(found: Found, value: JsonSchema): void {
    const { schema, depth } = found;
    const properties = schemaMapIn(schema, 'properties');
    const patterns = schemaMapIn(schema, 'patternProperties');
    const named = schemaIn(schema, 'propertyNames');
    for (const [name, member] of Object.entries(value)) {
      if (found.isFull) return;
      this.#spend(patterns.size, schema.at);
      if (named !== undefined && !this.#accepts(named, name, depth))
        found.add([], 'has a name that is not permitted', name, named.at);
      const own = properties.get(name);
      if (own !== undefined && this.#direction === 'response' && this.#document.combine(own).writeOnly)
        found.add('writeOnly', 'must not be in a response', name, own.at);
      const applied = schemasOfMember(schema, name, (pattern) => this.#matches(pattern, name));
      for (const each of applied) this.#checkMember(found, each, name, member);
      if (this.#budget.steps < 0) found.add('patternProperties', 'takes too long to be compared', name);
    }
  }

  #checkUnevaluated(found: Found, value: unknown): void {
    const { schema, depth } = found;
    const applying = {
      resolve: (each: Located) => this.#document.resolve(each),
      accepts: (each: LocatedSchema, part: unknown) => this.#accepts(each, part, depth),
      matches: (pattern: string, name: string) => this.#matches(pattern, name),
    };
    const properties = schemaIn(schema, 'unevaluatedProperties');
    if (properties !== undefined && isObject(value))
      for (const name of listUnevaluatedNames(schema, value, applying))
        this.#checkMember(found, properties, name, value[name]);
    const items = schemaIn(schema, 'unevaluatedItems');
    if (items === undefined || !Array.isArray(value)) return;
    for (const index of listUnevaluatedItems(schema, value, applying))
      this.#applyWithin(found, items, value[index], index);
  }

  #checkMember(found: Found, schema: LocatedSchema, name: string, value: unknown): void {
    if (schema.value === false) found.add([], 'is not a known member', name, schema.at);
    else this.#applyWithin(found, schema, value, name);
  }

  /** Returns whether a name matches a pattern; undefined if the pattern is not enforced. */
  #matches(source: string, name: string): boolean | undefined {
    const pattern = this.#document.patterns.find(source);
    // A comparison that takes too long is reported once, and permits the name.
    return pattern === undefined ? undefined : pattern.isIn(name, this.#budget) !== false;
  }

  #checkCombinations(found: Found, value: unknown): void {
    const { schema, depth } = found;
    for (const each of schemasIn(schema, 'allOf')) this.#apply(found, each, value);
    const selected = this.#countsBranches ? undefined : discriminated(schema, value);
    if (selected !== undefined) this.#apply(found, selected, value);
    else for (const name of ['anyOf', 'oneOf'] as const) this.#checkChoice(found, name, value);
    if (isObject(value)) this.#checkHeir(found, value);
    const negated = schemaIn(schema, 'not');
    if (negated !== undefined && this.#accepts(negated, value, depth))
      found.add('not', 'matches the schema of not');
    const condition = schemaIn(schema, 'if');
    if (condition === undefined) return;
    const consequence = schemaIn(schema, this.#accepts(condition, value, depth) ? 'then' : 'else');
    if (consequence !== undefined) this.#apply(found, consequence, value);
  }

  /** Checks a value by the schema that extends this one and that its discriminator names. */
  #checkHeir(found: Found, value: JsonSchema): void {
    const { schema, depth, whole } = found;
    const heirs = this.#document.findHeirs(schema);
    const name = readDiscriminator(schema, value);
    if (heirs.size === 0 || name === undefined) return;
    // The value is being checked by an heir, which this schema is a part of.
    const results = this.#resultsOf(value, whole);
    const isInner = [...heirs.values()].some(
      (each) => each.value !== schema.value && results.has(each.value),
    );
    if (isInner) return;
    const heir = heirs.get(name);
    if (heir === undefined)
      found.add('discriminator', `names no schema: ${name} is none of ${[...heirs.keys()].join(', ')}`);
    else if (heir.value !== schema.value) found.addAll(this.#visit(heir, value, depth + 1, heir));
  }

  #checkChoice(found: Found, name: 'anyOf' | 'oneOf', value: unknown): void {
    const branches = schemasIn(found.schema, name);
    if (branches.length === 0) return;
    let matching = 0;
    let nearest: readonly Violation[] | undefined;
    for (const branch of branches) {
      const violations = this.#visit(branch, value, found.depth + 1, found.whole);
      if (violations.length === 0) {
        matching += 1;
        if (name === 'anyOf') return;
      } else if (nearest === undefined || isNearer(violations, nearest)) nearest = violations;
    }
    if (matching > 1) found.add(name, `matches ${matching} of ${branches.length} schemas, not one`);
    if (matching > 0) return;
    const count = branches.length === 1 ? 'the schema' : `any of ${branches.length} schemas`;
    found.add(name, `does not match ${count}`);
    found.addAll(nearest ?? none);
  }

  #accepts(schema: LocatedSchema, value: unknown, depth: number): boolean {
    return this.#visit(schema, value, depth + 1).length === 0;
  }
}

/** Returns whether a schema of an object leaves a member out of one direction: `readOnly` out of requests, `writeOnly` out of responses. */
export function isOmitted(
  { combine }: SchemaSource,
  schema: LocatedSchema,
  name: string,
  direction: Direction,
): boolean {
  const { readOnly, writeOnly } = combine(combine(schema).properties.get(name));
  return direction === 'request' ? readOnly : writeOnly;
}

function isRelativeUri(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('/') && isOfFormat(value, 'uri-reference') === true;
}

/** The keywords by which a schema applies others to the same value. */
const combining = ['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if'];

function isCombined(schema: JsonSchema): boolean {
  return combining.some((name) => schema[name] !== undefined);
}
