import { didYouMean } from '../did-you-mean.ts';
import { isToken } from '../http/syntax/token.ts';
import { seconds } from '../shape/duration.ts';
import { formatPath, type ShapeFault } from '../shape/fault.ts';
import { type JsonSchema, type Shape, text } from '../shape/shape.ts';

/** The members of a JSON object in a configuration, by name. */
export type Members = Readonly<Record<string, unknown>>;

/**
 * Returns the members of an object. Throws RangeError if the value is not an object, or has an unknown member.
 *
 * @param where The path of the value in the configuration, with which every message begins: `schemes.partner.timestamp`.
 * @param known The names that members may have. Default: any name.
 */
export function readMembers(value: unknown, where: string, known?: readonly string[]): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RangeError(`${where}: an object is expected`);
  for (const name of Object.keys(value)) {
    if (known?.includes(name) === false)
      throw new RangeError(`${where}.${name}: unknown key${didYouMean(name, known)}`);
  }
  return Object.fromEntries(Object.entries(value));
}

/**
 * Reads a value by its shape. Throws RangeError with the first fault.
 *
 * @param where The path of the value in the configuration, with which every message begins: `schemes.partner`.
 */
export function readShape<T>(shape: Shape<T>, value: unknown, where: string): T {
  const read = shape.read(value);
  if ('value' in read) return read.value;
  throw new RangeError(
    read.faults
      .slice(0, 1)
      .map((fault) => explain(fault, where))
      .join(),
  );
}

function explain(fault: ShapeFault, where: string): string {
  const at = formatPath([where, ...fault.path]);
  switch (fault.kind) {
    case 'unknown':
      return `${at}: unknown key${didYouMean(String(fault.path.at(-1)), fault.known)}`;
    case 'word': {
      const given = JSON.stringify(fault.value);
      const name = typeof fault.value === 'string' ? fault.value : given;
      return `${at}: ${given} is not known${didYouMean(name, fault.known)}`;
    }
    case 'rule':
      return fault.says(at);
    default: {
      const isPlural = /^[0-9]/.test(fault.expected);
      // A number of characters alone does not say that there are none.
      if (isPlural && fault.kind === 'missing') return `${at}: a value is required`;
      return `${at}: ${fault.expected} ${isPlural ? 'are' : 'is'} expected`;
    }
  }
}

/** Returns a text that is not empty, as a member with this description. */
export function filled(description?: string): Shape<string> {
  return text(description, { min: 1, expected: 'a text that is not empty' });
}

/** Returns true or false; `fallback` if the value is undefined. Throws RangeError otherwise. */
export function readFlag(value: unknown, where: string, fallback: boolean): boolean {
  if (value === undefined) return fallback;
  if (typeof value !== 'boolean') throw new RangeError(`${where}: true or false is expected`);
  return value;
}

/** The maximum window (s): one day. */
export const maxWindow = 86_400;

/** Describes a window: whole seconds, or text such as `5m`. It is read as seconds. */
export const windowShape = seconds({ min: 1, max: maxWindow });

/** Returns a text that is not empty. Throws RangeError otherwise. */
export function readText(value: unknown, where: string): string {
  if (typeof value !== 'string' || value === '')
    throw new RangeError(`${where}: a text that is not empty is expected`);
  return value;
}

/** Returns one of the known words; `fallback` if the value is undefined. Throws RangeError otherwise. */
export function readWord<Word extends string>(
  value: unknown,
  where: string,
  words: readonly Word[],
  fallback: Word,
): Word {
  if (value === undefined) return fallback;
  const word = words.find((known) => known === value);
  if (word !== undefined) return word;
  const unknown = typeof value === 'string' ? value : JSON.stringify(value);
  throw new RangeError(`${where}: ${JSON.stringify(value)} is not known${didYouMean(unknown, words)}`);
}

/** Returns a field name as written. Throws RangeError if it is not a token (RFC 9110 §5.1). */
export function readFieldName(value: unknown, where: string): string {
  const name = readText(value, where);
  if (!isToken(name)) throw new RangeError(`${where}: ${JSON.stringify(name)} is not a field name`);
  return name;
}

/** The schema of a field name: a token (RFC 9110 §5.6.2). */
export const fieldNameSchema: JsonSchema = { type: 'string', pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" };

/** The schema of the name of a parameter of the query. */
export const parameterNameSchema: JsonSchema = { type: 'string', pattern: '^[A-Za-z0-9_.~-]+$' };

/** Returns the name of a parameter of the query. Throws RangeError if it would be percent-encoded. */
export function readParameterName(value: unknown, where: string): string {
  const name = readText(value, where);
  if (/^[\w.~-]+$/.test(name)) return name;
  throw new RangeError(`${where}: the name of the parameter must not need percent-encoding`);
}

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

/** Returns an object with the member `field` alone. Throws RangeError otherwise. */
export function readFieldPlace(value: unknown, where: string): { readonly field: string } {
  const { field } = readMembers(value, where, ['field']);
  return { field: readFieldName(field, `${where}.field`) };
}
