// Stores changes in a journal. All waiting changes share one write and one sync. PUTs without preconditions to the same item may
// share a batch; any other change to that item waits for the batch and is checked against what is stored, so a 412 never reports
// a change that is lost later.
import type { Clock } from '../clock.ts';
import { nextTurn } from '../timers.ts';
import { Batch, type Member, mayFollow, orderBatch, type QueuedChange } from './batch.ts';
import { IsoDates } from './encoding/iso-date.ts';
import { StoreError } from './errors.ts';
import { type Disk, nodeDisk } from './files/disk.ts';
import { GroupCommit } from './log/group-commit.ts';
import { Log } from './log/log.ts';
import { formatChange, formatHead, formatMadeChange, formatMembers } from './record.ts';
import type { Scanned } from './scan.ts';
import { Compaction, type CompactionLimits } from './snapshot/compaction.ts';
import type { Prepared, State } from './state/state.ts';
import type {
  ChangeListener,
  ReceiptCount,
  ReferenceRules,
  Referrer,
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
  const { recovered, declarations, disk = nodeDisk } = options;
  const storeId = recovered.storeId ?? options.newStoreId();
  const last = recovered.journals.at(-1);
  const isContinued = last !== undefined && last.declarations === declarations;
  const journal = await openJournal(options, disk, isContinued ? last.bytes : undefined);
  if (!isContinued) await journal.begin(formatNextHead(options, storeId, journal));
  return new JournaledStore(options, disk, storeId, journal);
}

/** Opens the journal. `bytes` is the length of the lines in the last file; undefined if a new one is begun. Throws StoreError. */
function openJournal(
  { directory, recovered, durability, clock, onSync }: JournaledStoreOptions,
  disk: Disk,
  bytes: number | undefined,
): Promise<Log<Member>> {
  const { generation, sequence, journals } = recovered;
  const measure = async (sync: () => Promise<void>): Promise<void> => {
    const begun = clock.steady();
    await sync();
    onSync?.(clock.steady() - begun);
  };
  return Log.open<Member>(
    {
      name: 'journal',
      directory,
      disk,
      sync: durability === 'fsync' ? 'appends' : 'files',
      preallocated: true,
      renamed: false,
      inBackground: false,
      format: ({ prepared: { receipted }, queued: { change }, members, also }, seq, durable) =>
        formatChange({ seq, durable, change, receipted }, members, also),
      measure: onSync === undefined ? undefined : measure,
    },
    { number: journals.at(-1)?.generation ?? generation, sequence, bytes },
  );
}

/** Formats the head of the next journal. */
function formatNextHead(
  { recovered, clock, declarations }: JournaledStoreOptions,
  storeId: string,
  { number, sequence }: Log<Member>,
): string {
  const { revision } = recovered.state;
  return formatHead('journal', {
    storeId,
    generation: number + 1,
    revision,
    sequence,
    at: clock.now(),
    declarations,
  });
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
  readonly #journal: Log<Member>;
  readonly #compaction: Compaction;
  readonly #onWarning: (line: string) => void;
  readonly #dates = new IsoDates();
  /** The changes of one turn of the event loop share the first batch. */
  readonly #batches = new GroupCommit<QueuedChange>(() => this.#writeBatch(), nextTurn);
  #closed = false;
  /** Whether there was any change since the start. */
  #changed = false;
  /** The error of the last batch if there was no space for it. */
  #full: StoreError | undefined;
  #failureReported = false;

  constructor(options: JournaledStoreOptions, disk: Disk, storeId: string, journal: Log<Member>) {
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
        rotate: () =>
          this.#betweenBatches(async () => {
            await journal.begin(formatNextHead(options, storeId, journal));
            return journal.number;
          }),
        get sequence() {
          return journal.sequence;
        },
        sync: () => this.#betweenBatches(() => journal.sync()),
        drop: (before: number) => journal.drop((generation) => generation >= before),
      },
    };
    const earlier = journals.filter((each) => each.generation < journal.number);
    const length = earlier.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#compaction = new Compaction(compaction, generation, length);
  }

  get health(): StoreHealth {
    const failure = this.#journal.failure ?? this.#full;
    const state = failure?.code === 'full' ? 'full' : 'failed';
    return {
      state: failure === undefined ? 'well' : state,
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

  referrers(rules: ReferenceRules, collection: string, id: string, most: number): readonly Referrer[] {
    return this.#state.referrers(rules, collection, id, most);
  }

  apply(change: StoreChange): Promise<StoreResult> {
    if (this.#closed) return Promise.reject(new StoreError('failed', 'the store is closed'));
    return new Promise((resolve, reject) => {
      this.#batches.add({ change, resolve, reject });
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#compaction.stop();
    await this.#batches.idle;
    if (this.#changed && this.health.state === 'well') await this.#compaction.conclude(this.#journal.bytes);
    await this.#batches.idle;
    await this.#journal.close();
  }

  /** Calls a function between two batches. */
  #betweenBatches<T>(task: () => Promise<T>): Promise<T> {
    return this.#batches.between(() => task().finally(() => this.#reportFailure()));
  }

  async #writeBatch(): Promise<void> {
    const batch = this.#takeBatch();
    const { members } = batch;
    if (members.length === 0) return;
    try {
      await this.#journal.append(members);
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
    const queue = this.#batches.waiting;
    this.#batches.waiting = queue.filter((queued) => {
      const isOutdated =
        batch.latest(queued.change) !== undefined && !this.#state.expectationHolds(queued.change);
      if (isOutdated) queued.resolve({ applied: false });
      return !isOutdated;
    });
    return this.#batches.waiting.length < queue.length;
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
    for (const queued of orderBatch(this.#batches.waiting)) {
      const before = batch.latest(queued.change);
      const { receipt } = queued.change;
      const repeats = receipt !== undefined && batch.hasReceipt(receipt.key);
      const waits =
        full ||
        repeats ||
        batch.excludes(queued.change) ||
        batch.hasKeyOf(queued.change) ||
        (before !== undefined && !mayFollow(before, queued.change));
      if (waits) left.push(queued);
      else if (!this.#admit(queued, before, batch)) {
        full = true;
        left.push(queued);
      }
    }
    this.#batches.waiting = left;
    return batch;
  }

  /** Checks a change, and adds it to the batch or resolves it. Returns false if the batch has no room for it. */
  #admit(queued: QueuedChange, before: Prepared | undefined, batch: Batch): boolean {
    const { change } = queued;
    const { failure } = this.#journal;
    try {
      if (failure !== undefined) throw toFailure(failure);
      const value = change.kind === 'delete' ? undefined : JSON.stringify(change.value);
      if (!batch.hasRoomFor(change, value ?? this.#formerValue(change))) return false;
      const prepared = this.#state.prepare(change, before);
      if ('applied' in prepared) {
        queued.resolve(prepared);
        return true;
      }
      const also = prepared.also?.map((each) => this.#formatOther(each));
      batch.add({ prepared, queued, members: this.#formatMembers(prepared, value), also });
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

  /** Formats a change of another item that is made in the same step. */
  #formatOther(prepared: Prepared): string {
    const { kind, collection, entry } = prepared;
    const value = kind === 'delete' ? undefined : JSON.stringify(entry.value);
    const change = { kind: kind === 'delete' ? kind : 'put', collection } as const;
    return formatMadeChange(change, this.#formatMembers(prepared, value));
  }

  /** Formats the members of the changed item. Those of a deleted item contain the revision and the time of its deletion. */
  #formatMembers({ kind, entry, revision, at }: Prepared, value: string | undefined): string {
    const item = kind === 'set' ? entry : { ...entry, revision, modified: at };
    return formatMembers(item, value, this.#dates.format(item.modified));
  }
}

/** Creates an error for one change, so that its stack trace is that of the caller. */
function toFailure(error: unknown): StoreError {
  const code = error instanceof StoreError ? error.code : 'failed';
  const message = error instanceof Error ? error.message : 'the journal could not be written';
  return new StoreError(code, message, { cause: error, reported: true });
}
