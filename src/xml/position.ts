/** A line and a column, both from 1. Columns count characters (code points). */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export const START: Position = { line: 1, column: 1 };

/**
 * Returns the position of `text[to]` if `text` begins at `from`. CRLF, CR and LF end a line (XML 1.0 §2.11).
 * @param afterReturn whether the preceding text ends in CR, so that an LF at the beginning does not end
 * another line
 * @param firstReturn the index of the first CR in the text, −1 if there is none
 */
export function advance(
  from: Position,
  text: string,
  to: number,
  afterReturn: boolean,
  firstReturn = text.indexOf('\r'),
): Position {
  if (to === 1 && text.charCodeAt(0) >= 0x20) return { line: from.line, column: from.column + 1 };
  let line = from.line;
  let lineStart = -1;
  const first = afterReturn && text.charCodeAt(0) === 0x0a ? 1 : 0;
  if (first === 1 && to > 0) lineStart = 1;
  for (let at = text.indexOf('\n', first); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) {
    line += 1;
    lineStart = at + 1;
  }
  for (let at = firstReturn; at >= 0 && at < to; at = text.indexOf('\r', at + 1)) {
    if (text.charCodeAt(at + 1) === 0x0a && at + 1 < to) continue;
    line += 1;
    lineStart = Math.max(lineStart, at + 1);
  }
  if (lineStart < 0) return { line, column: from.column + characters(text, 0, to) };
  return { line, column: 1 + characters(text, lineStart, to) };
}

/** Returns the number of code points in `text[from..to)`. */
function characters(text: string, from: number, to: number): number {
  let count = to - from;
  for (let at = from; at < to - 1; at++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800) count -= 1;
  }
  return count;
}
