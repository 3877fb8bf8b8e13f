// quoted-string, RFC 9110 §5.6.4. A field value is a string in which each octet is one character.

const quoteMark = 0x22;
const backslash = 0x5c;

/** Returns whether a quoted string can contain the character (HTAB, SP, VCHAR, obs-text), possibly after a backslash. */
function isQuotable(code: number): boolean {
  return code === 0x09 || (code >= 0x20 && code !== 0x7f && code <= 0xff);
}

/**
 * Returns where the quoted string that begins at `at` ends, including its closing quote; -1 if there is none, it is not closed, or
 * it contains an invalid character.
 */
export function findQuotedEnd(text: string, at: number): number {
  if (text.charCodeAt(at) !== quoteMark) return -1;
  let next = at + 1;
  while (next < text.length) {
    let code = text.charCodeAt(next);
    if (code === quoteMark) return next + 1;
    if (code === backslash) {
      next += 1;
      code = text.charCodeAt(next);
    }
    if (!isQuotable(code)) return -1;
    next += 1;
  }
  return -1;
}

/** Returns the value of the quoted string from `start` to `end`, which is a result of `quotedEnd`. */
export function unquote(text: string, start: number, end: number): string {
  const inside = text.slice(start + 1, end - 1);
  return inside.includes('\\') ? inside.replace(/\\(.)/gs, '$1') : inside;
}

/** Formats a value as a quoted string. Throws RangeError if it has a character that no quoted string can contain. */
export function quote(value: string): string {
  for (let at = 0; at < value.length; at += 1)
    if (!isQuotable(value.charCodeAt(at)))
      throw new RangeError(`A quoted string cannot contain the character at index ${at}`);
  return `"${value.replace(/["\\]/g, '\\$&')}"`;
}
