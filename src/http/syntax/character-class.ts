// Classes of octets in a table, one look-up each.

/** The lower-case letters of ASCII. */
export const lowerLetters = 'abcdefghijklmnopqrstuvwxyz';

/** The letters of ASCII. */
export const letters = lowerLetters + lowerLetters.toUpperCase();

/** The decimal digits. */
export const digits = '0123456789';

/** The classes of each octet, as bits. */
type CharacterClasses = Uint8Array;

/** Creates a table from the characters of each class. A character may be in several. */
export function createClasses(
  ...classes: readonly (readonly [characters: string, bits: number])[]
): CharacterClasses {
  const table = new Uint8Array(256);
  for (const [characters, bits] of classes)
    for (const character of characters) {
      const code = character.charCodeAt(0);
      table[code] = (table[code] ?? 0) | bits;
    }
  return table;
}

/** Returns whether a character is of one of the classes. */
export function isOf(table: CharacterClasses, code: number, bits: number): boolean {
  return ((table[code] ?? 0) & bits) !== 0;
}

/** Returns where the characters of a class that begin at `start` end, or `limit`. */
export function runEnd(
  table: CharacterClasses,
  bits: number,
  text: string,
  start: number,
  limit: number = text.length,
): number {
  let end = start;
  while (end < limit && isOf(table, text.charCodeAt(end), bits)) end += 1;
  return end;
}

/** Returns the source of a regular expression that matches a text literally. */
export function escapeLiteral(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
