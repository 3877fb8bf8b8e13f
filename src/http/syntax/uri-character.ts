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
// Not of the grammar, but browsers leave these as they are in a query.
put('?[]{}|^`', query);

function is(code: number, bits: number): boolean {
  return ((classes[code] ?? 0) & bits) !== 0;
}

/** Letters, digits and `-._~`: the same with and without percent-encoding (RFC 3986 §2.3). */
export function isUnreserved(code: number): boolean {
  return is(code, unreserved);
}

/** What a registered name is made of, besides escapes (RFC 3986 §3.2.2). */
export function isNameCharacter(code: number): boolean {
  return is(code, unreserved | subDelimiter);
}

/** What a path is made of, besides escapes: pchar and the slash (RFC 3986 §3.3). */
export function isPathCharacter(code: number): boolean {
  return is(code, path);
}

/** What a query is made of here, besides escapes: RFC 3986 §3.4 and the characters that browsers leave in it. */
export function isQueryCharacter(code: number): boolean {
  return is(code, query);
}

/** Whether a percent sign and two hexadecimal digits stand at `at` (RFC 3986 §2.1). */
export function isEscape(text: string, at: number): boolean {
  return (
    text.charCodeAt(at) === 0x25 &&
    is(text.charCodeAt(at + 1), hexadecimal) &&
    is(text.charCodeAt(at + 2), hexadecimal)
  );
}
