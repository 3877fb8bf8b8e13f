// The character classes of structured fields (RFC 9651 §3.1.2, §3.3).
import { createClasses, digits, isOf, letters, lowerLetters, runEnd } from '../syntax/character-class.ts';

const digit = 1;
const key = 2;
const keyStart = 4;
const token = 8;
const tokenStart = 16;
const base64 = 32;
/** The last character of base64 before one `=`: its two low bits are zero. Before two, its four low bits are zero. */
const base64BeforeOne = 64;
const base64BeforeTwo = 128;

const classes = createClasses(
  [digits, digit],
  [`${lowerLetters}*`, key | keyStart],
  [`${digits}_-.`, key],
  [`${letters}*`, token | tokenStart],
  [`${digits}!#$%&'+-.^_\`|~:/`, token],
  [`${letters}${digits}+/`, base64],
  ['AEIMQUYcgkosw048', base64BeforeOne],
  ['AQgw', base64BeforeTwo],
);

/** Returns whether a character is a digit. */
export function isDigit(code: number): boolean {
  return isOf(classes, code, digit);
}

function spanEnd(text: string, start: number, first: number, further: number): number {
  return isOf(classes, text.charCodeAt(start), first) ? runEnd(classes, further, text, start + 1) : start;
}

/** Returns where the key at `start` ends; `start` if there is none (RFC 9651 §4.2.3.3). */
export function keyEnd(text: string, start: number): number {
  return spanEnd(text, start, keyStart, key);
}

/** Returns where the token at `start` ends; `start` if there is none (RFC 9651 §4.2.6). */
export function tokenEnd(text: string, start: number): number {
  return spanEnd(text, start, tokenStart, token);
}

/** Returns where the digits at `start` end. */
export function digitsEnd(text: string, start: number): number {
  return spanEnd(text, start, digit, digit);
}

/** Returns whether a character may stand in a string: VCHAR or a space (RFC 9651 §3.3.3). */
export function isPrintable(code: number): boolean {
  return code >= 0x20 && code < 0x7f;
}

const equals = 0x3d;

/** Returns where base64 with any padding at `start` ends, which parsers should accept (RFC 9651 §4.2.7). */
export function findAnyBase64End(text: string, start: number): number {
  let end = spanEnd(text, start, base64, base64);
  while (text.charCodeAt(end) === equals) end += 1;
  return end;
}

/**
 * Returns where the canonical base64 at `start` ends: padded, with zero bits in the padding; -1 if it is not canonical.
 */
export function findBase64End(text: string, start: number): number {
  const end = spanEnd(text, start, base64, base64);
  const last = text.charCodeAt(end - 1);
  const surplus = (end - start) % 4;
  if (surplus === 0) return end;
  if (text.charCodeAt(end) !== equals) return -1;
  if (surplus === 3) return isOf(classes, last, base64BeforeOne) ? end + 1 : -1;
  return surplus === 2 && isOf(classes, last, base64BeforeTwo) && text.charCodeAt(end + 1) === equals
    ? end + 2
    : -1;
}
