import { replaceFile } from '../files/atomic-write.ts';
import { snapshotName } from '../files/data-files.ts';
import { type Disk, nodeDisk } from '../files/disk.ts';
import { formatLine, formatLogName } from '../log/line.ts';
import {
  formatBlock,
  formatCollection,
  formatHead,
  formatItem,
  formatReceipt,
  formatSnapshotEnd,
  type HeadInit,
} from '../record.ts';
import type { State } from '../state/state.ts';

/** The maximum number of items, or of receipts, in a block. */
const maxBlockItems = 256;
/** The length (UTF-16 code units) from which on no item is added to a block: encoding one must not take long. */
const maxBlockLength = 1024 * 1024;

/**
 * Returns the lines of store.jsonl. The state may change between two lines: the copy then contains some
 * of these changes. Items that are created during the copy are only in the journals, so no id occurs twice; so are
 * receipts. The format is described in docs/data-format.md.
 * @param reached returns, at the end of the copy, the number of the last journal line whose change the copy may
 *   contain; the copy must not become the snapshot before that line is on the disk
 */
export function* writeSnapshot(
  head: HeadInit,
  state: State,
  reached: () => number,
): Generator<Buffer, void, undefined> {
  const ends = Array.from(state.collections(), ({ path, sequence }) => ({ path, sequence }));
  const receipts = state.receipts.unexpired(head.at);
  let seq = 0;
  const block = (start: string, parts: readonly string[]): Buffer => {
    seq += 1;
    return Buffer.from(formatLine(formatBlock(seq, start, parts)));
  };
  yield Buffer.from(formatLine(formatHead('snapshot', head)));
  for (let at = 0; at < receipts.length; at += maxBlockItems)
    yield block('"receipts"', receipts.slice(at, at + maxBlockItems).map(formatReceipt));
  for (const { path, sequence } of ends)
    for (const items of listBlocks(state, path, sequence))
      yield block(`${formatCounters(state, path)},"items"`, items);
  yield Buffer.from(formatLine(formatSnapshotEnd({ seq: seq + 1, reached: reached() })));
}

/** Returns the items of each block of a collection, as JSON, with the items up to a sequence; one block if there are none. */
function* listBlocks(state: State, path: string, end: number): Generator<readonly string[]> {
  let block = takeItems(state, path, 0, end);
  do {
    yield block.lines;
    block = takeItems(state, path, block.reached, end);
  } while (block.lines.length > 0);
}

/** Returns the items of a block after a sequence, as JSON, and the sequence of its last item. */
function takeItems(
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

function formatCounters(state: State, path: string): string {
  const view = state.collection(path);
  if (view === undefined) throw new RangeError('there is no such collection');
  return formatCollection({ ...view, chosen: [...view.chosen] });
}

/** The content of a new store. */
interface NewStore {
  readonly storeId: string;
  readonly state: State;
  /** The current time (ms). */
  readonly now: number;
  /** The number of the journal. Default: 1. */
  readonly generation?: number;
  /** The number of the last change. Default: 0. */
  readonly sequence?: number;
}

/**
 * Writes a state to a data directory without a store, as a snapshot and an empty journal. The snapshot, without which there is no
 * store, is written last. Resolves when both are on the disk. Throws StoreError.
 */
export async function writeStore(
  directory: string,
  { storeId, state, now, generation = 1, sequence = 0 }: NewStore,
  disk: Disk = nodeDisk,
): Promise<void> {
  const head = { storeId, generation, revision: state.revision, sequence, at: now };
  const name = formatLogName('journal', generation);
  const journal = formatLine(formatHead('journal', head));
  await replaceFile(disk, { directory, name, content: [journal], sync: true });
  const content = writeSnapshot(head, state, () => sequence);
  await replaceFile(disk, { directory, name: snapshotName, content, sync: true });
}
