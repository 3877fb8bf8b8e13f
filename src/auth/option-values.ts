import { didYouMean } from '../did-you-mean.ts';
import { isToken } from '../http/syntax/token.ts';

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

/** Returns true or false; `fallback` if the value is undefined. Throws RangeError otherwise. */
export function readFlag(value: unknown, where: string, fallback: boolean): boolean {
  if (value === undefined) return fallback;
  if (typeof value !== 'boolean') throw new RangeError(`${where}: true or false is expected`);
  return value;
}

/** The maximum window (s): one day. */
export const maxWindow = 86_400;

/** Returns a window in seconds; `fallback` if the value is undefined. Throws RangeError otherwise. */
export function readWindow(value: unknown, where: string, fallback: number): number {
  if (value === undefined) return fallback;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > maxWindow)
    throw new RangeError(`${where}: a whole number of seconds from 1 to ${maxWindow} is expected`);
  return value;
}

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

/** Returns an object with the member `field` alone. Throws RangeError otherwise. */
export function readFieldPlace(value: unknown, where: string): { readonly field: string } {
  const { field } = readMembers(value, where, ['field']);
  return { field: readFieldName(field, `${where}.field`) };
}
