/** A set of characters: those in its ranges and categories or, if negated, all others. */
export interface CharacterClass {
  readonly negated: boolean;
  /** First and last code point, both inclusive. */
  readonly ranges: readonly (readonly [number, number])[];
  /** Each matches a single character in a category. */
  readonly categories: readonly RegExp[];
}

type Ranges = CharacterClass['ranges'];

/** The class `\d`. */
export const digits: Ranges = [[0x30, 0x39]];
/** The class `\w`. */
export const wordCharacters: Ranges = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
/** The class `\s`, the WhiteSpace and LineTerminator of ECMAScript. */
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
 * Returns an expression that matches a single character in a Unicode general category or in its complement;
 * undefined for a name that I-Regexp does not define (RFC 9485 §3, IsCategory). Compiled on demand, because
 * the tables are large.
 */
export function compileCategory(name: string, negated: boolean): RegExp | undefined {
  return categoryNames.has(name) ? compileProperty(name, negated) : undefined;
}

/**
 * Returns an expression that matches a single character with a property of Unicode (ECMA-262, UnicodePropertyValueExpression), or one
 * without it; undefined for a name that the host does not know.
 * @param name `Lu`, `Letter`, `Script=Greek`
 */
export function compileProperty(name: string, negated: boolean): RegExp | undefined {
  if (!/^[A-Za-z0-9_]+(?:=[A-Za-z0-9_]+)?$/.test(name)) return undefined;
  try {
    return new RegExp(`^\\${negated ? 'P' : 'p'}{${name}}$`, 'u');
  } catch {
    return undefined;
  }
}

/** Returns the ranges of all characters that are not in these, which are in ascending order. */
export function complement(ranges: Ranges): Ranges {
  const starts = [0, ...ranges.map(([, last]) => last + 1)];
  const ends = [...ranges.map(([first]) => first - 1), 0x10ffff];
  return starts.map((start, index): [number, number] => [start, ends[index] ?? 0x10ffff]);
}

/** Returns whether the class contains the code point. */
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
