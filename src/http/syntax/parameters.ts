import { findQuotedEnd, unquote } from './quoted-string.ts';
import { skipWhitespace, tokenEnd } from './token.ts';

const quoteMark = 0x22;
const semicolon = 0x3b;
const equals = 0x3d;

const none: ReadonlyMap<string, string> = new Map();

/**
 * Parses parameters (RFC 9110 §5.6.6: `; name=value; name="value"`) from `at` to the end of the text. The names are in lower case,
 * the values unquoted. Returns undefined if they are malformed or a name occurs twice.
 */
export function parseParameters(text: string, at: number): ReadonlyMap<string, string> | undefined {
  if (at === text.length) return none;
  const parameters = new Map<string, string>();
  let next = at;
  while (next < text.length) {
    next = skipWhitespace(text, next);
    if (text.charCodeAt(next) !== semicolon) return undefined;
    next = skipWhitespace(text, next + 1);
    const nameEnd = tokenEnd(text, next);
    // An empty parameter is allowed. Anything else that is not a name fails at the start of the loop.
    if (nameEnd === next) continue;
    const end = text.charCodeAt(nameEnd) === equals ? valueEnd(text, nameEnd + 1) : -1;
    if (end < 0) return undefined;
    const name = text.slice(next, nameEnd).toLowerCase();
    if (parameters.has(name)) return undefined;
    parameters.set(name, valueBetween(text, nameEnd + 1, end));
    next = end;
  }
  return parameters;
}

/** Returns where the token or quoted string at `at` ends; -1 if there is none. */
export function valueEnd(text: string, at: number): number {
  if (text.charCodeAt(at) === quoteMark) return findQuotedEnd(text, at);
  const end = tokenEnd(text, at);
  return end === at ? -1 : end;
}

/** Returns the value of the token or quoted string from `start` to `end`. */
export function valueBetween(text: string, start: number, end: number): string {
  return text.charCodeAt(start) === quoteMark ? unquote(text, start, end) : text.slice(start, end);
}
