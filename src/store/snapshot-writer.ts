import type { NumberRange } from './chosen-ids.ts';
import { crc32 } from './crc32.ts';
import { formatIsoDate } from './iso-date.ts';
import { formatItem, lineEnd } from './kept-lines.ts';
import type { Piece } from './run.ts';
import type { CollectionView, State } from './state.ts';

/** The version of the form of store.json. */
export const snapshotVersion = 2;

/** The most items in a block. */
const blockLength = 256;
/** A block that has so many bytes takes no further item, so that none takes long to make or to read. */
const blockSize = 1024 * 1024;
const blockEnd = ']}';

/** What the first line of a snapshot says. */
export interface SnapshotHead {
  readonly lineage: string;
  /** The first journal that may have a change which is not in the snapshot. */
  readonly generation: number;
  /** The highest revision that was drawn before the copy was begun. */
  readonly revision: number;
  /** The number of the last line of a journal before the copy was begun. */
  readonly sequence: number;
  /** When it was begun (ms). */
  readonly written: number;
}

/**
 * The bytes of store.json, a block at a time, with at most 256 items: between two of them the state may change, and the
 * copy then has some of these changes and lacks others. It ends with what was there when it was begun: what is made
 * meanwhile stands in the journals alone, and no id is in it twice. `reached` gives, when all is copied, the number of
 * the last line of a journal whose change the copy may have; the copy must not count before that is on the medium.
 *
 * The checksum of a block covers what follows it up to and with `]}`. That of the footer covers the first line with its
 * end, the checksums of the blocks, and the rest of the footer from its first comma.
 */
export function* writeSnapshot(
  head: SnapshotHead,
  state: State,
  reached: () => number,
): Generator<Buffer, void, undefined> {
  const ends = Array.from(state.collections(), ({ path, sequence }) => ({ path, sequence }));
  const first = formatHead(head);
  let [sum, blocks, items, separator] = [crc32(first), 0, 0, ''];
  yield Buffer.from(first);
  for (const { path, sequence } of ends) {
    for (const { lines, count } of blocksOf(state, path, sequence)) {
      // The collection of a path that was named once stays.
      const start = `${formatNumbers(state.collection(path))},"items":[\n`;
      const whole = lines.reduce((before, line) => crc32(line, before), crc32(start));
      const checksum = formatChecksum(crc32(blockEnd, whole));
      sum = crc32(checksum, sum);
      blocks += 1;
      items += count;
      const head = Buffer.from(`${separator}{"crc":"${checksum}",${start}`);
      yield Buffer.concat([head, ...lines, Buffer.from(blockEnd)]);
      separator = ',\n';
    }
  }
  const counts = `,"blocks":${blocks},"items":${items},"sequence":${reached()}}}`;
  const footer = `"footer":{"crc":"${formatChecksum(crc32(counts, sum))}"${counts}`;
  yield Buffer.from(`${blocks === 0 ? '' : '\n'}],${footer}\n`);
}

/** A checksum as it is written: eight hexadecimal digits. */
export function formatChecksum(checksum: number): string {
  return checksum.toString(16).padStart(8, '0');
}

/** The first line, with its end. */
export function formatHead({ lineage, generation, revision, sequence, written }: SnapshotHead): string {
  const members = { version: snapshotVersion, lineage, generation, revision, sequence };
  const text = JSON.stringify({ ...members, written: formatIsoDate(written) });
  return `${text.slice(0, -1)},"blocks":[\n`;
}

/** What a block has: lines with their ends, and how many these are. */
interface Block {
  readonly lines: readonly Buffer[];
  readonly count: number;
  /** The sequence of its last item. */
  readonly last: number;
}

/** The blocks of the items of a collection up to a sequence; one without a line where there are none. */
function* blocksOf(state: State, path: string, end: number): Generator<Block> {
  let block = blockOf(state.next(path, 0, blockLength, end), end);
  do {
    yield block;
    block = blockOf(state.next(path, block.last, blockLength, end), end);
  } while (block.count > 0);
}

/** As many of the pieces as a block takes: lines that were read before are copied as they are. */
function blockOf(pieces: readonly Piece[], end: number): Block {
  const lines: Buffer[] = [];
  let [made, size, count, last] = ['', 0, 0, 0];
  for (const piece of pieces) {
    if (piece.sequence > end || size >= blockSize) break;
    const separator = count === 0 ? '' : lineEnd;
    if ('bytes' in piece) {
      const bytes = withoutEnd(piece.bytes);
      lines.push(Buffer.from(made + separator), bytes);
      made = '';
      size += bytes.length;
      count += piece.count;
    } else {
      const line = formatItem(piece);
      made += separator + line;
      size += line.length;
      count += 1;
    }
    last = piece.sequence;
  }
  if (count > 0) lines.push(Buffer.from(`${made}\n`));
  return { lines, count, last };
}

/** Lines without the comma and the newline that they end with. */
function withoutEnd(lines: Buffer): Buffer {
  const comma = lines.toString('latin1', lines.length - lineEnd.length) === lineEnd;
  return lines.subarray(0, comma ? -lineEnd.length : -1);
}

function formatNumbers(view: CollectionView | undefined): string {
  if (view === undefined) throw new RangeError('there is no such collection');
  const { path, counter, sequence, revision, modified } = view;
  const chosen = Array.from(view.chosen, ({ first, last }: NumberRange) => [first, last]);
  const members = {
    collection: path,
    counter,
    chosen,
    sequence,
    revision,
    modified: formatIsoDate(modified),
  };
  return JSON.stringify(members).slice(1, -1);
}
