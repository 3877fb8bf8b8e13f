import type { NumberRange } from './chosen-ids.ts';
import { crc32 } from './crc32.ts';
import { formatIsoDate } from './iso-date.ts';
import { KeptRun } from './kept-run.ts';
import type { CollectionView, State } from './state.ts';
import type { Entry } from './store.ts';

/** The version of the form of store.json. */
export const snapshotVersion = 2;

/** The most items in a block. */
const blockLength = 256;
/** A block that has so many characters takes no further item, so that none takes long to make or to read. */
const blockSize = 1024 * 1024;

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
 * The text of store.json, a block at a time, with at most 256 items: between two of them the state may change, and the
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
): Generator<string, void, undefined> {
  const ends = Array.from(state.collections(), ({ path, sequence }) => ({ path, sequence }));
  const first = formatHead(head);
  let [sum, blocks, items, separator] = [crc32(first), 0, 0, ''];
  yield first;
  for (const { path, sequence } of ends) {
    for (const { content, count } of partsOf(state, path, sequence)) {
      // The collection of a path that was named once stays.
      const numbers = formatNumbers(state.collection(path));
      const rest = `${numbers},"items":[\n${content}]}`;
      const checksum = formatChecksum(crc32(rest));
      sum = crc32(checksum, sum);
      blocks += 1;
      items += count;
      yield `${separator}{"crc":"${checksum}",${rest}`;
      separator = ',\n';
    }
  }
  const counts = `,"blocks":${blocks},"items":${items},"sequence":${reached()}}}`;
  yield `${blocks === 0 ? '' : '\n'}],"footer":{"crc":"${formatChecksum(crc32(counts, sum))}"${counts}\n`;
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

/** The lines of the items of a collection, each line with its end; one part without a line where there are none. */
function* partsOf(state: State, path: string, end: number): Generator<{ content: string; count: number }> {
  let [after, any] = [0, false];
  for (;;) {
    const next = state.next(path, after, blockLength);
    if (next instanceof KeptRun && next.text !== undefined) {
      // As it was read, from its second line to the line before its last.
      yield { content: next.text.slice(2, -1), count: next.count };
      after = next.last;
    } else {
      const entries = (next instanceof KeptRun ? next.entries : next).filter(
        ({ sequence }) => sequence <= end,
      );
      const { lines, last } = linesOf(entries);
      if (last === undefined) break;
      yield { content: `${lines.join(',\n')}\n`, count: lines.length };
      after = last.sequence;
    }
    any = true;
  }
  if (!any) yield { content: '', count: 0 };
}

/** As many of the entries as a block takes. */
function linesOf(entries: readonly Entry[]): { readonly lines: string[]; readonly last: Entry | undefined } {
  const lines: string[] = [];
  let [size, last]: [number, Entry | undefined] = [0, undefined];
  for (const entry of entries) {
    if (size >= blockSize) break;
    const line = formatItem(entry);
    lines.push(line);
    size += line.length;
    last = entry;
  }
  return { lines, last };
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

/** The line of an item, without its end. */
export function formatItem({ id, sequence, revision, modified, value }: Entry): string {
  return JSON.stringify({ id, sequence, revision, modified: formatIsoDate(modified), value });
}
