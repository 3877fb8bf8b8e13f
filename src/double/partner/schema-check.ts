// Checks values against the schemas of a document: those of OpenAPI 3.0, and JSON Schema 2020-12 as far as documents of APIs use it.
import { DeclarationError } from '../../schema/error.ts';
import type { StepBudget } from '../../schema/pattern/match.ts';
import type { JsonSchema } from '../../service/openapi/document.ts';
import { describeKind } from '../../shape/fault.ts';
import { formatPlace, isObject, type Located, type LocatedSchema, type PartnerDocument } from './document.ts';
import { isOfFormat } from './formats.ts';
import { maxPatternSteps } from './patterns.ts';

/** A rule that a value violates. */
export interface Violation {
  /** The member, as a JSON Pointer: `/lines/0/sku`; '' for the value itself. */
  readonly path: string;
  /** The place of the rule in the document: `#/components/schemas/Line/required`. */
  readonly rule: string;
  /** What is wrong, without the member: `must be at least 1`. */
  readonly detail: string;
}

/** Whether a value is in a request, where members that are `readOnly` are not required, or in a response. */
export type Direction = 'request' | 'response';

/** Checks values. */
export interface SchemaChecker {
  /** Returns the violations of a value. Throws DeclarationError if a schema refers to itself for the same value. */
  check(schema: LocatedSchema, value: unknown, direction: Direction): readonly Violation[];
}

/** The violations that are collected of one value, at most. */
const maxViolations = 20;

/** The depth of schemas for one value, beyond which they refer to themselves. */
const maxDepth = 500;

/** Creates a checker. */
export function createChecker(
  document: Pick<PartnerDocument, 'version' | 'resolve' | 'patterns'>,
): SchemaChecker {
  return {
    check(schema, value, direction) {
      const check = new Check(document, direction, { steps: maxPatternSteps });
      check.visit(schema, value, '', 0);
      return check.found;
    },
  };
}

/** Returns the types that a schema permits; undefined for all. In 3.0, `nullable` adds null. */
export function listTypes({ type, nullable }: JsonSchema): readonly string[] | undefined {
  if (type === undefined) return undefined;
  const types = Array.isArray(type) ? type.map(String) : [String(type)];
  return nullable === true ? [...types, 'null'] : types;
}

/** Returns the bounds of a number. In 3.0, an exclusive bound is a flag beside the bound. */
export function readBounds({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonSchema): {
  readonly least: number;
  readonly above: number;
  readonly most: number;
  readonly below: number;
} {
  const least = numberOr(minimum, Number.NEGATIVE_INFINITY);
  const most = numberOr(maximum, Number.POSITIVE_INFINITY);
  return {
    least,
    most,
    above: exclusiveMinimum === true ? least : numberOr(exclusiveMinimum, Number.NEGATIVE_INFINITY),
    below: exclusiveMaximum === true ? most : numberOr(exclusiveMaximum, Number.POSITIVE_INFINITY),
  };
}

/** Returns a number, or another value if it is none. */
export function numberOr(value: unknown, other: number): number {
  return typeof value === 'number' ? value : other;
}

/** Returns the schemas in a member that is a list. */
export function schemasIn({ value, at }: Located, name: string): readonly LocatedSchema[] {
  const list = value[name];
  return Array.isArray(list)
    ? list.flatMap((each, index) => locateSchema(each, formatPlace(at, name, index)))
    : [];
}

/** Returns the schema in a member. */
export function schemaIn({ value, at }: Located, name: string): LocatedSchema | undefined {
  return locateSchema(value[name], formatPlace(at, name))[0];
}

/** Returns the schemas in a member that is a map, by name. */
export function schemaMapIn({ value, at }: Located, name: string): ReadonlyMap<string, LocatedSchema> {
  const map = value[name];
  if (!isObject(map)) return new Map();
  const entries = Object.entries(map).flatMap(([key, each]) =>
    locateSchema(each, formatPlace(at, name, key)).map((schema) => [key, schema] as const),
  );
  return new Map(entries);
}

function locateSchema(value: unknown, at: string): LocatedSchema[] {
  return isObject(value) || typeof value === 'boolean' ? [{ value, at }] : [];
}

/** Returns the texts in a list; none if it is no list. */
export function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

/** Returns the schema that a discriminator selects for a value; undefined if there is no discriminator, or it selects none. */
export function discriminated(
  { value: schema, at }: Located,
  value: unknown,
  resolve: PartnerDocument['resolve'],
): LocatedSchema | undefined {
  const { discriminator } = schema;
  if (!isObject(discriminator) || !isObject(value)) return undefined;
  const { propertyName, mapping = {} } = discriminator;
  const name = typeof propertyName === 'string' ? value[propertyName] : undefined;
  if (typeof name !== 'string') return undefined;
  const mapped = isObject(mapping) && Object.hasOwn(mapping, name) ? String(mapping[name]) : name;
  const reference = mapped.startsWith('#') ? mapped : `#/components/schemas/${mapped}`;
  const listed = [...schemasIn({ value: schema, at }, 'oneOf'), ...schemasIn({ value: schema, at }, 'anyOf')];
  const isListed = listed.some((each) => isObject(each.value) && each.value['$ref'] === reference);
  return isListed ? resolve({ value: { $ref: reference }, at: formatPlace(at, 'discriminator') }) : undefined;
}

class Check {
  readonly found: Violation[] = [];
  readonly #document: Pick<PartnerDocument, 'version' | 'resolve' | 'patterns'>;
  readonly #direction: Direction;
  readonly #budget: StepBudget;

  constructor(
    document: Pick<PartnerDocument, 'version' | 'resolve' | 'patterns'>,
    direction: Direction,
    budget: StepBudget,
  ) {
    this.#document = document;
    this.#direction = direction;
    this.#budget = budget;
  }

  visit(located: LocatedSchema, value: unknown, path: string, depth: number): void {
    if (this.found.length >= maxViolations) return;
    if (depth > maxDepth) throw new DeclarationError('value', located.at, 'refers to itself without an end');
    const { value: source, at } = located;
    if (typeof source === 'boolean') {
      if (!source) this.#add(path, at, 'is not permitted');
      return;
    }
    const schema = { value: source, at };
    if (typeof source['$ref'] === 'string') {
      this.visit(this.#document.resolve(located), value, path, depth + 1);
      // In 3.0, members beside a reference are ignored.
      if (this.#document.version === '3.0') return;
    }
    if (!this.#checkType(schema, value, path)) return;
    this.#checkValue(schema, value, path);
    if (typeof value === 'string') this.#checkText(schema, value, path);
    else if (typeof value === 'number') this.#checkNumber(schema, value, path);
    else if (Array.isArray(value)) this.#checkList(schema, value, path, depth);
    else if (isObject(value)) this.#checkObject(schema, value, path, depth);
    this.#checkCombinations(schema, value, path, depth);
  }

  #add(path: string, rule: string, detail: string): void {
    if (this.found.length < maxViolations) this.found.push({ path, rule, detail });
  }

  #checkType({ value: schema, at }: Located, value: unknown, path: string): boolean {
    const types = listTypes(schema);
    if (types === undefined || types.some((type) => isOfType(value, type))) return true;
    this.#add(path, formatPlace(at, 'type'), `must be ${types.join(' or ')}, is ${describeKind(value)}`);
    return false;
  }

  #checkValue({ value: schema, at }: Located, value: unknown, path: string): void {
    const { enum: values, const: fixed } = schema;
    if (Array.isArray(values) && !values.some((each) => isEqual(each, value)))
      this.#add(path, formatPlace(at, 'enum'), `must be one of ${values.map(shorten).join(', ')}`);
    if (Object.hasOwn(schema, 'const') && !isEqual(fixed, value))
      this.#add(path, formatPlace(at, 'const'), `must be ${shorten(fixed)}`);
  }

  #checkText({ value: schema, at }: Located, value: string, path: string): void {
    const { minLength, maxLength, pattern, format } = schema;
    const length = [...value].length;
    if (length < numberOr(minLength, 0))
      this.#add(
        path,
        formatPlace(at, 'minLength'),
        `must have at least ${String(minLength)} characters, has ${length}`,
      );
    if (length > numberOr(maxLength, Number.POSITIVE_INFINITY))
      this.#add(
        path,
        formatPlace(at, 'maxLength'),
        `must have at most ${String(maxLength)} characters, has ${length}`,
      );
    if (typeof pattern === 'string') this.#checkPattern(pattern, value, path, formatPlace(at, 'pattern'));
    if (typeof format === 'string' && isOfFormat(value, format) === false)
      this.#add(path, formatPlace(at, 'format'), `must be of the format ${format}`);
  }

  #checkPattern(source: string, value: string, path: string, rule: string): void {
    const pattern = this.#document.patterns.find(source);
    const matched = pattern === undefined || pattern.isIn(value, this.#budget);
    if (matched === undefined) this.#add(path, rule, `takes too long to be compared with ${source}`);
    else if (!matched) this.#add(path, rule, `must match ${source}`);
  }

  #checkNumber({ value: schema, at }: Located, value: number, path: string): void {
    const { least, above, most, below } = readBounds(schema);
    const { multipleOf, format } = schema;
    if (value < least) this.#add(path, formatPlace(at, 'minimum'), `must be at least ${least}`);
    else if (value <= above)
      this.#add(path, formatPlace(at, 'exclusiveMinimum'), `must be more than ${above}`);
    if (value > most) this.#add(path, formatPlace(at, 'maximum'), `must be at most ${most}`);
    else if (value >= below)
      this.#add(path, formatPlace(at, 'exclusiveMaximum'), `must be less than ${below}`);
    if (typeof multipleOf === 'number' && multipleOf > 0 && !isMultiple(value, multipleOf))
      this.#add(path, formatPlace(at, 'multipleOf'), `must be a multiple of ${multipleOf}`);
    if (format === 'int32' && (!Number.isInteger(value) || Math.abs(value) > 2 ** 31))
      this.#add(path, formatPlace(at, 'format'), 'must be of the format int32');
    if (format === 'int64' && !Number.isInteger(value))
      this.#add(path, formatPlace(at, 'format'), 'must be of the format int64');
  }

  #checkList(schema: Located, value: readonly unknown[], path: string, depth: number): void {
    const { minItems, maxItems, uniqueItems } = schema.value;
    if (value.length < numberOr(minItems, 0))
      this.#add(path, formatPlace(schema.at, 'minItems'), `must have at least ${String(minItems)} items`);
    if (value.length > numberOr(maxItems, Number.POSITIVE_INFINITY))
      this.#add(path, formatPlace(schema.at, 'maxItems'), `must have at most ${String(maxItems)} items`);
    if (uniqueItems === true && new Set(value.map(canonical)).size < value.length)
      this.#add(path, formatPlace(schema.at, 'uniqueItems'), 'must not have an item twice');
    const first = schemasIn(schema, 'prefixItems');
    const items = schemaIn(schema, 'items');
    value.forEach((item, index) => {
      const own = first[index] ?? items;
      if (own !== undefined) this.visit(own, item, formatPlace(path, index), depth + 1);
    });
    const contained = schemaIn(schema, 'contains');
    if (contained === undefined) return;
    const count = value.filter((item) => this.#accepts(contained, item, depth)).length;
    if (count < numberOr(schema.value['minContains'], 1))
      this.#add(
        path,
        formatPlace(schema.at, 'contains'),
        'lacks an item that matches the schema of contains',
      );
    if (count > numberOr(schema.value['maxContains'], Number.POSITIVE_INFINITY))
      this.#add(
        path,
        formatPlace(schema.at, 'maxContains'),
        'has too many items that match the schema of contains',
      );
  }

  #checkObject(schema: Located, value: JsonSchema, path: string, depth: number): void {
    const { minProperties, maxProperties, required, dependentRequired } = schema.value;
    const names = Object.keys(value);
    if (names.length < numberOr(minProperties, 0))
      this.#add(
        path,
        formatPlace(schema.at, 'minProperties'),
        `must have at least ${String(minProperties)} members`,
      );
    if (names.length > numberOr(maxProperties, Number.POSITIVE_INFINITY))
      this.#add(
        path,
        formatPlace(schema.at, 'maxProperties'),
        `must have at most ${String(maxProperties)} members`,
      );
    const properties = schemaMapIn(schema, 'properties');
    for (const name of textsIn(required))
      if (!Object.hasOwn(value, name) && !this.#isOmitted(properties.get(name)))
        this.#add(formatPlace(path, name), formatPlace(schema.at, 'required'), 'is missing');
    if (isObject(dependentRequired))
      for (const [name, needed] of Object.entries(dependentRequired))
        for (const each of textsIn(needed))
          if (Object.hasOwn(value, name) && !Object.hasOwn(value, each))
            this.#add(
              formatPlace(path, each),
              formatPlace(schema.at, 'dependentRequired', name),
              `is missing beside ${name}`,
            );
    this.#checkMembers(schema, properties, value, path, depth);
    for (const [name, dependent] of schemaMapIn(schema, 'dependentSchemas'))
      if (Object.hasOwn(value, name)) this.visit(dependent, value, path, depth + 1);
  }

  #checkMembers(
    schema: Located,
    properties: ReadonlyMap<string, LocatedSchema>,
    value: JsonSchema,
    path: string,
    depth: number,
  ): void {
    const patterns = schemaMapIn(schema, 'patternProperties');
    const additional = schemaIn(schema, 'additionalProperties');
    const named = schemaIn(schema, 'propertyNames');
    for (const [name, member] of Object.entries(value)) {
      const at = formatPlace(path, name);
      if (named !== undefined && !this.#accepts(named, name, depth))
        this.#add(at, named.at, 'has a name that is not permitted');
      const own = properties.get(name);
      if (own !== undefined) {
        if (this.#direction === 'response' && this.#isOmitted(own))
          this.#add(at, formatPlace(own.at, 'writeOnly'), 'must not be in a response');
        this.visit(own, member, at, depth + 1);
      }
      const matching = [...patterns].filter(([pattern]) => this.#mayMatch(pattern, name));
      for (const [pattern, each] of matching)
        if (this.#document.patterns.find(pattern) !== undefined) this.visit(each, member, at, depth + 1);
      if (this.#budget.steps < 0)
        this.#add(at, formatPlace(schema.at, 'patternProperties'), 'takes too long to be compared');
      if (own !== undefined || matching.length > 0 || additional === undefined) continue;
      if (additional.value === false) this.#add(at, additional.at, 'is not a known member');
      else this.visit(additional, member, at, depth + 1);
    }
  }

  /** Returns whether a name matches a pattern, or the pattern is not enforced. */
  #mayMatch(source: string, name: string): boolean {
    return this.#document.patterns.find(source)?.isIn(name, this.#budget) !== false;
  }

  /** Returns whether a member belongs to the other direction only. */
  #isOmitted(property: LocatedSchema | undefined): boolean {
    if (property === undefined) return false;
    const name = this.#direction === 'request' ? 'readOnly' : 'writeOnly';
    const { value } = property;
    if (isObject(value) && value[name] === true) return true;
    const { value: target } = this.#document.resolve(property);
    return isObject(target) && target[name] === true;
  }

  #checkCombinations(schema: Located, value: unknown, path: string, depth: number): void {
    for (const each of schemasIn(schema, 'allOf')) this.visit(each, value, path, depth + 1);
    const selected = discriminated(schema, value, this.#document.resolve);
    if (selected !== undefined) this.visit(selected, value, path, depth + 1);
    else for (const name of ['anyOf', 'oneOf'] as const) this.#checkChoice(schema, name, value, path, depth);
    const negated = schemaIn(schema, 'not');
    if (negated !== undefined && this.#accepts(negated, value, depth))
      this.#add(path, negated.at, 'matches the schema of not');
    const condition = schemaIn(schema, 'if');
    if (condition === undefined) return;
    const consequence = schemaIn(schema, this.#accepts(condition, value, depth) ? 'then' : 'else');
    if (consequence !== undefined) this.visit(consequence, value, path, depth + 1);
  }

  #checkChoice(schema: Located, name: 'anyOf' | 'oneOf', value: unknown, path: string, depth: number): void {
    const branches = schemasIn(schema, name);
    if (branches.length === 0) return;
    const results = branches.map((branch) => this.#violationsOf(branch, value, path, depth));
    const matching = results.filter(({ length }) => length === 0).length;
    if (name === 'oneOf' && matching > 1)
      this.#add(
        path,
        formatPlace(schema.at, name),
        `matches ${matching} of ${branches.length} schemas, not one`,
      );
    if (matching > 0) return;
    const [nearest = []] = [...results].sort(
      (one, other) => computeDepth(other) - computeDepth(one) || one.length - other.length,
    );
    const count = branches.length === 1 ? 'the schema' : `any of ${branches.length} schemas`;
    this.#add(path, formatPlace(schema.at, name), `does not match ${count}`);
    for (const violation of nearest) this.#add(violation.path, violation.rule, violation.detail);
  }

  #accepts(schema: LocatedSchema, value: unknown, depth: number): boolean {
    return this.#violationsOf(schema, value, '', depth).length === 0;
  }

  #violationsOf(schema: LocatedSchema, value: unknown, path: string, depth: number): readonly Violation[] {
    const inner = new Check(this.#document, this.#direction, this.#budget);
    inner.visit(schema, value, path, depth + 1);
    return inner.found;
  }
}

/** Returns how deep the first violation is: a schema whose type fits is nearer than one whose type does not. */
function computeDepth([first]: readonly Violation[]): number {
  return first === undefined || first.rule.endsWith('/type') ? 0 : 1;
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value);
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    default:
      return typeof value === type;
  }
}

function isMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9 * Math.max(1, Math.abs(quotient));
}

/** Returns a value as JSON with sorted members, so that equal values have equal texts. */
function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_, each: unknown) =>
      isObject(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each,
    ) ?? ''
  );
}

/** Returns whether two values are equal JSON. */
export function isEqual(one: unknown, other: unknown): boolean {
  return one === other || (typeof one === 'object' && one !== null && canonical(one) === canonical(other));
}

function shorten(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
