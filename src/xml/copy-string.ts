/** Up to so many characters V8 copies what is cut from a string; more it keeps as a view of the whole. */
const COPIED = 12;

/**
 * The same text in memory of its own. What a parser delivers may be a view of the stretch of the document that it
 * was cut from, up to 64 KiB, and keeps all of that; whoever stores it for long stores this instead. Takes well-formed
 * text, as a parser delivers it.
 */
export function detached(text: string): string {
  return text.length <= COPIED ? text : Buffer.from(text).toString();
}
