/** Every character that is not a Char of XML 1.0 §2.2; lone surrogates too. */
const uncarried = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
/** Texts without any of these need no closer look: a pattern that knows surrogate pairs is slower on every text. */
const suspicious = /[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]/;

/** The first character that XML cannot carry, as `U+0001`; undefined when there is none. */
export function firstUnrepresentable(text: string): string | undefined {
  if (!suspicious.test(text)) return undefined;
  const code = uncarried.exec(text)?.[0].codePointAt(0);
  return code === undefined ? undefined : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** The text with U+FFFD in the place of every character that XML cannot carry. */
export function isRepresentable(text: string): string {
  return suspicious.test(text) ? text.replace(new RegExp(uncarried, 'gu'), '\ufffd') : text;
}

/** What a client sent, cut to 40 characters and made safe to show in a message or a path. */
export function printable(text: string): string {
  const characters = [...text.slice(0, 2 * longestShown + 2)];
  const cut = characters.length > longestShown || text.length > 2 * longestShown + 2;
  const kept = cut ? `${characters.slice(0, longestShown - 1).join('')}…` : text;
  // Controls, formats, surrogates, unassigned characters, line ends; here, for to look these up takes a start half a millisecond.
  return kept.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd');
}

const longestShown = 40;

/** How many characters (code points) the text has. */
export function lengthOf(text: string): number {
  let length = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    if ((text.charCodeAt(at) & 0xfc00) !== 0xd800 || (text.charCodeAt(at + 1) & 0xfc00) !== 0xdc00) continue;
    length--;
    at++;
  }
  return length;
}
