import { isoDateAt } from './iso-date.ts';
import type { EntryHead } from './run.ts';

/** How the line of an item begins, and how it goes on after the id, the sequence and the revision. */
export const lineStart = '{"id":"';
export const afterId = '","sequence":';
const afterSequence = ',"revision":';
const afterRevision = ',"modified":"';
const [quote, backslash, zero, nine] = [0x22, 0x5c, 0x30, 0x39];

/**
 * What stands before the value in the line of an item that begins here, read byte by byte: to make texts of it takes ten times
 * as long. Undefined when the id has an escape in it, or anything is in another order or form than the writer's.
 */
export function headAt(bytes: Uint8Array, at: number): EntryHead | undefined {
  let idEnd = at + lineStart.length;
  while (idEnd < bytes.length && bytes[idEnd] !== quote && bytes[idEnd] !== backslash) idEnd += 1;
  const sequenceAt = endOfText(bytes, idEnd, afterId);
  const sequenceEnd = endOfDigits(bytes, sequenceAt);
  const revisionAt = endOfText(bytes, sequenceEnd, afterSequence);
  const revisionEnd = endOfDigits(bytes, revisionAt);
  const modified = isoDateAt(bytes, endOfText(bytes, revisionEnd, afterRevision));
  if (modified === undefined) return undefined;
  const sequence = numberIn(bytes, sequenceAt, sequenceEnd);
  return { sequence, revision: numberIn(bytes, revisionAt, revisionEnd), modified };
}

/** Where this text of ASCII ends, if it begins here; else behind all bytes, where nothing is found any more. */
function endOfText(bytes: Uint8Array, at: number, text: string): number {
  for (let next = 0; next < text.length; next += 1) {
    if (bytes[at + next] !== text.charCodeAt(next)) return bytes.length;
  }
  return at + text.length;
}

function endOfDigits(bytes: Uint8Array, from: number): number {
  let to = from;
  for (let code = bytes[to]; code !== undefined && code >= zero && code <= nine; code = bytes[to]) to += 1;
  return to;
}

function numberIn(bytes: Uint8Array, from: number, to: number): number {
  let number = 0;
  for (let at = from; at < to; at += 1) number = number * 10 + (bytes[at] ?? zero) - zero;
  return number;
}
