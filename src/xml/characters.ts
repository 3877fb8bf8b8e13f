/**
 * The characters of XML 1.0 (fifth edition, §2.2 and §2.3) as tables.
 *
 * The parser reads *codes*: one byte for each UTF-16 unit of the text, so that an index into the codes is an
 * index into the string. ASCII stands for itself (an ASCII document is its own codes); any other unit is
 * replaced by one of four stand-ins that say what grammar needs to know of it.
 */

/** A character that may begin a name. */
export const WIDE_NAME_START = 0x80;
/** A character that may go on with a name. */
export const WIDE_NAME = 0x81;
/** A character that is legal, but in no name. */
export const WIDE_OTHER = 0x82;
/** U+FFFE and U+FFFF, which no document may hold. */
export const WIDE_ILLEGAL = 0x83;

export const TAB = 0x09;
export const LINE_FEED = 0x0a;
export const CARRIAGE_RETURN = 0x0d;
export const SPACE = 0x20;
export const BANG = 0x21;
export const DOUBLE_QUOTE = 0x22;
export const HASH = 0x23;
export const AMPERSAND = 0x26;
export const SINGLE_QUOTE = 0x27;
export const HYPHEN = 0x2d;
export const SLASH = 0x2f;
export const COLON = 0x3a;
export const SEMICOLON = 0x3b;
export const LESS_THAN = 0x3c;
export const EQUALS = 0x3d;
export const GREATER_THAN = 0x3e;
export const QUESTION = 0x3f;
export const SMALL_X = 0x78;
export const LEFT_BRACKET = 0x5b;
export const RIGHT_BRACKET = 0x5d;

/** Class of a code that nothing has to be done about. */
export const CLEAN = 0;
/** Class of a code that ends a run of text or of a value, or asks for a closer look. */
export const STOP = 1;
/** Class of a code that is no character of XML. */
export const ILLEGAL = 2;

// NameStartChar (§2.3 [4]) above ASCII; the last range is reached by surrogate pairs.
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

// What NameChar (§2.3 [4a]) adds to them.
const NAME_RANGES: readonly (readonly [number, number])[] = [
  [0xb7, 0xb7],
  [0x300, 0x36f],
  [0x203f, 0x2040],
];

/** Last code point that a name may hold. */
export const LAST_NAME_CODE_POINT = 0xeffff;

/** The stand-in of each UTF-16 unit above ASCII that is a character by itself; ASCII is its own. */
export const CODES: Uint8Array = codes();

/** 1 for a code that may go on with a name, 3 for one that may begin one too, else 0. */
export const NAME: Uint8Array = names();

/** The worth of a digit, decimal or hexadecimal; {@link NO_DIGIT} for any other code. */
export const DIGIT: Uint8Array = digits();
export const NO_DIGIT = 255;

/** 1 for the four characters of white space (§2.3 [3]). */
export const BLANK: Uint8Array = marked([TAB, LINE_FEED, CARRIAGE_RETURN, SPACE], 1);

/** What stops a run of text: markup, references, `]` (§2.4) and CR (§2.11). */
export const TEXT: Uint8Array = stops([LESS_THAN, AMPERSAND, RIGHT_BRACKET, CARRIAGE_RETURN]);

/** What stops the text of a CDATA section (§2.7). */
export const CDATA: Uint8Array = stops([RIGHT_BRACKET, CARRIAGE_RETURN]);

/** What stops an attribute's value: quotes, `<`, references and the white space that §3.3.3 replaces. */
export const VALUE: Uint8Array = stops([
  DOUBLE_QUOTE,
  SINGLE_QUOTE,
  LESS_THAN,
  AMPERSAND,
  TAB,
  LINE_FEED,
  CARRIAGE_RETURN,
]);

/** Above every code point. */
export const PAST_UNICODE = 0x110000;

/** True if a code point is a Char (§2.2 [2]). */
export function isCharacter(point: number): boolean {
  if (point < SPACE) return point === TAB || point === LINE_FEED || point === CARRIAGE_RETURN;
  return point <= 0xd7ff || (point >= 0xe000 && point <= 0x10ffff && point !== 0xfffe && point !== 0xffff);
}

function codes(): Uint8Array {
  const table = new Uint8Array(0x10000).fill(WIDE_OTHER);
  for (let code = 0; code < 0x80; code++) table[code] = code;
  for (const [first, last] of NAME_START_RANGES) table.fill(WIDE_NAME_START, first, last + 1);
  for (const [first, last] of NAME_RANGES) table.fill(WIDE_NAME, first, last + 1);
  table.fill(WIDE_ILLEGAL, 0xfffe);
  return table;
}

function names(): Uint8Array {
  const table = new Uint8Array(256);
  table.fill(1, 0x30, 0x3a);
  for (const code of [HYPHEN, 0x2e, WIDE_NAME]) table[code] = 1;
  table.fill(3, 0x41, 0x5b);
  table.fill(3, 0x61, 0x7b);
  for (const code of [COLON, 0x5f, WIDE_NAME_START]) table[code] = 3;
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
  const table = marked(codes, STOP);
  for (let code = 0; code < SPACE; code++) {
    if (!isCharacter(code)) table[code] = ILLEGAL;
  }
  table[WIDE_ILLEGAL] = ILLEGAL;
  return table;
}

function marked(codes: readonly number[], mark: number): Uint8Array {
  const table = new Uint8Array(256);
  for (const code of codes) table[code] = mark;
  return table;
}
