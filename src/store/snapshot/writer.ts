import { crc32 } from '../encoding/crc32.ts';
import { formatIsoDate } from '../encoding/iso-date.ts';
import { bytesOf, type EncodedLines, lineEnd } from '../state/encoded/lines.ts';
import type { NumberRange } from '../state/reserved-ids.ts';
import type { CollectionView, State } from '../state/state.ts';

/** The version of the form of store.json. */
export const snapshotVersion = 2;

/** The most items in a block. */
const blockLength = 256;
const blockEnd = ']}';
const newline = Buffer.of(0x0a);

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
    for (const pieces of blocksOf(state, path, sequence)) {
      const lines = linesOf(pieces);
      // The collection of a path that was named once stays.
      const start = `${formatNumbers(state.collection(path))},"items":[\n`;
      const whole = lines.reduce((before, line) => crc32(line, before), crc32(start));
      const checksum = formatChecksum(crc32(blockEnd, whole));
      sum = crc32(checksum, sum);
      blocks += 1;
      items += pieces.reduce((before, { sequences }) => before + sequences.length, 0);
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

/** Returns the blocks of the items of a collection up to a sequence; one without items if there are none. */
function* blocksOf(state: State, path: string, end: number): Generator<readonly EncodedLines[]> {
  let pieces = state.next(path, 0, blockLength, end);
  do {
    yield pieces;
    pieces = state.next(path, pieces.at(-1)?.sequences.at(-1) ?? end, blockLength, end);
  } while (pieces.length > 0);
}

/** Returns lines as those of one block: the last one without its comma. */
function linesOf(pieces: readonly EncodedLines[]): Buffer[] {
  const lines = pieces.map(bytesOf);
  const last = lines.pop();
  return last === undefined ? [] : [...lines, last.subarray(0, -lineEnd.length), newline];
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
