import { createHash } from 'node:crypto';
import { membersOf, read } from '../shape/shape.ts';
import { type AssignRevision, State } from './state/state.ts';
import type { Store, StoreChange, StoreResult, TransferPart } from './store.ts';

/** The options of a store in memory. */
type MemoryStoreOptions = {
  /** A few characters that identify the store. They are part of every entity tag. */
  readonly storeId: string;
};

/** An immutable copy of a store in memory: its items, its counters and its receipts. */
export type MemorySnapshot = readonly TransferPart[];

/** A store in memory that can be copied and restored. */
export interface MemoryStore extends Store {
  /** Makes a change synchronously. */
  applyNow(change: StoreChange): StoreResult;
  /** Returns a copy of all items, counters and receipts. */
  snapshot(): MemorySnapshot;
  /**
   * Restores a copy. Ids then count from those of the copy. The same changes get the same revisions again, and other changes
   * get revisions that were never assigned, so that an entity tag never identifies two states. Listeners of `watch` are not
   * called any more: the revision of a collection shows that its content was replaced.
   */
  restore(snapshot: MemorySnapshot): void;
}

/** Creates a store that can also be copied and restored, and that makes changes synchronously. @internal */
export function createMemoryStore(options: MemoryStoreOptions): MemoryStore;
/**
 * Creates a store in memory, for tests: its data is lost when the process ends. Throws RangeError on an unknown or wrong option.
 *
 * @example const service = createService({ store: createMemoryStore({ storeId: 'test' }) });
 */
export function createMemoryStore(options: MemoryStoreOptions): Store;
export function createMemoryStore(options: MemoryStoreOptions): MemoryStore {
  read(membersOf(['storeId']), options, { optionsOf: 'a store in memory' });
  if (typeof options.storeId !== 'string' || options.storeId === '')
    throw new RangeError('storeId of a store in memory must be text');
  const timelines = createTimelines();
  let state = new State(0, timelines.assign);
  const applyNow = (change: StoreChange): StoreResult => {
    const prepared = state.prepare(change);
    if ('applied' in prepared) return prepared;
    state.commit(prepared);
    return { applied: true, entry: prepared.entry };
  };
  return {
    storeId: options.storeId,
    read: (collection, id) => state.read(collection, id),
    list: (collection, after, limit) => state.list(collection, after, limit),
    async apply(change: StoreChange): Promise<StoreResult> {
      return applyNow(change);
    },
    checksUnique: true,
    referrers: (references, collection, id, most) => state.referrers(references, collection, id, most),
    watch: (collection, listener) => state.watch(collection, listener),
    receipt: (key, now) => state.receipts.find(key, now),
    receiptsOf: (user, now) => state.receipts.of(user, now),
    applyNow,
    snapshot() {
      timelines.begin();
      return [...state.records(options.storeId)];
    },
    restore(snapshot) {
      state = new State(0, timelines.assign);
      for (const record of snapshot) state.take(record);
    },
    async close(): Promise<void> {},
  };
}

/** The maximum number of remembered changes. */
const maxChanges = 100_000;

/** The revisions of a store that can be restored. */
interface Timelines {
  /**
   * Assigns revisions. A revision identifies one change to one state: a change that is repeated after a restore gets its
   * former revision, any other change one that was never assigned.
   */
  readonly assign: AssignRevision;
  /** Must be called before the first copy. Changes before it cannot be repeated, so they need not be remembered. */
  begin(): void;
}

/** Creates revisions from 1. After 100,000 changes all are forgotten; a repetition of one then gets a new revision. */
function createTimelines(): Timelines {
  /** The revision of each change, by the revision before it and the change. */
  const revisions = new Map<string, number>();
  let highestEver = 0;
  let begun = false;
  return {
    assign(highest, change) {
      const key = begun ? `${highest} ${computeDigest(change)}` : '';
      const former = begun ? revisions.get(key) : undefined;
      if (former !== undefined) return former;
      highestEver = Math.max(highestEver, highest) + 1;
      if (revisions.size >= maxChanges) revisions.clear();
      if (begun) revisions.set(key, highestEver);
      return highestEver;
    },
    begin() {
      begun = true;
    },
  };
}

/** Returns a digest of the parts of a change that determine the state after it. */
function computeDigest(change: StoreChange): string {
  return createHash('sha256').update(JSON.stringify(change)).digest('base64');
}
