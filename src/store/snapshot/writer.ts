import { crc32 } from 'node:zlib';
import { formatIsoDate } from '../encoding/iso-date.ts';
import { formatItem, formatReceiptedChange } from '../encoding/item-json.ts';
import { replaceFile } from '../files/atomic-write.ts';
import { type Disk, nodeDisk } from '../files/disk.ts';
import { formatJournalHeader } from '../journal/line.ts';
import { formatChecksum, formatLogName, parseLogName } from '../log/line.ts';
import type { NumberRange } from '../state/reserved-ids.ts';
import type { CollectionView, State } from '../state/state.ts';

/** The file names of the current and of the previous snapshot. */
export const snapshotName = 'store.json';
export const previousName = 'store.previous.json';

/** Returns whether a file of this name is a snapshot or a journal. */
export function isStoreFile(name: string): boolean {
  return name === snapshotName || name === previousName || parseLogName('journal', name) !== undefined;
}

/** The version of the format of store.json. */
export const snapshotVersion = 1;

/** The maximum number of items, or of receipts, in a block. */
const maxBlockItems = 256;
/** The length (UTF-16 code units) from which on no item is added to a block: encoding one must not take long. */
const maxBlockLength = 1024 * 1024;

/** The first line of a snapshot. */
export interface SnapshotHead {
  readonly storeId: string;
  /** The generation of the first journal that may contain a change which is not in the snapshot. */
  readonly generation: number;
  /** The highest revision that was assigned before the copy began. */
  readonly revision: number;
  /** The number of the last journal line before the copy began. */
  readonly sequence: number;
  /** The time when the copy began (ms). */
  readonly written: number;
}

/**
 * Returns the bytes of store.json, block by block. The state may change between two blocks: the copy then contains some
 * of these changes. Items that are created during the copy are only in the journals, so no id occurs twice; so are
 * receipts. The format is described in docs/data-format.md.
 * @param reached returns, at the end of the copy, the number of the last journal line whose change the copy may
 *   contain; the copy must not become the snapshot before that line is on the disk
 */
export function* writeSnapshot(
  head: SnapshotHead,
  state: State,
  reached: () => number,
): Generator<Buffer, void, undefined> {
  const ends = Array.from(state.collections(), ({ path, sequence }) => ({ path, sequence }));
  const receipts = state.receipts.unexpired(head.written);
  const first = formatHead(head);
  let [sum, blocks, items, separator] = [crc32(first), 0, 0, ''];
  yield Buffer.from(first);
  const block = (start: string, lines: readonly string[]): Buffer => {
    const content = `${start}[\n${lines.join(',\n')}${lines.length === 0 ? '' : '\n'}]}`;
    const checksum = formatChecksum(crc32(content));
    const bytes = Buffer.from(`${separator}{"crc":"${checksum}",${content}`);
    sum = crc32(checksum, sum);
    blocks += 1;
    separator = ',\n';
    return bytes;
  };
  for (let at = 0; at < receipts.length; at += maxBlockItems) {
    yield block('"receipts":', receipts.slice(at, at + maxBlockItems).map(formatReceiptedChange));
  }
  for (const { path, sequence } of ends) {
    for (const lines of listBlocks(state, path, sequence)) {
      items += lines.length;
      yield block(`${formatNumbers(state.collection(path))},"items":`, lines);
    }
  }
  const counts = `,"blocks":${blocks},"items":${items},"sequence":${reached()}}}`;
  const footer = `"footer":{"crc":"${formatChecksum(crc32(counts, sum))}"${counts}`;
  yield Buffer.from(`${blocks === 0 ? '' : '\n'}],${footer}\n`);
}

/** Formats the first line, with its line end. */
function formatHead({ storeId, generation, revision, sequence, written }: SnapshotHead): string {
  const members = { version: snapshotVersion, lineage: storeId, generation, revision, sequence };
  const text = JSON.stringify({ ...members, written: formatIsoDate(written) });
  return `${text.slice(0, -1)},"blocks":[\n`;
}

/** Returns the lines of each block of a collection, with the items up to a sequence; one block if there are none. */
function* listBlocks(state: State, path: string, end: number): Generator<readonly string[]> {
  let block = formatBlock(state, path, 0, end);
  do {
    yield block.lines;
    block = formatBlock(state, path, block.reached, end);
  } while (block.lines.length > 0);
}

/** Returns the lines of a block with the items after a sequence, and the sequence of its last item. */
function formatBlock(
  state: State,
  path: string,
  after: number,
  end: number,
): { readonly lines: readonly string[]; readonly reached: number } {
  const lines: string[] = [];
  let [reached, length] = [after, 0];
  for (const item of state.list(path, after, maxBlockItems).entries) {
    if (item.sequence > end || length >= maxBlockLength) break;
    const line = formatItem(item);
    lines.push(line);
    length += line.length;
    reached = item.sequence;
  }
  return { lines, reached };
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

/** The content of a new store. */
interface NewStore {
  readonly storeId: string;
  readonly state: State;
  /** The current time (ms). */
  readonly now: number;
}

/**
 * Writes a state to a data directory without a store, as a snapshot and an empty journal. The snapshot, without which there is no
 * store, is written last. Resolves when both are on the disk. Throws StoreError.
 */
export async function writeStore(
  directory: string,
  { storeId, state, now }: NewStore,
  disk: Disk = nodeDisk,
): Promise<void> {
  const head = { storeId, generation: 1, revision: state.revision, sequence: 0 };
  const name = formatLogName('journal', head.generation);
  const journal = formatJournalHeader({ ...head, opened: now });
  await replaceFile(disk, { directory, name, content: [journal], sync: true });
  const content = writeSnapshot({ ...head, written: now }, state, () => 0);
  await replaceFile(disk, { directory, name: snapshotName, content, sync: true });
}
