/** V8 copies substrings of up to this many characters. Longer ones are views that retain the whole string. */
const MAX_COPIED = 12;

/**
 * Returns a copy of the text that does not retain the string from which it was cut. Strings that a parser
 * delivers may be views of up to 64 KiB of the document; copy them before you store them for a long time.
 * @param text well-formed UTF-16, as a parser delivers it
 */
export function copyString(text: string): string {
  return text.length <= MAX_COPIED ? text : Buffer.from(text).toString();
}
