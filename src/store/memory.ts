import { type NumberRange, ReservedIds } from './state/reserved-ids.ts';
import { type CollectionNumbers, type CollectionView, State } from './state/state.ts';
import type { Applied, Change, Entry, Store } from './store.ts';

/** What a store in memory is made from. */
export interface MemoryStoreOptions {
  /** A few characters that tell this store's history from any other's. */
  readonly storeId: string;
}

/** All that a store in memory held at a moment: items, and the numbers that it had drawn. Nothing changes it. */
export interface MemorySnapshot {
  readonly collections: readonly KeptCollection[];
}

interface KeptCollection {
  readonly path: string;
  readonly numbers: CollectionNumbers;
  readonly chosen: readonly NumberRange[];
  readonly entries: readonly Entry[];
}

/** A store in memory, whose state can be taken down and put back. */
export interface MemoryStore extends Store {
  /** `apply` at once. */
  applyNow(change: Change): Applied;
  snapshot(): MemorySnapshot;
  /** Puts back what `snapshot` gave; ids and revisions are drawn as they were from there on. */
  restore(snapshot: MemorySnapshot): void;
}

/** Makes a store that lasts as long as the process. A change is judged and made in one synchronous step. */
export function createMemoryStore(options: MemoryStoreOptions): MemoryStore {
  let state = new State();
  const applyNow = (change: Change): Applied => {
    const prepared = state.prepare(change);
    if (prepared === undefined) return { applied: false };
    state.commit(prepared);
    return { applied: true, entry: prepared.entry };
  };
  return {
    storeId: options.storeId,
    read: (collection, id) => state.read(collection, id),
    list: (collection, after, limit, bytes) => state.list(collection, after, limit, bytes),
    async apply(change: Change): Promise<Applied> {
      return applyNow(change);
    },
    applyNow,
    snapshot: () => ({ collections: [...state.collections()].map(keptOf) }),
    restore(snapshot) {
      state = stateOf(snapshot);
    },
    async close(): Promise<void> {},
  };
}

function keptOf({ path, chosen, entries, count: _, ...numbers }: CollectionView): KeptCollection {
  return { path, numbers, chosen: [...chosen], entries: [...entries] };
}

function stateOf({ collections }: MemorySnapshot): State {
  const state = new State();
  for (const { path, numbers, chosen, entries } of collections) {
    const ids = new ReservedIds();
    for (const range of chosen) ids.append(range);
    state.restore(path, numbers, ids, entries);
  }
  return state;
}
