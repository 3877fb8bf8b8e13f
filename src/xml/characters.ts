/**
 * Tables of the characters of XML 1.0 (fifth edition, §2.2 and §2.3).
 *
 * The parser reads *codes*: one byte for each UTF-16 unit of the text. An index into the codes is therefore
 * an index into the string. The code of an ASCII character is the character itself, so ASCII bytes are their
 * own codes. The code of any other unit states only whether the unit is legal, which is sufficient for text.
 * Names that contain such units are checked by the units themselves.
 */

/** The code of every legal unit above ASCII. */
export const WIDE = 0x80;
/** The code of U+FFFE and U+FFFF, which are not XML characters. */
export const WIDE_ILLEGAL = 0x81;
/** The first of the two illegal units above ASCII. */
export const FIRST_ILLEGAL = 0xfffe;

const TAB = 0x09;
export const LINE_FEED = 0x0a;
export const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
export const BANG = 0x21;
export const DOUBLE_QUOTE = 0x22;
export const HASH = 0x23;
export const AMPERSAND = 0x26;
export const SINGLE_QUOTE = 0x27;
export const HYPHEN = 0x2d;
export const SLASH = 0x2f;
const COLON = 0x3a;
export const SEMICOLON = 0x3b;
export const LESS_THAN = 0x3c;
export const EQUALS = 0x3d;
export const GREATER_THAN = 0x3e;
export const QUESTION = 0x3f;
export const SMALL_X = 0x78;
export const RIGHT_BRACKET = 0x5d;

/** The class of a code that needs no processing. */
export const CLEAN = 0;
/** The class of a code that ends a run of text or of an attribute value, or that must be examined. */
const STOP = 1;
/** The class of a code that is not an XML character. */
export const ILLEGAL = 2;

// NameStartChar (§2.3 [4]) above ASCII. Characters above U+FFFF are represented by surrogate pairs.
const NAME_START_RANGES: readonly (readonly [number, number])[] = [
  [0xc0, 0xd6],
  [0xd8, 0xf6],
  [0xf8, 0x2ff],
  [0x370, 0x37d],
  [0x37f, 0x1fff],
  [0x200c, 0x200d],
  [0x2070, 0x218f],
  [0x2c00, 0x2fef],
  [0x3001, 0xd7ff],
  [0xf900, 0xfdcf],
  [0xfdf0, 0xfffd],
];

// The characters that NameChar (§2.3 [4a]) adds.
const NAME_RANGES: readonly (readonly [number, number])[] = [
  [0xb7, 0xb7],
  [0x300, 0x36f],
  [0x203f, 0x2040],
];

// Surrogates. A pair that begins with U+DB80 or above encodes a character above U+EFFFF, which is not allowed
// in a name.
const FIRST_HIGH = 0xd800;
const FIRST_HIGH_IN_NO_NAME = 0xdb80;
const FIRST_LOW = 0xdc00;
const LAST_LOW = 0xdfff;

/**
 * The class of each UTF-16 unit: 3 if it may start a name, 1 if it may only continue one, else 0. A low
 * surrogate may always continue a name, because a high surrogate that may not occur in a name ends it first.
 */
export const NAME_UNITS: Uint8Array = nameUnits();

/**
 * The class of each code, as in {@link NAME_UNITS}. {@link WIDE} counts as a name start; the unit itself
 * decides.
 */
export const NAME: Uint8Array = names();

/** The value of each decimal or hexadecimal digit; {@link NO_DIGIT} for any other code. */
export const DIGIT: Uint8Array = digits();
export const NO_DIGIT = 255;

/** 1 for the four white-space characters (§2.3 [3]), else 0. */
export const BLANK: Uint8Array = markCodes([TAB, LINE_FEED, CARRIAGE_RETURN, SPACE], 1);

/** The codes that stop a run of text: markup, references, `]` (§2.4) and CR (§2.11). */
export const TEXT: Uint8Array = stops([LESS_THAN, AMPERSAND, RIGHT_BRACKET, CARRIAGE_RETURN]);

/** The codes of {@link TEXT} and all codes above ASCII, for a run that may not be decoded yet. */
export const ASCII_TEXT: Uint8Array = ascii(TEXT);

/** The codes that stop the text of a CDATA section (§2.7). */
export const CDATA: Uint8Array = stops([RIGHT_BRACKET, CARRIAGE_RETURN]);

/**
 * The codes that stop an attribute value: quotes, `<`, references and the white space that §3.3.3 normalizes.
 * All codes above ASCII stop it too, because the value may not be decoded yet.
 */
export const VALUE: Uint8Array = ascii(
  stops([DOUBLE_QUOTE, SINGLE_QUOTE, LESS_THAN, AMPERSAND, TAB, LINE_FEED, CARRIAGE_RETURN]),
);

/** Greater than every code point. */
export const PAST_UNICODE = 0x110000;

/** Returns whether a code point is a Char (§2.2 [2]). */
export function isCharacter(point: number): boolean {
  if (point < SPACE) return point === TAB || point === LINE_FEED || point === CARRIAGE_RETURN;
  return point <= 0xd7ff || (point >= 0xe000 && point <= 0x10ffff && point !== 0xfffe && point !== 0xffff);
}

function nameUnits(): Uint8Array {
  const table = new Uint8Array(0x10000);
  table.set(names().subarray(0, WIDE));
  for (const [first, last] of NAME_START_RANGES) table.fill(3, first, last + 1);
  for (const [first, last] of NAME_RANGES) table.fill(1, first, last + 1);
  table.fill(3, FIRST_HIGH, FIRST_HIGH_IN_NO_NAME);
  table.fill(1, FIRST_LOW, LAST_LOW + 1);
  return table;
}

function names(): Uint8Array {
  const table = new Uint8Array(256);
  table.fill(1, 0x30, 0x3a);
  for (const code of [HYPHEN, 0x2e]) table[code] = 1;
  table.fill(3, 0x41, 0x5b);
  table.fill(3, 0x61, 0x7b);
  for (const code of [COLON, 0x5f]) table[code] = 3;
  table.fill(3, WIDE);
  table[WIDE_ILLEGAL] = 0;
  return table;
}

function digits(): Uint8Array {
  const table = new Uint8Array(256).fill(255);
  for (let digit = 0; digit < 16; digit++) {
    const figure = digit.toString(16);
    table[figure.charCodeAt(0)] = digit;
    table[figure.toUpperCase().charCodeAt(0)] = digit;
  }
  return table;
}

function stops(codes: readonly number[]): Uint8Array {
  const table = markCodes(codes, STOP);
  for (let code = 0; code < SPACE; code++) {
    if (!isCharacter(code)) table[code] = ILLEGAL;
  }
  table[WIDE_ILLEGAL] = ILLEGAL;
  return table;
}

function ascii(table: Uint8Array): Uint8Array {
  return table.map((mark, code) => (code >= WIDE && mark === CLEAN ? STOP : mark));
}

function markCodes(codes: readonly number[], mark: number): Uint8Array {
  const table = new Uint8Array(256);
  for (const code of codes) table[code] = mark;
  return table;
}
