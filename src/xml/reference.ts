import { isCharacter } from './characters.ts';

/** What a reference stands for: a string, or what is wrong with it. */
export type Reference =
  | { readonly value: string }
  | { readonly code: 'reference' | 'undeclared-entity' | 'character-reference'; readonly expected: string };

// XML 1.0 §4.6: the five that need no declaration. A Map, because a client chooses what is looked up.
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['apos', "'"],
  ['quot', '"'],
]);

const NUMBER = /^#(?:[0-9]+|x[0-9A-Fa-f]+)$/;
const LAST_CODE_POINT = 0x10ffff;

/** What `name` stands for, the text between `&` and `;` (XML 1.0 §4.1 [66] to [68]). */
export function dereference(name: string): Reference {
  if (!name.startsWith('#')) {
    const value = ENTITIES.get(name);
    return value === undefined ? { code: 'undeclared-entity', expected: FIVE } : { value };
  }
  if (!NUMBER.test(name)) return { code: 'reference', expected: 'a number, as in "&#65;" or "&#x41;"' };
  const point = codePoint(name);
  if (!isCharacter(point))
    return { code: 'character-reference', expected: 'the number of a character of XML' };
  return { value: String.fromCodePoint(point) };
}

const FIVE = 'one of &lt; &gt; &amp; &apos; &quot; or the number of a character';

/** The number, or anything above U+10FFFF; read digit by digit because it may be of any length. */
function codePoint(name: string): number {
  const base = name[1] === 'x' ? 16 : 10;
  let point = 0;
  for (let index = base === 16 ? 2 : 1; index < name.length && point <= LAST_CODE_POINT; index++) {
    point = point * base + Number.parseInt(name.charAt(index), base);
  }
  return point;
}
