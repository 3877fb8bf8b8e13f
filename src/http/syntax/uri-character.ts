// The character classes of RFC 3986 §2 and §3.3.
import { createClasses, digits, isOf, letters } from './character-class.ts';

const unreserved = 1;
const subDelimiter = 2;
const path = 4;
const query = 8;
const hexadecimal = 16;

const classes = createClasses(
  ['0123456789ABCDEFabcdef', hexadecimal],
  [`${letters}${digits}-._~`, unreserved | path | query],
  ["!$&'()*+,;=", subDelimiter | path | query],
  [':@/', path | query],
  // Not in the grammar, but browsers do not encode these in a query.
  ['?[]{}|^`', query],
);

/** Returns whether a character is unreserved: equivalent with and without percent-encoding (RFC 3986 §2.3). */
export function isUnreserved(code: number): boolean {
  return isOf(classes, code, unreserved);
}

/** Returns whether a registered name may contain the character unescaped (RFC 3986 §3.2.2). */
export function isNameCharacter(code: number): boolean {
  return isOf(classes, code, unreserved | subDelimiter);
}

/** Returns whether a path may contain the character unescaped: pchar or a slash (RFC 3986 §3.3). */
export function isPathCharacter(code: number): boolean {
  return isOf(classes, code, path);
}

/** Returns whether a query may contain the character unescaped: RFC 3986 §3.4, and what browsers do not encode. */
export function isQueryCharacter(code: number): boolean {
  return isOf(classes, code, query);
}

/** Returns whether there is a percent sign with two hexadecimal digits at `at` (RFC 3986 §2.1). */
export function isEscape(text: string, at: number): boolean {
  return (
    text.charCodeAt(at) === 0x25 &&
    isOf(classes, text.charCodeAt(at + 1), hexadecimal) &&
    isOf(classes, text.charCodeAt(at + 2), hexadecimal)
  );
}
