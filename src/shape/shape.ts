import { findClosestMatch } from '../did-you-mean.ts';
import { createFault, findFault, formatFault, type ShapeFault, type ShapePath, type Where } from './fault.ts';

/** A JSON Schema (draft 2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** What a shape read: the value with its type, or all faults. */
type ShapeResult<T> = { readonly value: T } | { readonly faults: readonly ShapeFault[] };

/** Describes a value by its schema, and validates it. */
export interface Shape<T> {
  readonly schema: JsonSchema;
  /** A noun phrase for messages: `an integer from 1 to 5`. */
  readonly expected: string;
  /** Reads a value at a path, which is the beginning of the path of each fault. */
  read(value: unknown, path?: ShapePath): ShapeResult<T>;
}

/**
 * Reads a value.
 * @param where names the value in the message
 * @throws RangeError with the first fault
 */
export function read<T>(shape: Shape<T>, value: unknown, where: Where): T {
  const result = shape.read(value);
  if ('value' in result) return result.value;
  throw new RangeError(
    result.faults
      .slice(0, 1)
      .map((fault) => formatFault(fault, where))
      .join(),
  );
}

/** The type of the values that a shape reads. */
export type ReadBy<S extends Shape<unknown>> = S extends Shape<infer T> ? T : never;

/** An optional member. A member that is undefined is absent. */
export interface Optional<T> {
  readonly optional: Shape<T>;
}

/** The members of an object. */
export type MemberShapes = Readonly<Record<string, Shape<unknown> | Optional<unknown>>>;

/** One shape for each member of a declaration, so that the compiler finds one that is missing. */
export type ShapesOf<Declaration> = Readonly<
  Record<keyof Declaration & string, Shape<unknown> | Optional<unknown>>
>;

type RequiredNames<M extends MemberShapes> = {
  [Name in keyof M]: M[Name] extends Optional<unknown> ? never : Name;
}[keyof M];

/** The type of an object with these members. */
export type MembersRead<M extends MemberShapes> = {
  readonly [Name in RequiredNames<M>]: M[Name] extends Shape<infer T> ? T : never;
} & {
  readonly [Name in Exclude<keyof M, RequiredNames<M>>]?: M[Name] extends Optional<infer T> ? T : never;
};

/** Makes a member optional. */
export function optional<T>(shape: Shape<T>): Optional<T> {
  return { optional: shape };
}

/** Any value. */
export const anything: Shape<unknown> = { schema: {}, expected: 'a value', read: (value) => ({ value }) };

/** The rules of a string. */
interface TextRules {
  /** The form of the whole string, without flags. Default: any. */
  readonly form?: RegExp;
  /** The minimum number of UTF-16 code units. Default: 0. */
  readonly min?: number;
  /** The noun phrase in messages. Default: `text`. */
  readonly expected?: string;
  /** Whether messages show nothing of the value. Default: false. */
  readonly isSecret?: boolean;
}

/** Any value, which is read elsewhere. `createSchema` returns its schema, and is called only when the schema is needed. */
export function described(createSchema: () => JsonSchema, expected = 'an object'): Shape<unknown> {
  return {
    get schema() {
      return createSchema();
    },
    expected,
    read: anything.read,
  };
}

/** A string. `description` is the description in its schema. */
export function text(description?: string, rules: TextRules = {}): Shape<string> {
  const { form, min = 0, expected = min > 0 ? 'non-empty text' : 'text', isSecret = false } = rules;
  return {
    schema: {
      type: 'string',
      ...(min > 0 && { minLength: min }),
      ...(form !== undefined && { pattern: form.source }),
      ...describe(description),
    },
    expected,
    read(value, path = []) {
      const fits =
        typeof value === 'string' && value.length >= min && (form === undefined || form.test(value));
      if (fits) return { value };
      return isSecret ? { faults: [{ path, kind: 'secret', expected }] } : refuse(path, expected, value);
    },
  };
}

/** The range of a number, both inclusive. */
interface NumberRules {
  readonly min?: number;
  readonly max?: number;
  /** Whether it must be an integer. Default: true. */
  readonly whole?: boolean;
  /** The noun phrase in messages. Default: `an integer from 1 to 5`. */
  readonly expected?: string;
}

/** A number within a range. */
export function number(
  { min, max, whole = true, expected }: NumberRules,
  description?: string,
): Shape<number> {
  const range = `${min === undefined ? '' : ` from ${min}`}${max === undefined ? '' : ` to ${max}`}`;
  return leaf(
    {
      type: whole ? 'integer' : 'number',
      ...(min !== undefined && { minimum: min }),
      ...(max !== undefined && { maximum: max }),
      ...describe(description),
    },
    expected ?? `${whole ? 'an integer' : 'a number'}${range}`,
    (value): value is number =>
      typeof value === 'number' &&
      (!whole || Number.isInteger(value)) &&
      value >= (min ?? -Infinity) &&
      value <= (max ?? Infinity),
  );
}

/** A boolean. */
export function flag(description?: string): Shape<boolean> {
  return leaf(
    { type: 'boolean', ...describe(description) },
    'true or false',
    (value): value is boolean => typeof value === 'boolean',
  );
}

/** A function, which only code can pass. */
export function callback<T>(): Shape<T> {
  return leaf({ not: {} }, 'a function', (value): value is T => typeof value === 'function');
}

/** An object of this class. */
export function instanceOf<T>(type: abstract new (...values: never) => T, expected: string): Shape<T> {
  return leaf({ not: {} }, expected, (value): value is T => value instanceof type);
}

/** One of these strings. */
export function word<const Words extends readonly string[]>(
  words: Words,
  description?: string,
  expected = `one of ${words.join(', ')}`,
): Shape<Words[number]> {
  return {
    schema: { enum: words, ...describe(description) },
    expected,
    read(value, path = []) {
      const found = words.find((each) => each === value);
      if (found !== undefined) return { value: found };
      return { faults: [{ path, kind: 'word', expected, value, known: words }] };
    },
  };
}

/** A value that `accepts` recognizes. */
export function leaf<T>(
  schema: JsonSchema,
  expected: string,
  accepts: (value: unknown) => value is T,
): Shape<T> {
  return {
    schema,
    expected,
    read: (value, path = []) => (accepts(value) ? { value } : refuse(path, expected, value)),
  };
}

/**
 * A string that `accepts` recognizes. `explain` returns the predicate of the message about another one: `must begin with a slash`.
 */
export function textLike<T extends string>(
  schema: JsonSchema,
  accepts: (value: string) => value is T,
  explain: (value: string) => string,
  { min = 0, expected = 'text' }: Pick<TextRules, 'min' | 'expected'> = {},
): Shape<T> {
  return {
    schema: { type: 'string', ...schema },
    expected,
    read(value, path = []) {
      if (typeof value !== 'string' || value.length < min) return refuse(path, expected, value);
      return accepts(value) ? { value } : { faults: [createFault(path, explain(value))] };
    },
  };
}

/** The rules of an array. */
interface ListRules {
  /** The noun phrase in messages. Default: `an array`. */
  readonly expected?: string;
  readonly min?: number;
  readonly max?: number;
  /** Further keywords of the schema. */
  readonly schema?: JsonSchema;
}

/** An array of values of one shape, none of which is there twice. `code` is the code of the fault if one is. */
export function uniqueListOf<T extends string | number>(
  shape: Shape<T>,
  description?: string,
  { code, ...rules }: ListRules & { readonly code?: string } = {},
): Shape<readonly T[]> {
  return refine(
    listOf(shape, description, rules),
    (values, path) =>
      values.flatMap((value, at) =>
        values.indexOf(value) < at ? [createFault([...path, at], `${value} is listed twice`, code)] : [],
      ),
    { uniqueItems: true },
  );
}

/** An array of values of one shape. */
export function listOf<T>(
  shape: Shape<T>,
  description?: string,
  { expected = 'an array', min = 0, max = Infinity, schema = {} }: ListRules = {},
): Shape<readonly T[]> {
  const bounds = { ...(min > 0 && { minItems: min }), ...(max < Infinity && { maxItems: max }) };
  return {
    get schema() {
      return { type: 'array', items: shape.schema, ...bounds, ...schema, ...describe(description) };
    },
    expected,
    read(value, path = []) {
      if (!Array.isArray(value) || value.length < min || value.length > max)
        return refuse(path, expected, value);
      return join(
        value.map((each: unknown, index) => shape.read(each, [...path, index])),
        (values) => values,
      );
    },
  };
}

/** The rules of an object with any names. */
interface MapRules {
  /** The schema of the names. Default: any. */
  readonly names?: JsonSchema;
  /** Returns the faults of a name. Default: none. */
  readonly checkName?: (name: string, path: ShapePath) => readonly ShapeFault[];
  /** The noun phrase in messages. Default: `an object`. */
  readonly expected?: string;
  /** Whether a Map with names that are strings is read, too. Default: false. */
  readonly orMap?: boolean;
}

/** An object with any names, whose values have one shape. */
export function mapOf<T>(
  shape: Shape<T>,
  description?: string,
  { names, checkName = () => [], expected = 'an object', orMap = false }: MapRules = {},
): Shape<Readonly<Record<string, T>>> {
  return {
    get schema() {
      return {
        type: 'object',
        ...(names !== undefined && { propertyNames: names }),
        additionalProperties: shape.schema,
        ...describe(description),
      };
    },
    expected,
    read(value, path = []) {
      const members = orMap && value instanceof Map ? readMap(value) : readEntries(value);
      if (members === undefined) return refuse(path, expected, value);
      const read = join(
        members.map(([name, each]) => readMember(name, shape, each, path)),
        (entries) => Object.fromEntries(entries),
      );
      const faults = members.flatMap(([name]) => checkName(name, [...path, name]));
      if (faults.length === 0) return read;
      return { faults: 'faults' in read ? [...faults, ...read.faults] : faults };
    },
  };
}

/** A value of either shape. `one` is tried first. If neither fits, the faults are those of the shape whose kind the value has. */
export function either<One, Other>(
  one: Shape<One>,
  other: Shape<Other>,
  description?: string,
): Shape<One | Other> {
  return {
    get schema() {
      return { anyOf: [one.schema, other.schema], ...describe(description) };
    },
    expected: `${one.expected} or ${other.expected}`,
    read(value, path = []) {
      const first = one.read(value, path);
      if ('value' in first) return first;
      const second = other.read(value, path);
      if ('value' in second) return second;
      return isOfOtherKind(second, path) && !isOfOtherKind(first, path) ? first : second;
    },
  };
}

function isOfOtherKind({ faults }: { readonly faults: readonly ShapeFault[] }, path: ShapePath): boolean {
  return faults.some(
    (fault) =>
      fault.path.length === path.length &&
      (fault.kind === 'type' || (fault.kind === 'word' && typeof fault.value !== 'string')),
  );
}

/** The rules of an object. */
interface ObjectRules {
  /** The noun phrase in messages. Default: `an object`. */
  readonly expected?: string;
  /** What a member is, for messages about unknown ones: `a key of a collection`. Default: a member. */
  readonly member?: string;
  /** Whether other members are ignored, unless their names resemble a known one. Default: false. */
  readonly ignoresOthers?: boolean;
  /** Further keywords of the schema. */
  readonly schema?: JsonSchema;
}

/** An object with these members and no others. */
export function object<const M extends MemberShapes>(
  members: M,
  description?: string,
  { expected = 'an object', member, ignoresOthers = false, schema = {} }: ObjectRules = {},
): Shape<MembersRead<M>> {
  const shapes = new Map(Object.entries(members));
  const required = [...shapes].flatMap(([name, shape]) => ('optional' in shape ? [] : [name]));
  const isComplete = (values: object): values is MembersRead<M> =>
    required.every((name) => Object.hasOwn(values, name));
  const readNamed = (name: string, value: unknown, path: ShapePath): ShapeResult<[string, unknown]> => {
    const shape = shapes.get(name);
    if (shape !== undefined)
      return readMember(name, 'optional' in shape ? shape.optional : shape, value, path);
    const known = [...shapes.keys()];
    if (ignoresOthers && findClosestMatch(name, known) === undefined) return { value: [name, value] };
    return { faults: [{ path: [...path, name], kind: 'unknown', known, member }] };
  };
  return {
    get schema() {
      const properties = Object.fromEntries([...shapes].map(([name, each]) => [name, readSchema(each)]));
      return {
        type: 'object',
        properties,
        ...(required.length > 0 && { required }),
        additionalProperties: false,
        ...schema,
        ...describe(description),
      };
    },
    expected,
    read(value, path = []) {
      const given = readMembers(value);
      if (given === undefined) return refuse(path, expected, value);
      const read = join(
        given.map(([name, each]) => readNamed(name, each, path)),
        (entries) => Object.fromEntries(entries),
      );
      const missing = required
        .filter((name) => !given.some(([each]) => each === name))
        .map(
          (name): ShapeFault => ({
            path: [...path, name],
            kind: 'missing',
            expected: readExpected(shapes.get(name)),
          }),
        );
      if ('faults' in read) return { faults: [...read.faults, ...missing] };
      if (isComplete(read.value)) return { value: read.value };
      return { faults: missing };
    },
  };
}

/** Returns whether a value is a list, where it can be an object instead. */
export function isList<T>(value: object | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}

/** The members of an object by name. */
export type Members = Readonly<Record<string, unknown>>;

/** An object with any members, which are read later. */
export const anyMembers: Shape<Members> = mapOf(anything);

/** An object with members of these names and no others, whose values are read later. */
export function membersOf(names: readonly string[]): Shape<Members> {
  return object(Object.fromEntries(names.map((name) => [name, optional(anything)])));
}

/** Returns the members with these names. */
export function selectMembers(members: Members, names: readonly string[]): Members {
  return Object.fromEntries(Object.entries(members).filter(([name]) => names.includes(name)));
}

/** A value that is `fallback` if it is undefined. */
export function defaulted<T>(shape: Shape<T>, fallback: T): Shape<T> {
  return {
    ...shape,
    read: (value, path) => (value === undefined ? { value: fallback } : shape.read(value, path)),
  };
}

/** A value that must also follow a rule. `check` returns its faults, each with a path that begins with `path`. */
export function refine<T>(
  shape: Shape<T>,
  check: (value: T, path: ShapePath) => readonly ShapeFault[],
  schema: JsonSchema = {},
): Shape<T> {
  return {
    get schema() {
      return { ...shape.schema, ...schema };
    },
    expected: shape.expected,
    read(value, path = []) {
      const read = shape.read(value, path);
      if ('faults' in read) return read;
      const faults = check(read.value, path);
      return faults.length === 0 ? read : { faults };
    },
  };
}

/** A value with a grammar of its own. `parse` throws RangeError with a message in which `what` names the value. */
export function grammar<T>(
  schema: JsonSchema,
  expected: string,
  parse: (value: unknown, what: string) => T,
): Shape<T> {
  return {
    schema,
    expected,
    read(value, path = []) {
      const parsed: ShapeResult<T>[] = [];
      const faults = findFault(path, (what) => parsed.push({ value: parse(value, what) }));
      return parsed[0] ?? { faults };
    },
  };
}

/** One of several shapes, which `choose` selects by the value. */
export function variants<T>(
  shapes: readonly Shape<T>[],
  choose: (value: unknown) => Shape<T>,
  description?: string,
): Shape<T> {
  return {
    get schema() {
      return { oneOf: shapes.map(({ schema }) => schema), ...describe(description) };
    },
    expected: shapes[0]?.expected ?? '',
    read: (value, path) => choose(value).read(value, path),
  };
}

/** A shape that contains itself. Its schema refers to a definition, whose schema is that of `create()`. */
export function recursive<T>(definition: string, create: () => Shape<T>, expected = 'an object'): Shape<T> {
  return {
    schema: { $ref: `#/$defs/${definition}` },
    expected,
    read: (value, path) => create().read(value, path),
  };
}

/** Adds keywords to the schema of a shape. */
export function addKeywords<T>(shape: Shape<T>, keywords: JsonSchema): Shape<T> {
  return refine(shape, () => [], keywords);
}

/** A value that is converted once it is read. */
export function convert<T, Converted>(shape: Shape<T>, change: (value: T) => Converted): Shape<Converted> {
  return {
    get schema() {
      return shape.schema;
    },
    expected: shape.expected,
    read(value, path) {
      const read = shape.read(value, path);
      return 'faults' in read ? read : { value: change(read.value) };
    },
  };
}

function readSchema(shape: Shape<unknown> | Optional<unknown>): JsonSchema {
  return 'optional' in shape ? shape.optional.schema : shape.schema;
}

function readExpected(shape: Shape<unknown> | Optional<unknown> | undefined): string {
  return shape === undefined || 'optional' in shape ? '' : shape.expected;
}

function readMember<T>(
  name: string,
  shape: Shape<T>,
  value: unknown,
  path: ShapePath,
): ShapeResult<[string, T]> {
  const read = shape.read(value, [...path, name]);
  return 'faults' in read ? read : { value: [name, read.value] };
}

/** Returns the members of an object that are not undefined; undefined for any other value. */
function readMembers(value: unknown): [string, unknown][] | undefined {
  return readEntries(value)?.filter(([, member]) => member !== undefined);
}

function readEntries(value: unknown): [string, unknown][] | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value)
    : undefined;
}

function readMap(value: ReadonlyMap<unknown, unknown>): [string, unknown][] | undefined {
  const members = [...value].filter((member): member is [string, unknown] => typeof member[0] === 'string');
  return members.length === value.size ? members : undefined;
}

/** Joins results to one: that of all values, or all faults. */
function join<T, Joined>(
  results: readonly ShapeResult<T>[],
  create: (values: readonly T[]) => Joined,
): ShapeResult<Joined> {
  const values: T[] = [];
  const faults: ShapeFault[] = [];
  for (const result of results)
    if ('faults' in result) faults.push(...result.faults);
    else values.push(result.value);
  return faults.length > 0 ? { faults } : { value: create(values) };
}

function refuse(path: ShapePath, expected: string, value: unknown): ShapeResult<never> {
  return { faults: [{ path, kind: 'type', expected, value }] };
}

function describe(description: string | undefined): JsonSchema {
  return description === undefined ? {} : { description };
}
