import { State } from './state.ts';
import type { Applied, Change, Entry, Page, Store } from './store.ts';

/** What a store in memory is made from. */
export interface MemoryStoreOptions {
  /** A few characters that tell this store's history from any other's. */
  readonly lineage: string;
}

/** Makes a store that lasts as long as the process. A change is judged and made in one synchronous step. */
export function createMemoryStore(options: MemoryStoreOptions): Store {
  const state = new State();
  return {
    lineage: options.lineage,
    async read(collection: string, id: string): Promise<Entry | undefined> {
      return state.read(collection, id);
    },
    async list(collection: string, after: number, limit: number): Promise<Page> {
      return state.list(collection, after, limit);
    },
    async apply(change: Change): Promise<Applied> {
      const prepared = state.prepare(change);
      if (prepared === undefined) return { applied: false };
      state.commit(prepared);
      return { applied: true, entry: prepared.entry };
    },
    async close(): Promise<void> {},
  };
}
