// A scanner for structured fields (RFC 9651 §4.2): keys, values and parameters of dictionaries.
// Each function returns the end of its part, or -1 if the part is malformed.
// It finds the ends without creating values. The parser that returns values is in signature/structured-fields: neither of the two
// folders may import the other, and the scanner is part of each request with Content-Digest.
import { skipWhitespace, tokenEnd } from './token.ts';

const quoteMark = 0x22;
const percent = 0x25;
const comma = 0x2c;
const minus = 0x2d;
const dot = 0x2e;
const slash = 0x2f;
const colon = 0x3a;
const semicolon = 0x3b;
const equals = 0x3d;
const questionMark = 0x3f;
const at = 0x40;
const backslash = 0x5c;

/** Scans a key (RFC 9651 §4.2.3.3). */
export function keyEnd(text: string, start: number): number {
  if (!isKeyStart(text.charCodeAt(start))) return -1;
  let end = start + 1;
  while (end < text.length && isKeyCharacter(text.charCodeAt(end))) end += 1;
  return end;
}

function isKeyStart(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || code === 0x2a;
}

function isKeyCharacter(code: number): boolean {
  return isKeyStart(code) || isDigit(code) || code === 0x5f || code === minus || code === dot;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isLetter(code: number): boolean {
  return (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
}

/** Scans a byte sequence (RFC 9651 §4.2.7). Does not check the padding. */
export function byteSequenceEnd(text: string, start: number): number {
  if (text.charCodeAt(start) !== colon) return -1;
  let end = start + 1;
  while (isBase64Letter(text.charCodeAt(end))) end += 1;
  while (text.charCodeAt(end) === equals) end += 1;
  return text.charCodeAt(end) === colon ? end + 1 : -1;
}

function isBase64Letter(code: number): boolean {
  return isLetter(code) || isDigit(code) || code === 0x2b || code === slash;
}

/** Scans any number of `;key` or `;key=item` (RFC 9651 §4.2.3.2). */
export function parametersEnd(text: string, start: number): number {
  let end = start;
  while (text.charCodeAt(end) === semicolon) {
    end += 1;
    while (text.charCodeAt(end) === 0x20) end += 1;
    end = keyEnd(text, end);
    if (end >= 0 && text.charCodeAt(end) === equals) end = findBareItemEnd(text, end + 1);
    if (end < 0) return -1;
  }
  return end;
}

/** Returns the start of the next member of a list or dictionary; the end of the text after the last one (RFC 9651 §4.2.2). */
export function nextMember(text: string, start: number): number {
  const end = skipWhitespace(text, start);
  if (end === text.length) return end;
  if (text.charCodeAt(end) !== comma) return -1;
  const next = skipWhitespace(text, end + 1);
  return next === text.length ? -1 : next;
}

/** Scans a bare item (RFC 9651 §4.2.3.1). */
function findBareItemEnd(text: string, start: number): number {
  const code = text.charCodeAt(start);
  if (code === colon) return byteSequenceEnd(text, start);
  if (code === quoteMark) return stringEnd(text, start);
  if (code === questionMark) return isBooleanDigit(text.charCodeAt(start + 1)) ? start + 2 : -1;
  if (code === at) return integerEnd(text, start + 1);
  if (code === percent) return displayStringEnd(text, start);
  if (isLetter(code) || code === 0x2a) return findBareTokenEnd(text, start);
  return numberEnd(text, start);
}

function isBooleanDigit(code: number): boolean {
  return code === 0x30 || code === 0x31;
}

/** Scans a token. In structured fields it may also contain colons and slashes (RFC 9651 §4.2.6). */
function findBareTokenEnd(text: string, start: number): number {
  let end = tokenEnd(text, start);
  while (text.charCodeAt(end) === colon || text.charCodeAt(end) === slash) end = tokenEnd(text, end + 1);
  return end;
}

function digitsEnd(text: string, start: number): number {
  let end = start;
  while (isDigit(text.charCodeAt(end))) end += 1;
  return end;
}

/** Scans up to 15 digits with an optional sign (RFC 9651 §4.2.4). */
function integerEnd(text: string, start: number): number {
  const first = text.charCodeAt(start) === minus ? start + 1 : start;
  const end = digitsEnd(text, first);
  return end > first && end - first <= 15 ? end : -1;
}

/** Scans an integer, or up to 12 digits, a dot and up to 3 digits (RFC 9651 §4.2.4). */
function numberEnd(text: string, start: number): number {
  const whole = integerEnd(text, start);
  if (whole < 0 || text.charCodeAt(whole) !== dot) return whole;
  const first = text.charCodeAt(start) === minus ? start + 1 : start;
  const end = digitsEnd(text, whole + 1);
  return whole - first <= 12 && end > whole + 1 && end - whole <= 4 ? end : -1;
}

/** Scans a string, in which only quotes and backslashes are escaped (RFC 9651 §4.2.5). */
function stringEnd(text: string, start: number): number {
  for (let end = start + 1; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    if (code === quoteMark) return end + 1;
    if (!isPrintable(code)) return -1;
    if (code !== backslash) continue;
    end += 1;
    const escaped = text.charCodeAt(end);
    if (escaped !== quoteMark && escaped !== backslash) return -1;
  }
  return -1;
}

function isPrintable(code: number): boolean {
  return code >= 0x20 && code < 0x7f;
}

/** Scans a display string: `%"…"`, with escapes in lower case that decode to UTF-8 (RFC 9651 §4.2.10). */
function displayStringEnd(text: string, start: number): number {
  if (text.charCodeAt(start + 1) !== quoteMark) return -1;
  const close = text.indexOf('"', start + 2);
  if (close < 0) return -1;
  const inside = text.slice(start + 2, close);
  if (!/^(?:[ -$&-~]|%[0-9a-f]{2})*$/.test(inside)) return -1;
  try {
    decodeURIComponent(inside);
    return close + 1;
  } catch {
    return -1;
  }
}
