// Stores changes in a journal. All waiting changes share one write and one sync. PUTs without preconditions to the same item may
// share a batch; any other change to that item waits for the batch and is checked against what is stored, so a 412 never reports
// a change that is lost later.
import type { Clock } from '../clock.ts';
import { nextTurn } from '../timers.ts';
import { IsoDates } from './encoding/iso-date.ts';
import { StoreError } from './errors.ts';
import { type Disk, nodeDisk } from './files/disk.ts';
import { Journal } from './log/journal.ts';
import { formatMembers } from './record.ts';
import type { Scanned } from './scan.ts';
import { Compaction, type CompactionLimits } from './snapshot/compaction.ts';
import type { Prepared, State } from './state/state.ts';
import { listUniqueKeys } from './state/unique-keys.ts';
import type {
  ChangeListener,
  ReceiptCount,
  Replacement,
  Store,
  StoreChange,
  StoredItem,
  StoredPage,
  StoredReceipt,
  StoreResult,
} from './store.ts';

/** The options of a store on recovered data. */
export interface JournaledStoreOptions {
  /** The data directory. The caller holds its lock. */
  readonly directory: string;
  /** The result of `recover` for the directory. The store takes ownership of it. */
  readonly recovered: Scanned;
  /** Generates the id of a new store. */
  readonly newStoreId: () => string;
  /** Identifies the declarations to which all items conform, now and after each change. Default: that is not known. */
  readonly declarations?: string | undefined;
  /** Whether a change is stored when it is on the disk (`fsync`) or when the operating system has it (`os`). */
  readonly durability: 'fsync' | 'os';
  readonly clock: Clock;
  /** Called with one line when changes cannot be stored any more, when they can again, and when a snapshot failed. */
  readonly onWarning: (line: string) => void;
  readonly limits?: CompactionLimits | undefined;
  /** Called with the duration of each sync of the journal (ms). Default: it is not measured. */
  readonly onSync?: ((ms: number) => void) | undefined;
  /** The file operations. Default: those of the host. */
  readonly disk?: Disk | undefined;
}

/**
 * The state of a store: `full` rejects changes while there is no space, `failed` rejects them until the next start.
 * Reads continue in both cases.
 */
export interface StoreHealth {
  /** `well`, or why changes are rejected. */
  readonly state: 'well' | 'full' | 'failed';
  /** Why changes are rejected; undefined if they are not. */
  readonly reason: string | undefined;
  /** Why the last compaction failed; undefined if it succeeded. */
  readonly compaction: string | undefined;
}

/**
 * Opens a store on recovered data. Creates a journal if there is none: the first entity tag contains the store id, so
 * the id is stored before anything is read. Throws StoreError if the journal cannot be written.
 */
export async function openJournaledStore(options: JournaledStoreOptions): Promise<JournaledStore> {
  const { recovered, directory, clock, durability, declarations, onSync, disk = nodeDisk } = options;
  const storeId = recovered.storeId ?? options.newStoreId();
  const journal = await Journal.open(
    { directory, disk, clock, storeId, durability, declarations, onSync },
    recovered,
  );
  return new JournaledStore(options, disk, storeId, journal);
}

/** A change that waits for its batch, with its callbacks. */
interface QueuedChange {
  readonly change: StoreChange;
  resolve(applied: StoreResult): void;
  reject(error: unknown): void;
}

/** A change of the current batch. */
interface Member {
  readonly prepared: Prepared;
  readonly queued: QueuedChange;
}

/**
 * A store whose data survives the process. Writes changes in batches, one at a time: a batch is checked, written to the journal, synced, made visible, and then
 * its promises are resolved. Changes that arrive meanwhile form the next batch, so that many writers share one sync
 * (group commit). A batch is stored completely or not at all. So it may contain two changes of one item if the second
 * one applies whatever the first one does. Any other second change waits: it must not fail because of a change
 * that is not stored and visible yet.
 */
export class JournaledStore implements Store {
  readonly storeId: string;
  readonly checksUnique = true;
  readonly #state: State;
  readonly #journal: Journal;
  readonly #compaction: Compaction;
  readonly #onWarning: (line: string) => void;
  readonly #dates = new IsoDates();
  #queue: QueuedChange[] = [];
  /** Functions to call between two batches. */
  readonly #tasks: (() => Promise<void>)[] = [];
  #draining: Promise<void> | undefined;
  #closed = false;
  /** Whether there was any change since the start. */
  #changed = false;
  /** The error of the last batch if there was no space for it. */
  #full: StoreError | undefined;
  #failureReported = false;

  constructor(options: JournaledStoreOptions, disk: Disk, storeId: string, journal: Journal) {
    const { recovered, directory, clock, onWarning } = options;
    const { state, generation, journals } = recovered;
    this.storeId = storeId;
    this.#state = state;
    this.#journal = journal;
    this.#onWarning = onWarning;
    const compaction = {
      disk,
      clock,
      directory,
      storeId,
      state,
      onWarning,
      limits: options.limits,
      journals: {
        rotate: () => this.#betweenBatches(() => journal.rotate(state.revision)),
        get sequence() {
          return journal.sequence;
        },
        sync: () => this.#betweenBatches(() => journal.syncAll()),
      },
    };
    const earlier = journals.filter((each) => each.generation < journal.generation);
    const length = earlier.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#compaction = new Compaction(compaction, generation, length);
  }

  get health(): StoreHealth {
    const failure = this.#journal.failure ?? this.#full;
    return {
      state: failure === undefined ? 'well' : stateFor(failure),
      reason: failure?.message,
      compaction: this.#compaction.failure,
    };
  }

  /** The bytes of the changes that are in the current journal only. */
  get journalBytes(): number {
    return this.#journal.bytes;
  }

  read(collection: string, id: string): StoredItem | undefined {
    return this.#state.read(collection, id);
  }

  list(collection: string, after: number, limit: number): StoredPage {
    return this.#state.list(collection, after, limit);
  }

  watch(collection: string, listener: ChangeListener): () => void {
    return this.#state.watch(collection, listener);
  }

  receipt(key: string, now: number): StoredReceipt | undefined {
    return this.#state.receipts.find(key, now);
  }

  receiptsOf(user: string, now: number): ReceiptCount {
    return this.#state.receipts.of(user, now);
  }

  apply(change: StoreChange): Promise<StoreResult> {
    if (this.#closed) return Promise.reject(new StoreError('failed', 'the store is closed'));
    return new Promise((resolve, reject) => {
      this.#queue.push({ change, resolve, reject });
      this.#draining ??= this.#drain();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#compaction.stop();
    await this.#draining;
    if (this.#changed && this.health.state === 'well') await this.#compaction.conclude(this.#journal.bytes);
    await this.#draining;
    await this.#journal.close();
  }

  async #drain(): Promise<void> {
    await nextTurn(); // the changes of one turn of the event loop share the first batch
    for (;;) {
      const task = this.#tasks.shift();
      if (task !== undefined) await task();
      else if (this.#queue.length > 0) await this.#writeBatch();
      else break;
    }
    this.#draining = undefined;
  }

  /** Calls a function between two batches. */
  #betweenBatches<T>(task: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#tasks.push(() =>
        task()
          .then(resolve, reject)
          .finally(() => this.#reportFailure()),
      );
      this.#draining ??= this.#drain();
    });
  }

  async #writeBatch(): Promise<void> {
    const batch = this.#takeBatch();
    const { members } = batch;
    if (members.length === 0) return;
    try {
      await this.#journal.write();
    } catch (error) {
      this.#reject(members, error);
      return;
    }
    this.#commit(members);
    // A client that repeats its request now is first in the next batch, so it succeeds after a few attempts.
    if (this.#resolveOutdated(batch)) await nextTurn();
    // After the promises were resolved, so that no response waits for it.
    await this.#journal.prepareSpace().catch(() => this.#reportFailure());
    this.#compaction.consider(this.#journal.bytes);
  }

  #commit(members: readonly Member[]): void {
    this.#changed = true;
    for (const { prepared } of members) this.#state.commit(prepared);
    for (const { prepared, queued } of members) queued.resolve({ applied: true, entry: prepared.entry });
    if (this.#full === undefined) return;
    this.#full = undefined;
    this.#onWarning('there is space again, and changes are stored');
  }

  /** Resolves the queued changes that no longer apply because of this batch. Returns whether there were any. */
  #resolveOutdated(batch: Batch): boolean {
    const queue = this.#queue;
    this.#queue = [];
    for (const queued of queue) {
      const outdated =
        batch.latest(queued.change) !== undefined && !this.#state.expectationHolds(queued.change);
      if (outdated) queued.resolve({ applied: false });
      else this.#queue.push(queued);
    }
    return this.#queue.length < queue.length;
  }

  #reject(members: readonly Member[], error: unknown): void {
    for (const { queued } of members) queued.reject(toFailure(error));
    if (this.#journal.failure === undefined && error instanceof StoreError) {
      if (this.#full === undefined)
        this.#onWarning(`${error.message}; no change is stored while there is no space`);
      this.#full = error;
    }
    this.#reportFailure();
  }

  /** Reports once that the journal has failed permanently. */
  #reportFailure(): void {
    const { failure } = this.#journal;
    if (failure === undefined || this.#failureReported) return;
    this.#failureReported = true;
    this.#onWarning(
      `${failure.message}; no change is stored any more: repair the disk and restart the server`,
    );
  }

  /** Moves changes that can be made together from the queue to a batch. The others stay in the queue, in order. */
  #takeBatch(): Batch {
    const batch = new Batch();
    const left: QueuedChange[] = [];
    let full = false;
    for (const queued of orderBatch(this.#queue)) {
      const before = batch.latest(queued.change);
      const { receipt } = queued.change;
      const repeats = receipt !== undefined && batch.hasReceipt(receipt.key);
      const waits =
        full ||
        repeats ||
        batch.hasKeyOf(queued.change) ||
        (before !== undefined && !mayFollow(before, queued.change));
      if (waits) left.push(queued);
      else if (!this.#admit(queued, before, batch)) {
        full = true;
        left.push(queued);
      }
    }
    this.#queue = left;
    return batch;
  }

  /** Checks a change, and adds it to the batch or resolves it. Returns false if the batch has no room for it. */
  #admit(queued: QueuedChange, before: Prepared | undefined, batch: Batch): boolean {
    const { change } = queued;
    const { failure } = this.#journal;
    try {
      if (failure !== undefined) throw toFailure(failure);
      const value = change.kind === 'delete' ? undefined : JSON.stringify(change.value);
      if (!this.#journal.hasRoomFor(change, value ?? this.#formerValue(change))) return false;
      const prepared = this.#state.prepare(change, before);
      if ('applied' in prepared) {
        queued.resolve(prepared);
        return true;
      }
      const members = this.#formatMembers(prepared, value);
      this.#journal.add(change, prepared, members);
      batch.add({ prepared, queued });
    } catch (error) {
      queued.reject(error);
    }
    return true;
  }

  /** Returns the value of the item, as JSON, that the journal line of a deletion contains because of its receipt. */
  #formerValue(change: StoreChange): string {
    if (change.kind !== 'delete' || change.receipt === undefined) return '';
    return JSON.stringify(this.#state.read(change.collection, change.id)?.value ?? {});
  }

  /** Formats the members of the changed item. Those of a deleted item contain the revision and the time of its deletion. */
  #formatMembers({ kind, entry, revision, at }: Prepared, value: string | undefined): string {
    const item = kind === 'set' ? entry : { ...entry, revision, modified: at };
    return formatMembers(item, value, this.#dates.format(item.modified));
  }
}

/** Changes that are stored together, in this order. */
class Batch {
  readonly members: Member[] = [];
  /** The last change of each item, by collection and id. */
  readonly #latest = new Map<string, Map<string, Prepared>>();
  /** The keys of receipts; undefined if there are none. */
  #receipts: Set<string> | undefined;
  /** The unique keys of the changes, with their collections; undefined if there are none. */
  #keys: Set<string> | undefined;

  /** Returns whether the batch has a change with a receipt of this key: another one must wait for it. */
  hasReceipt(key: string): boolean {
    return this.#receipts?.has(key) ?? false;
  }

  /** Returns whether a change of the batch has a unique key of this one, which must wait for it. */
  hasKeyOf(change: StoreChange): boolean {
    const keys = this.#keys;
    return keys !== undefined && listKeys(change).some((key) => keys.has(key));
  }

  /** Returns the last change of the same item. */
  latest(change: StoreChange): Prepared | undefined {
    return change.kind === 'create' ? undefined : this.#latest.get(change.collection)?.get(change.id);
  }

  add(member: Member): void {
    const { prepared, queued } = member;
    const { collection, entry, receipted } = prepared;
    if (receipted !== undefined) {
      this.#receipts ??= new Set();
      this.#receipts.add(receipted.receipt.key);
    }
    for (const key of listKeys(queued.change)) {
      this.#keys ??= new Set();
      this.#keys.add(key);
    }
    const items = this.#latest.get(collection);
    if (items === undefined) this.#latest.set(collection, new Map([[entry.id, prepared]]));
    else items.set(entry.id, prepared);
    this.members.push(member);
  }
}

/**
 * Returns changes in the order in which they are checked: the order of arrival, except that a change which expects
 * `present` comes after those of the same item that expect a revision, because these could not apply after it.
 */
function orderBatch(queue: readonly QueuedChange[]): readonly QueuedChange[] {
  if (!queue.some(({ change }) => expectsPresent(change))) return queue;
  const withRevision = new Set<string>();
  for (const { change } of queue) {
    if (change.kind !== 'create' && !expectsPresent(change)) withRevision.add(itemKey(change));
  }
  if (withRevision.size === 0) return queue;
  const isDeferred = ({ change }: QueuedChange): boolean =>
    expectsPresent(change) && withRevision.has(itemKey(change));
  return [...queue.filter((queued) => !isDeferred(queued)), ...queue.filter(isDeferred)];
}

/** Returns whether a change can be in the same batch after `before`, a change of the same item. */
function mayFollow(before: Prepared, change: StoreChange): boolean {
  return before.kind === 'set' && expectsPresent(change);
}

/** Returns the unique keys of a change, with its collection. */
function listKeys(change: StoreChange): string[] {
  if (change.unique === undefined || change.kind === 'delete') return [];
  return listUniqueKeys(change.unique, change.value).map(({ key }) => `${change.collection}\n${key}`);
}

/** Returns a key for the item of a change. */
function itemKey(change: Exclude<StoreChange, { kind: 'create' }>): string {
  return `${change.collection}\n${change.id}`;
}

/** Returns whether a change applies to any revision of an item. */
function expectsPresent(change: StoreChange): change is Replacement {
  return change.kind === 'put' && change.expected === 'present';
}

/** Returns the state of a store after a failure. */
function stateFor({ code }: StoreError): StoreHealth['state'] {
  return code === 'full' ? 'full' : 'failed';
}

/** Creates an error for one change, so that its stack trace is that of the caller. */
function toFailure(error: unknown): StoreError {
  const code = error instanceof StoreError ? error.code : 'failed';
  const message = error instanceof Error ? error.message : 'the journal could not be written';
  return new StoreError(code, message, { cause: error, reported: true });
}
