import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { nodeDisk } from '../../../src/store/files/disk.ts';
import { readSnapshot, type Snapshot } from '../../../src/store/snapshot/reader.ts';
import { writeSnapshot } from '../../../src/store/snapshot/writer.ts';
import type { CollectionView, State } from '../../../src/store/state/state.ts';
import type { StoreChange, StoredItem } from '../../../src/store/store.ts';

/** The first line of the snapshots of tests. */
export const head = {
  kind: 'head' as const,
  storeId: 'k3x9',
  generation: 1,
  revision: 0,
  sequence: 0,
  at: Date.UTC(2013, 3, 20, 12, 59, 24),
};

/** The text of a snapshot of a state that does not change meanwhile. */
export function formatSnapshot(
  state: State,
  changes: Partial<typeof head> & { readonly reached?: number } = {},
): string {
  const { reached = 0, ...others } = changes;
  return [...writeSnapshot({ ...head, revision: state.revision, ...others }, state, () => reached)].join('');
}

/** Writes store.jsonl and reads it. */
export async function reread(directory: string, content: string | Uint8Array): Promise<Snapshot> {
  const path = join(directory, 'store.jsonl');
  await writeFile(path, content);
  const snapshot = await readSnapshot(nodeDisk, path);
  if (snapshot === undefined) throw new Error('it is not there');
  return snapshot;
}

/** Makes a change whose expectation holds. */
export function make(state: State, change: StoreChange): StoredItem {
  const prepared = state.prepare(change);
  if ('applied' in prepared) throw new Error('the expectation does not hold');
  state.commit(prepared);
  return prepared.entry;
}

/** All that can be seen of a state or drawn from it. */
export function seen(state: State): unknown {
  const views = Array.from(state.collections(), (view: CollectionView) => ({
    ...view,
    chosen: [...view.chosen],
    entries: [...view.entries],
    byId: [...view.entries].map(({ id }) => state.read(view.path, id)),
  }));
  views.sort((one, other) => (one.path < other.path ? -1 : 1));
  return { revision: state.revision, views };
}
