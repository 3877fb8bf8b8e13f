import { formatItem } from '../encoding/item-json.ts';
import type { StoredItem } from '../store.ts';

const comma = 0x2c;
/** The end of every line. In a snapshot, the last line of a block has no comma. */
export const lineEnd = ',\n';

const lineStart = '{"id":"';
/** The id and the sequence at the beginning of a line, if the id is ASCII without escapes. */
const idAndSequence = /\{"id":"([^"\\\u0080-\u00ff]*)","sequence":([0-9]{1,16})/y;
/** The members before the value, in the order of `formatMembers`, if the id has no escapes. */
const members = /^\{"id":"[^"\\]*","sequence":([0-9]{1,16}),"revision":([0-9]{1,16}),"modified":"([^"]*)"/;
/** The maximum length of the members before the value in bytes, unless the id is long. */
const headLength = 256;

/** The length in bytes from which on no item is added to a segment or block: encoding and copying must not take long. */
export const segmentSize = 1024 * 1024;

/** The members of an entry that a change needs. */
export type EntryHead = Pick<StoredItem, 'sequence' | 'revision' | 'modified'>;

/** Items encoded as lines of JSON, as they are in a snapshot, each with a comma at its end. */
export interface EncodedLines {
  readonly bytes: Buffer;
  /** The offset of each line, then the end of the last one. */
  readonly starts: Uint32Array;
  /** The sequence of each item, ascending. */
  readonly sequences: Float64Array;
}

/**
 * Reads the lines of a block of a snapshot without parsing the values, and copies them. Calls `each` with the id and the
 * sequence of each item. Returns undefined if a line is not an item, if the sequences are not in ascending order, or if
 * `each` returns false.
 */
export function scanLines(
  bytes: Buffer,
  each: (id: string, sequence: number) => boolean,
): EncodedLines | undefined {
  // One character per byte: only ASCII is examined in this text.
  const text = bytes.toString('latin1');
  const starts: number[] = [];
  const sequences: number[] = [];
  let [at, former] = [0, 0];
  while (at < text.length) {
    if (!text.startsWith(lineStart, at)) return undefined;
    const end = text.indexOf('\n', at);
    if (end < 0 || (text.charCodeAt(end - 1) === comma) !== end + 1 < text.length) return undefined;
    idAndSequence.lastIndex = at;
    const [, simpleId, digits] = idAndSequence.exec(text) ?? [];
    const { id, sequence } =
      simpleId === undefined ? parseLine(bytes, at, end) : { id: simpleId, sequence: Number(digits) };
    if (!(sequence > former) || !each(id, sequence)) return undefined;
    starts.push(at);
    sequences.push(sequence);
    former = sequence;
    at = end + 1;
  }
  starts.push(at + 1);
  const copy = Buffer.allocUnsafeSlow(at + 1);
  bytes.copy(copy);
  copy.write(lineEnd, at - 1);
  return { bytes: copy, starts: Uint32Array.from(starts), sequences: Float64Array.from(sequences) };
}

/** Returns the lines from `first` up to `last`, which is excluded. The bytes are shared. */
export function sliceLines(
  { bytes, starts, sequences }: EncodedLines,
  first: number,
  last: number,
): EncodedLines {
  return { bytes, starts: starts.subarray(first, last + 1), sequences: sequences.subarray(first, last) };
}

/** Returns the bytes of lines. */
export function joinBytes({ bytes, starts }: EncodedLines): Buffer {
  return bytes.subarray(starts[0], starts.at(-1));
}

/**
 * Encodes entries in ascending sequence, and copies lines that are already encoded. Stops when there are `segmentSize`
 * bytes. There must be at least one part.
 */
export function encodeLines(parts: Iterable<StoredItem | EncodedLines>): EncodedLines {
  const chunks: Uint8Array[] = [];
  const starts: number[] = [];
  const sequences: number[] = [];
  let length = 0;
  for (const part of parts) {
    if (length >= segmentSize) break;
    const chunk = 'starts' in part ? joinBytes(part) : Buffer.from(formatItem(part) + lineEnd);
    if ('starts' in part) {
      const shift = length - (part.starts[0] ?? 0);
      for (const start of part.starts.subarray(0, -1)) starts.push(start + shift);
      for (const sequence of part.sequences) sequences.push(sequence);
    } else {
      starts.push(length);
      sequences.push(part.sequence);
    }
    chunks.push(chunk);
    length += chunk.length;
  }
  starts.push(length);
  // Not from Node's buffer pool: a slice would keep the whole pool in memory.
  const bytes = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return { bytes, starts: Uint32Array.from(starts), sequences: Float64Array.from(sequences) };
}

/** Parses the members before the value of the line from `at` to `end`. */
export function parseHead(bytes: Buffer, at: number, end: number): EntryHead {
  const head = members.exec(bytes.toString('latin1', at, Math.min(end, at + headLength)));
  if (head === null) return parseLine(bytes, at, end);
  const [, sequence, revision, modified = ''] = head;
  return { sequence: Number(sequence), revision: Number(revision), modified: Date.parse(modified) };
}

/** An item in the form that it has in a snapshot. */
interface EncodedItem extends Omit<StoredItem, 'modified'> {
  /** ISO 8601. */
  readonly modified: string;
}

/**
 * Parses the line from `at` to its line end at `end`. The types of its members are not checked, because the checksum of
 * its block was verified.
 */
export function parseLine(bytes: Buffer, at: number, end: number): StoredItem {
  const text = bytes.toString('utf8', at, bytes[end - 1] === comma ? end - 1 : end);
  const { id, sequence, revision, modified, value }: EncodedItem = JSON.parse(text);
  const time = Date.parse(modified);
  if (Number.isNaN(time)) throw new SyntaxError('an item has no date');
  return { id, sequence, revision, modified: time, value };
}
