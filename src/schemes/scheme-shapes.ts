import { isToken } from '../http/syntax/token.ts';
import { seconds } from '../shape/duration.ts';
import { type JsonSchema, object, type Shape, text, textLike } from '../shape/shape.ts';

/** Options as declared, none of which is left out. */
export type Complete<Declared> = {
  readonly [Name in keyof Declared]-?: Exclude<Declared[Name], undefined>;
};

/** The maximum window (s): one day. */
export const maxWindow = 86_400;

/** Describes a window: whole seconds, or text such as `5m`. It is read as seconds. */
export const windowShape = seconds({ min: 1, max: maxWindow });

/** Describes a text that is not empty. */
export const filledText = text(undefined, { min: 1 });

/** Describes a field name, a token (RFC 9110 §5.6.2). It is read as written. */
export const fieldNameShape: Shape<string> = textLike(
  { pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" },
  (name): name is string => isToken(name),
  (name) => `must be a field name, is ${JSON.stringify(name)}`,
  { min: 1, expected: 'a field name' },
);

/** Describes the name of a parameter of the query that needs no percent-encoding. */
export const parameterNameShape: Shape<string> = textLike(
  { pattern: '^[A-Za-z0-9_.~-]+$' },
  (name): name is string => /^[\w.~-]+$/.test(name),
  () => 'must be the name of a parameter that needs no percent-encoding',
  { min: 1, expected: 'the name of a parameter' },
);

/** Describes an object with the member `field` alone. */
export const fieldPlaceShape = object({ field: fieldNameShape });

/** Returns the schema of an object with one of these members, and further optional ones. */
export function describePlaces(
  places: Readonly<Record<string, JsonSchema>>,
  further: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema {
  const schemas = Object.entries(places).map(([name, schema]) => ({
    type: 'object',
    properties: { [name]: schema, ...further },
    additionalProperties: false,
    required: [name],
  }));
  const [only] = schemas;
  return schemas.length === 1 && only !== undefined ? only : { oneOf: schemas };
}
