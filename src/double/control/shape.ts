import { Problem } from '../../http/problem.ts';
import { kindOf } from '../../schema/error.ts';

/** A schema of JSON Schema 2020-12, as it stands in an OpenAPI document. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** What a value of JSON has to be: how that is told, and how it is read. */
export interface Shape<T> {
  readonly schema: JsonSchema;
  /** Gives the value as what it is. Throws the Problem `invalid-content` naming the place, `faults.times`, where it is something else. */
  read(value: unknown, at: string): T;
}

/** A member that may be left out. */
export interface Optional<T> {
  readonly optional: Shape<T>;
}

/** The members of an object. */
export type MemberShapes = Readonly<Record<string, Shape<unknown> | Optional<unknown>>>;

type RequiredNames<M extends MemberShapes> = {
  [Name in keyof M]: M[Name] extends Optional<unknown> ? never : Name;
}[keyof M];

/** What an object of such members is read as. */
export type MembersRead<M extends MemberShapes> = {
  readonly [Name in RequiredNames<M>]: M[Name] extends Shape<infer T> ? T : never;
} & {
  readonly [Name in Exclude<keyof M, RequiredNames<M>>]?: M[Name] extends Optional<infer T> ? T : never;
};

/** That a member may be left out. */
export function optional<T>(shape: Shape<T>): Optional<T> {
  return { optional: shape };
}

/** Any value. */
export const anything: Shape<unknown> = { schema: {}, read: (value) => value };

/** Text; `about` says of what. */
export function text(about?: string): Shape<string> {
  return {
    schema: { type: 'string', ...told(about) },
    read: (value, at) => (typeof value === 'string' ? value : wrong(value, at, 'text')),
  };
}

/** A number from `least` to `most`, whole unless said otherwise. */
export function number(
  { least, most, whole = true }: { least?: number; most?: number; whole?: boolean },
  about?: string,
): Shape<number> {
  const bounds = {
    ...(least !== undefined && { minimum: least }),
    ...(most !== undefined && { maximum: most }),
  };
  const fits = (value: number): boolean =>
    (!whole || Number.isInteger(value)) && value >= (least ?? -Infinity) && value <= (most ?? Infinity);
  const range = `${least === undefined ? '' : ` from ${least}`}${most === undefined ? '' : ` to ${most}`}`;
  return {
    schema: { type: whole ? 'integer' : 'number', ...bounds, ...told(about) },
    read: (value, at) =>
      typeof value === 'number' && fits(value)
        ? value
        : wrong(value, at, `a ${whole ? 'whole ' : ''}number${range}`),
  };
}

/** True or false. */
export function flag(about?: string): Shape<boolean> {
  return {
    schema: { type: 'boolean', ...told(about) },
    read: (value, at) => (typeof value === 'boolean' ? value : wrong(value, at, 'true or false')),
  };
}

/** One of these words. */
export function word<const Words extends readonly string[]>(
  words: Words,
  about?: string,
): Shape<Words[number]> {
  return {
    schema: { enum: words, ...told(about) },
    read: (value, at) =>
      words.find((each) => each === value) ?? wrong(value, at, `one of ${words.join(', ')}`),
  };
}

/** A list of what fits the shape. */
export function listOf<T>(shape: Shape<T>, about?: string): Shape<readonly T[]> {
  return {
    schema: { type: 'array', items: shape.schema, ...told(about) },
    read: (value, at) =>
      Array.isArray(value)
        ? value.map((each: unknown, index) => shape.read(each, `${at}[${index}]`))
        : wrong(value, at, 'a list'),
  };
}

/** An object of any names, with values that fit the shape. */
export function mapOf<T>(shape: Shape<T>, about?: string): Shape<Readonly<Record<string, T>>> {
  return {
    schema: { type: 'object', additionalProperties: shape.schema, ...told(about) },
    read: (value, at) =>
      Object.fromEntries(
        membersOf(value, at).map(([name, each]) => [name, shape.read(each, `${at}.${name}`)]),
      ),
  };
}

/** What fits the one shape or the other, the one being tried first. */
export function either<One, Other>(one: Shape<One>, other: Shape<Other>, about?: string): Shape<One | Other> {
  return {
    schema: { anyOf: [one.schema, other.schema], ...told(about) },
    read(value, at) {
      try {
        return one.read(value, at);
      } catch {
        return other.read(value, at);
      }
    },
  };
}

/** An object of these members and no others. */
export function object<const M extends MemberShapes>(members: M, about?: string): Shape<MembersRead<M>> {
  const shapes = new Map(Object.entries(members));
  const required = [...shapes].flatMap(([name, shape]) => ('optional' in shape ? [] : [name]));
  const properties = Object.fromEntries([...shapes].map(([name, shape]) => [name, shapeOf(shape).schema]));
  const whole = (values: object): values is MembersRead<M> =>
    required.every((name) => Object.hasOwn(values, name));
  return {
    schema: {
      type: 'object',
      properties,
      ...(required.length > 0 && { required }),
      additionalProperties: false,
      ...told(about),
    },
    read(value, at) {
      const values = Object.fromEntries(
        membersOf(value, at).map(([name, each]) => {
          const shape = shapes.get(name);
          if (shape === undefined)
            throw invalid(placeOf(at, name), `is not known; known are ${[...shapes.keys()].join(', ')}`);
          return [name, shapeOf(shape).read(each, placeOf(at, name))];
        }),
      );
      if (whole(values)) return values;
      const missing = required.find((name) => !Object.hasOwn(values, name)) ?? '';
      throw invalid(placeOf(at, missing), 'is missing');
    },
  };
}

/** The refusal of content that is not what it has to be, at a place of it. */
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

function placeOf(at: string, name: string): string {
  return at === '' ? name : `${at}.${name}`;
}

function wrong(value: unknown, at: string, wanted: string): never {
  throw invalid(at, `must be ${wanted}, is ${kindOf(value)}`);
}

function told(about: string | undefined): JsonSchema {
  return about === undefined ? {} : { description: about };
}
