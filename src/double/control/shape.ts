import { Problem } from '../../http/problem.ts';
import { kindOf } from '../../schema/error.ts';
import type { JsonSchema } from '../../service/openapi/document.ts';

/** Describes a JSON value by its schema, and validates it. */
export interface Shape<T> {
  readonly schema: JsonSchema;
  /**
   * Returns the value with its type. Throws a Problem `invalid-content` that names the path, such as `faults.times`, if the
   * value does not match.
   */
  read(value: unknown, at: string): T;
}

/** An optional member. */
export interface Optional<T> {
  readonly optional: Shape<T>;
}

/** The members of an object. */
export type MemberShapes = Readonly<Record<string, Shape<unknown> | Optional<unknown>>>;

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
export const anything: Shape<unknown> = { schema: {}, read: (value) => value };

/** A string. `description` is the description in its schema. */
export function text(description?: string): Shape<string> {
  return {
    schema: { type: 'string', ...describedBy(description) },
    read: (value, at) => (typeof value === 'string' ? value : wrong(value, at, 'text')),
  };
}

/** A number from `least` to `most`, both inclusive. An integer unless `whole` is false. */
export function number(
  { least, most, whole = true }: { least?: number; most?: number; whole?: boolean },
  description?: string,
): Shape<number> {
  const bounds = {
    ...(least !== undefined && { minimum: least }),
    ...(most !== undefined && { maximum: most }),
  };
  const fits = (value: number): boolean =>
    (!whole || Number.isInteger(value)) && value >= (least ?? -Infinity) && value <= (most ?? Infinity);
  const range = `${least === undefined ? '' : ` from ${least}`}${most === undefined ? '' : ` to ${most}`}`;
  return {
    schema: { type: whole ? 'integer' : 'number', ...bounds, ...describedBy(description) },
    read: (value, at) =>
      typeof value === 'number' && fits(value)
        ? value
        : wrong(value, at, `${whole ? 'an integer' : 'a number'}${range}`),
  };
}

/** A boolean. */
export function flag(description?: string): Shape<boolean> {
  return {
    schema: { type: 'boolean', ...describedBy(description) },
    read: (value, at) => (typeof value === 'boolean' ? value : wrong(value, at, 'true or false')),
  };
}

/** One of these strings. */
export function word<const Words extends readonly string[]>(
  words: Words,
  description?: string,
): Shape<Words[number]> {
  return {
    schema: { enum: words, ...describedBy(description) },
    read: (value, at) =>
      words.find((each) => each === value) ?? wrong(value, at, `one of ${words.join(', ')}`),
  };
}

/** An array of values of one shape. */
export function listOf<T>(shape: Shape<T>, description?: string): Shape<readonly T[]> {
  return {
    schema: { type: 'array', items: shape.schema, ...describedBy(description) },
    read: (value, at) =>
      Array.isArray(value)
        ? value.map((each: unknown, index) => shape.read(each, `${at}[${index}]`))
        : wrong(value, at, 'an array'),
  };
}

/** An object with any names, whose values have one shape. */
export function mapOf<T>(shape: Shape<T>, description?: string): Shape<Readonly<Record<string, T>>> {
  return {
    schema: { type: 'object', additionalProperties: shape.schema, ...describedBy(description) },
    read: (value, at) =>
      Object.fromEntries(
        membersOf(value, at).map(([name, each]) => [name, shape.read(each, `${at}.${name}`)]),
      ),
  };
}

/** A value of either shape. `one` is tried first. If neither fits, the error is that of `one` if the value has its type. */
export function either<One, Other>(
  one: Shape<One>,
  other: Shape<Other>,
  description?: string,
): Shape<One | Other> {
  return {
    schema: { anyOf: [one.schema, other.schema], ...describedBy(description) },
    read(value, at) {
      try {
        return one.read(value, at);
      } catch (error) {
        if (one.schema['type'] === 'string' && typeof value === 'string' && other.schema['type'] !== 'string')
          throw error;
        return other.read(value, at);
      }
    },
  };
}

/** An object with these members and no others. */
export function object<const M extends MemberShapes>(
  members: M,
  description?: string,
): Shape<MembersRead<M>> {
  const shapes = new Map(Object.entries(members));
  const required = [...shapes].flatMap(([name, shape]) => ('optional' in shape ? [] : [name]));
  const properties = Object.fromEntries([...shapes].map(([name, shape]) => [name, shapeOf(shape).schema]));
  const isComplete = (values: object): values is MembersRead<M> =>
    required.every((name) => Object.hasOwn(values, name));
  return {
    schema: {
      type: 'object',
      properties,
      ...(required.length > 0 && { required }),
      additionalProperties: false,
      ...describedBy(description),
    },
    read(value, at) {
      const values = Object.fromEntries(
        membersOf(value, at).map(([name, each]) => {
          const shape = shapes.get(name);
          if (shape === undefined)
            throw invalid(
              memberPath(at, name),
              `is not a known member; the members are ${[...shapes.keys()].join(', ')}`,
            );
          return [name, shapeOf(shape).read(each, memberPath(at, name))];
        }),
      );
      if (isComplete(values)) return values;
      const missing = required.find((name) => !Object.hasOwn(values, name)) ?? '';
      throw invalid(memberPath(at, missing), 'is missing');
    },
  };
}

/** Returns the problem of content that is invalid at `field`, the path of a member. */
export function invalid(field: string, why: string): Problem {
  return new Problem('invalid-content', `${field === '' ? 'The content' : field} ${why}.`, {
    members: field === '' ? {} : { field },
  });
}

function shapeOf<T>(shape: Shape<T> | Optional<T>): Shape<T> {
  return 'optional' in shape ? shape.optional : shape;
}

function membersOf(value: unknown, at: string): [string, unknown][] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return Object.entries(value);
  return wrong(value, at, 'an object');
}

function memberPath(at: string, name: string): string {
  return at === '' ? name : `${at}.${name}`;
}

function wrong(value: unknown, at: string, expected: string): never {
  throw invalid(at, `must be ${expected}, is ${kindOf(value)}`);
}

function describedBy(description: string | undefined): JsonSchema {
  return description === undefined ? {} : { description };
}
