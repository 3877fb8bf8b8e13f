/** Matches a character that is not a Char of XML 1.0 §2.2; lone surrogates included. */
const unrepresentable = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
/**
 * A fast test that all such characters and all surrogates pass. Patterns that match surrogate pairs are
 * slower.
 */
const suspicious = /[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]/;

/** Returns the first character that XML does not allow, as `U+0001`; undefined if there is none. */
export function firstUnrepresentable(text: string): string | undefined {
  if (!suspicious.test(text)) return undefined;
  const code = unrepresentable.exec(text)?.[0].codePointAt(0);
  return code === undefined ? undefined : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Replaces each character that XML does not allow with U+FFFD. */
export function toRepresentable(text: string): string {
  return suspicious.test(text) ? text.replace(new RegExp(unrepresentable, 'gu'), '\ufffd') : text;
}

/**
 * Truncates text from a client to 40 characters and replaces the invisible ones, for use in a message or a
 * path.
 */
export function toPrintable(text: string): string {
  const characters = [...text.slice(0, 2 * maxShown + 2)];
  const cut = characters.length > maxShown || text.length > 2 * maxShown + 2;
  const shown = cut ? `${characters.slice(0, maxShown - 1).join('')}…` : text;
  // Control, format, unassigned and surrogate characters and line separators. Not a constant, because
  // compiling it takes 0.5 ms.
  return shown.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd');
}

const maxShown = 40;

/** Returns the number of characters (code points) in the text. */
export function countCharacters(text: string): number {
  let length = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    if ((text.charCodeAt(at) & 0xfc00) !== 0xd800 || (text.charCodeAt(at + 1) & 0xfc00) !== 0xdc00) continue;
    length--;
    at++;
  }
  return length;
}
