/** A set of characters: those of its ranges and categories, or, negated, all others. */
export interface CharacterClass {
  readonly negated: boolean;
  /** First and last code point, both included. */
  readonly ranges: readonly (readonly [number, number])[];
  /** Each tells of a single character whether it belongs. */
  readonly categories: readonly RegExp[];
}

type Ranges = CharacterClass['ranges'];

/** `\d` */
export const digits: Ranges = [[0x30, 0x39]];
/** `\w` */
export const wordCharacters: Ranges = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
/** `\s`, as ECMAScript has it: WhiteSpace and LineTerminator. */
export const spaces: Ranges = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];

const categoryNames: ReadonlySet<string> = new Set(
  'L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps Z Zl Zp Zs S Sc Sk Sm So C Cc Cf Cn Co'.split(
    ' ',
  ),
);

/**
 * What tells of a single character whether it is in a general category of Unicode, or in its complement; undefined
 * for a name that I-Regexp does not have (RFC 9485 §3, IsCategory). Made on demand: the tables are large.
 */
export function categoryOf(name: string, complement: boolean): RegExp | undefined {
  if (!categoryNames.has(name)) return undefined;
  return new RegExp(`^\\${complement ? 'P' : 'p'}{${name}}$`, 'u');
}

/** Whether the character with this code point belongs to the class. */
export function includes(of: CharacterClass, code: number): boolean {
  for (const [first, last] of of.ranges) {
    if (code >= first && code <= last) return !of.negated;
  }
  if (of.categories.length > 0) {
    const character = String.fromCodePoint(code);
    for (const category of of.categories) {
      if (category.test(character)) return !of.negated;
    }
  }
  return of.negated;
}
