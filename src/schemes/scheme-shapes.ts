import { userNameFault } from '../accounts/user-name.ts';
import { type Duration, durationForm, readDuration } from '../duration.ts';
import { isToken } from '../http/syntax/token.ts';
import { seconds } from '../shape/duration.ts';
import {
  grammar,
  type JsonSchema,
  leaf,
  membersOf,
  object,
  read,
  type Shape,
  text,
  textLike,
} from '../shape/shape.ts';

/** Options as declared, none of which is left out. */
export type Complete<Declared> = {
  readonly [Name in keyof Declared]-?: Exclude<Declared[Name], undefined>;
};

/** The maximum window (s): one day. */
export const maxWindow = 86_400;

/** Describes a window: whole seconds, or text such as `5m`. It is read as seconds. */
export const windowShape = seconds({ min: 1, max: maxWindow });

/** Describes a window that may have a fraction of a second. It is read as written. */
export const fractionalWindowShape = leaf(
  {
    description: 'seconds, or a duration such as 90s or 5m',
    anyOf: [
      { type: 'number', exclusiveMinimum: 0, maximum: maxWindow },
      { type: 'string', pattern: durationForm.source },
    ],
  },
  `a number of seconds up to ${maxWindow} or text such as 5m`,
  (value): value is Duration => {
    const ms = readDuration(value, 1000) ?? 0;
    return ms > 0 && ms <= maxWindow * 1000;
  },
);

/** Describes a text that is not empty. */
export const filledText = text(undefined, { min: 1 });

/** Describes a field name, a token (RFC 9110 §5.6.2). It is read as written. */
export const fieldNameShape: Shape<string> = textLike(
  { pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" },
  (name): name is string => isToken(name),
  (name) => `must be a field name, is ${JSON.stringify(name)}`,
  { min: 1, expected: 'a field name' },
);

/** Describes a field name for which `findFault` returns no fault, such as `Cookie cannot contain an API key`. */
export function permittedNameShape(findFault: (name: string) => string | undefined): Shape<string> {
  return grammar(fieldNameShape.schema, fieldNameShape.expected, (value, where) => {
    const name = read(fieldNameShape, value, [where]);
    const fault = findFault(name);
    if (fault !== undefined) throw new RangeError(`${where}: ${fault}`);
    return name;
  });
}

/** The schemes of Authorization that are built in, in lower case. */
const builtInNames: readonly string[] = ['aws4-hmac-sha256', 'basic', 'bearer', 'digest', 'hmac', 'oauth'];

/** Returns the fault of a name in Authorization that is that of a built-in scheme, other than those that can be replaced. */
export function builtInFault(name: string, replaceable: readonly string[] = []): string | undefined {
  const lower = name.toLowerCase();
  const isTaken = builtInNames.includes(lower) && !replaceable.includes(lower);
  return isTaken ? `the scheme ${name} is built in` : undefined;
}

/** Describes the name of a parameter of the query that needs no percent-encoding. */
export const parameterNameShape: Shape<string> = textLike(
  { pattern: '^[A-Za-z0-9_.~-]+$' },
  (name): name is string => /^[\w.~-]+$/.test(name),
  () => 'must be the name of a parameter that needs no percent-encoding',
  { min: 1, expected: 'the name of a parameter' },
);

/** Describes an object with the member `field` alone. */
export const fieldPlaceShape = object({ field: fieldNameShape });

/** A place: an object with one of these members. */
type PlaceOf<Name extends string> = { readonly [Own in Name]: { readonly [Only in Own]: string } }[Name];

/** Describes a place: an object with one of these members, and no other. */
export function placeShape<Name extends string>(
  members: Readonly<Record<Name, Shape<string>>>,
  description?: string,
): Shape<PlaceOf<Name>> {
  const shapes = new Map<string, Shape<string>>(Object.entries(members));
  const names = [...shapes.keys()];
  const isPlace = (place: object): place is PlaceOf<Name> => names.some((name) => Object.hasOwn(place, name));
  const schema = description === undefined ? {} : { description };
  return grammar({ ...schema, ...describePlaces(members) }, 'an object', (value, where) => {
    const given = read(membersOf(names), value, [where]);
    const [first, another] = [...shapes].filter(([name]) => given[name] !== undefined);
    const place = first && { [first[0]]: read(first[1], given[first[0]], [`${where}.${first[0]}`]) };
    if (place !== undefined && another === undefined && isPlace(place)) return place;
    throw new RangeError(`${where} must have one of ${names.join(', ')}`);
  });
}

/** Describes the user of a scheme: its name, or the place where requests name it. */
export function userShape<Place>(place: Shape<Place>, description: string): Shape<Place | string> {
  const schema = { description, anyOf: [filledText.schema, place.schema] };
  return grammar(schema, 'a user', (value, where) => {
    if (typeof value !== 'string') return read(place, value, [where]);
    const fault = userNameFault(value);
    if (fault !== undefined) throw new RangeError(`${where}: ${fault}`);
    return value;
  });
}

/** Returns the schema of an object with one of these members, and further optional ones. */
export function describePlaces(
  places: Readonly<Record<string, Pick<Shape<unknown>, 'schema'>>>,
  further: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema {
  const schemas = Object.entries(places).map(([name, { schema }]) => ({
    type: 'object',
    properties: { [name]: schema, ...further },
    additionalProperties: false,
    required: [name],
  }));
  const [only] = schemas;
  return schemas.length === 1 && only !== undefined ? only : { oneOf: schemas };
}
