// The character classes of RFC 3986 §2 and §3.3, one table lookup each.

const unreserved = 1;
const subDelimiter = 2;
const path = 4;
const query = 8;
const hexadecimal = 16;

const classes = new Uint8Array(128);

function put(characters: string, bits: number): void {
  for (const character of characters) {
    const code = character.charCodeAt(0);
    classes[code] = (classes[code] ?? 0) | bits;
  }
}

put('0123456789ABCDEFabcdef', hexadecimal);
put('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-._~', unreserved | path | query);
put("!$&'()*+,;=", subDelimiter | path | query);
put(':@/', path | query);
// Not in the grammar, but browsers do not encode these in a query.
put('?[]{}|^`', query);

function is(code: number, bits: number): boolean {
  return ((classes[code] ?? 0) & bits) !== 0;
}

/** Returns whether a character is unreserved: equivalent with and without percent-encoding (RFC 3986 §2.3). */
export function isUnreserved(code: number): boolean {
  return is(code, unreserved);
}

/** Returns whether a registered name may contain the character unescaped (RFC 3986 §3.2.2). */
export function isNameCharacter(code: number): boolean {
  return is(code, unreserved | subDelimiter);
}

/** Returns whether a path may contain the character unescaped: pchar or a slash (RFC 3986 §3.3). */
export function isPathCharacter(code: number): boolean {
  return is(code, path);
}

/** Returns whether a query may contain the character unescaped: RFC 3986 §3.4, and what browsers do not encode. */
export function isQueryCharacter(code: number): boolean {
  return is(code, query);
}

/** Returns whether there is a percent sign with two hexadecimal digits at `at` (RFC 3986 §2.1). */
export function isEscape(text: string, at: number): boolean {
  return (
    text.charCodeAt(at) === 0x25 &&
    is(text.charCodeAt(at + 1), hexadecimal) &&
    is(text.charCodeAt(at + 2), hexadecimal)
  );
}
