import { formatMembers } from './item-members.ts';
import { afterId, headAt, lineStart } from './kept-head.ts';
import type { EntryHead } from './run.ts';
import type { Entry } from './store.ts';

/** An id of more digits is taken as a text. */
const mostDigits = 9;
const [comma, zero, nine, backslash] = [0x2c, 0x30, 0x39, 0x5c];
/** How every line ends but the last of a block, which has no comma. */
export const lineEnd = ',\n';
/** One byte in so many is room for lines that are changed, before all are laid in order again. */
const bytesPerSpare = 16;
/** Of no more bytes lines are made at once, for it takes long. */
export const mostLaid = 1024 * 1024;

/** Where the lines of items are, and which sequences they have. */
export interface ScannedLines {
  /** Where each begins, and behind them where the last one ends. */
  readonly starts: Uint32Array;
  /** In the order of the lines, ascending. */
  readonly sequences: readonly number[];
}

/**
 * Looks over lines as a snapshot has them, an item each, with a comma at the end of all but the last, and gives the id
 * and the sequence of each to `each`, reading no more of it; an id of a few digits is given as its number. Gives
 * undefined when these are no such lines, their sequences do not ascend, or `each` says false.
 */
export function scanLines(
  bytes: Buffer,
  each: (id: string | number, sequence: number) => boolean,
): ScannedLines | undefined {
  // A character a byte: only what is ASCII is looked at in this text.
  const text = bytes.toString('latin1');
  const starts: number[] = [];
  const sequences: number[] = [];
  let [at, former] = [0, 0];
  while (at < text.length) {
    if (!text.startsWith(lineStart, at)) return undefined;
    const end = text.indexOf('\n', at);
    if (end < 0 || (text.charCodeAt(end - 1) === comma) !== end + 1 < text.length) return undefined;
    const { id, sequence } = numbersAt(text, at) ?? namedAt(text, at, bytes) ?? parseLine(bytes, at, end);
    if (!(sequence > former) || !each(id, sequence)) return undefined;
    starts.push(at);
    sequences.push(sequence);
    former = sequence;
    at = end + 1;
  }
  starts.push(at);
  return { starts: Uint32Array.from(starts), sequences };
}

interface Numbers {
  readonly id: string | number;
  readonly sequence: number;
}

/** The id and the sequence of a line that begins here, if the id is a number that the store gives. */
function numbersAt(text: string, at: number): Numbers | undefined {
  const from = at + lineStart.length;
  const to = endOfDigits(text, from);
  if (to === from || to - from > mostDigits || text.charCodeAt(from) === zero) return undefined;
  if (!text.startsWith(afterId, to)) return undefined;
  const next = to + afterId.length;
  return { id: digitsOf(text, from, to), sequence: sequenceAt(text, next) };
}

/** The same of a line whose id is any other text that has no quotation mark in it. */
function namedAt(text: string, at: number, bytes: Buffer): Numbers | undefined {
  const from = at + lineStart.length;
  const to = text.indexOf('"', from);
  if (!text.startsWith(afterId, to) || text.charCodeAt(to - 1) === backslash) return undefined;
  const id: string = JSON.parse(bytes.toString('utf8', from - 1, to + 1));
  return { id, sequence: sequenceAt(text, to + afterId.length) };
}

function sequenceAt(text: string, at: number): number {
  return digitsOf(text, at, endOfDigits(text, at));
}

function endOfDigits(text: string, from: number): number {
  let to = from;
  while (text.charCodeAt(to) >= zero && text.charCodeAt(to) <= nine) to += 1;
  return to;
}

function digitsOf(text: string, from: number, to: number): number {
  let number = 0;
  for (let at = from; at < to; at += 1) number = number * 10 + text.charCodeAt(at) - zero;
  return number;
}

/** What stands before the value in a line from `at` to its end. */
export function parseHead(bytes: Buffer, at: number, end: number): EntryHead {
  return headAt(bytes, at) ?? parseLine(bytes, at, end);
}

/** Lines in memory. Behind them there may be room for others. */
export interface LaidLines extends ScannedLines {
  readonly bytes: Buffer;
}

/** Bytes of their own, with room behind so many: those of a shared slab would hold the whole of it. */
export function withRoom(length: number): Buffer {
  return Buffer.allocUnsafeSlow(length + spareBehind(length));
}

/** How many bytes of room there are behind so many. */
export function spareBehind(length: number): number {
  return Math.floor(length / bytesPerSpare);
}

/** Makes lines of items in ascending sequence: of as many as is done at once, which is one at least. */
export function layLines(entries: readonly Entry[]): LaidLines {
  const starts = [0];
  let text = '';
  let length = 0;
  for (const entry of entries) {
    const line = formatItem(entry) + lineEnd;
    length += Buffer.byteLength(line);
    if (length > mostLaid && text !== '') break;
    text += line;
    starts.push(length);
  }
  const bytes = withRoom(starts.at(-1) ?? 0);
  bytes.write(text);
  const sequences = entries.slice(0, starts.length - 1).map(({ sequence }) => sequence);
  return { bytes, starts: Uint32Array.from(starts), sequences };
}

/** The line of an item, without its end. */
export function formatItem(entry: Entry): string {
  return `{${formatMembers(entry, JSON.stringify(entry.value))}}`;
}

/** An item as a snapshot has it. */
interface KeptItem extends Omit<Entry, 'modified'> {
  /** In ISO 8601. */
  readonly modified: string;
}

/** The item of a line from `at` to its end. Its checksum fitted, so its members are what the writer wrote. */
export function parseLine(bytes: Buffer, at: number, end: number): Entry {
  const last = bytes[end - 1] === comma ? end - 1 : end;
  const { id, sequence, revision, modified, value }: KeptItem = JSON.parse(bytes.toString('utf8', at, last));
  const time = Date.parse(modified);
  if (Number.isNaN(time)) throw new SyntaxError('an item has no date');
  return { id, sequence, revision, modified: time, value };
}
