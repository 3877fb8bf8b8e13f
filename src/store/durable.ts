import type { Clock } from '../clock.ts';
import { nextTurn } from '../timers.ts';
import { IsoDates } from './encoding/iso-date.ts';
import { formatMembers } from './encoding/item-json.ts';
import { type Disk, nodeDisk } from './files/disk.ts';
import { Journal } from './journal/journal.ts';
import type { Recovered } from './recovery/recovery.ts';
import { Compaction, type CompactionLimits } from './snapshot/compaction.ts';
import type { Prepared, State } from './state/state.ts';
import {
  type Applied,
  type Change,
  type Entry,
  type Page,
  type Replacement,
  type Store,
  type StoredNonce,
  StoreError,
} from './store.ts';

/** What a store that outlives the process is opened with. */
export interface DurableStoreOptions {
  /** Where its files are; its lock is the caller's. */
  readonly directory: string;
  /** What `recover` found there; from now on it is the store's. */
  readonly recovered: Recovered;
  /** Draws the lineage of a store that is new. */
  readonly newStoreId: () => string;
  /** Whether a change is kept once it is on the medium (`fsync`) or once the system has it (`os`). */
  readonly durability: 'fsync' | 'os';
  readonly clock: Clock;
  /** Is told in a line when changes are not kept from now on, or are again, and that no snapshot could be made. */
  readonly onReport: (line: string) => void;
  /** Is told of the nonce of a change when both are kept. */
  readonly onKept?: (nonce: StoredNonce) => void;
  /** Waited for before a snapshot takes the place of journals: then their nonces have to be kept elsewhere. */
  readonly beforeForgetting?: () => Promise<void>;
  readonly limits?: CompactionLimits;
  /** The file operations; the host's own by default. */
  readonly disk?: Disk;
}

/** How a store is: `full` refuses changes while there is no room, `failed` refuses them for good. Both are read on. */
export interface StoreHealth {
  readonly state: 'well' | 'full' | 'failed';
  /** What went wrong; undefined when nothing did. */
  readonly reason: string | undefined;
  /** Why the last compaction came to nothing; undefined when it did not. */
  readonly compaction: string | undefined;
}

/** A store that outlives the process. */
export interface DurableStore extends Store {
  readonly health: StoreHealth;
}

/**
 * Opens a store on what was recovered, and begins a journal where there is none: the lineage is in the first entity tag
 * already, so it is kept before anything is read. Throws StoreError when that cannot be written.
 */
export async function openDurableStore(options: DurableStoreOptions): Promise<DurableStore> {
  const { recovered, directory, clock, durability, disk = nodeDisk } = options;
  const lineage = recovered.lineage ?? options.newStoreId();
  const journal = await Journal.open({ directory, disk, clock, lineage, durability }, recovered);
  return new JournaledStore(options, disk, lineage, journal);
}

/** A change that waits for its batch, and whom to tell. */
interface Waiting {
  readonly change: Change;
  resolve(applied: Applied): void;
  reject(error: unknown): void;
}

/** A change that is in the batch under way. */
interface Member {
  readonly prepared: Prepared;
  readonly waiting: Waiting;
}

/**
 * One batch is under way at a time: judged, written as lines of the journal, synced, made visible, answered. What
 * arrives meanwhile waits and makes the next batch, so that many writers share one sync. A batch is kept as a whole or
 * not at all, so a change of an item may follow another one in it, where it holds whatever that one makes of the item.
 * Any other waits: nobody is told of an expectation that failed before what it failed for is kept and visible.
 */
class JournaledStore implements DurableStore {
  readonly storeId: string;
  readonly #state: State;
  readonly #journal: Journal;
  readonly #compaction: Compaction;
  readonly #tell: (line: string) => void;
  readonly #onKept: ((nonce: StoredNonce) => void) | undefined;
  readonly #dates = new IsoDates();
  #waiting: Waiting[] = [];
  /** What is to be done while no batch is under way. */
  readonly #tasks: (() => Promise<void>)[] = [];
  #draining: Promise<void> | undefined;
  #closed = false;
  /** Whether there is anything that was not here at the beginning. */
  #changed = false;
  /** Why the last batch was refused, for want of room. */
  #full: StoreError | undefined;
  #toldFailure = false;

  constructor(options: DurableStoreOptions, disk: Disk, lineage: string, journal: Journal) {
    const {
      recovered,
      directory,
      clock,
      onReport: tell,
      onKept,
      beforeForgetting = async () => {},
    } = options;
    const { state, generation, journals } = recovered;
    this.storeId = lineage;
    this.#state = state;
    this.#journal = journal;
    this.#tell = tell;
    this.#onKept = onKept;
    const compacting = {
      ...{ disk, clock, directory, lineage, state, tell, beforeForgetting, limits: options.limits },
      journals: {
        rotate: () => this.#alone(() => journal.rotate(state.revision)),
        get sequence() {
          return journal.sequence;
        },
        sync: () => this.#alone(() => journal.syncAll()),
      },
    };
    const earlier = journals.slice(0, -1).reduce((sum, { bytes }) => sum + bytes, 0);
    this.#compaction = new Compaction(compacting, generation, earlier);
  }

  get health(): StoreHealth {
    const failure = this.#journal.failure ?? this.#full;
    return {
      state: failure?.code ?? 'well',
      reason: failure?.message,
      compaction: this.#compaction.failure,
    };
  }

  read(collection: string, id: string): Entry | undefined {
    return this.#state.read(collection, id);
  }

  list(collection: string, after: number, limit: number, bytes?: number): Page {
    return this.#state.list(collection, after, limit, bytes);
  }

  apply(change: Change): Promise<Applied> {
    if (this.#closed) return Promise.reject(new StoreError('failed', 'the store is closed'));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ change, resolve, reject });
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
    await nextTurn(); // all that is applied in this turn of the event loop shares the first batch
    for (;;) {
      const task = this.#tasks.shift();
      if (task !== undefined) await task();
      else if (this.#waiting.length > 0) await this.#writeBatch();
      else break;
    }
    this.#draining = undefined;
  }

  /** Does something while no batch is under way. */
  #alone<T>(task: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#tasks.push(() =>
        task()
          .then(resolve, reject)
          .finally(() => this.#tellFailure()),
      );
      this.#draining ??= this.#drain();
    });
  }

  async #writeBatch(): Promise<void> {
    const batch = this.#gather();
    const { members } = batch;
    if (members.length === 0) return;
    try {
      await this.#journal.keep();
    } catch (error) {
      this.#refuse(members, error);
      return;
    }
    this.#answer(members);
    // Who comes again does so before the next batch, and is judged first there: so nobody comes in vain for ever.
    if (this.#refuseOutdated(batch)) await nextTurn();
    // Those who were answered are served before the next batch; and where nobody waits, nobody waits for this.
    await this.#journal.prepareSpace().catch(() => this.#tellFailure());
    this.#compaction.consider(this.#journal.bytes);
  }

  #answer(members: readonly Member[]): void {
    this.#changed = true;
    for (const { prepared } of members) this.#state.commit(prepared);
    for (const { prepared, waiting } of members) waiting.resolve({ applied: true, entry: prepared.entry });
    for (const { waiting } of members) {
      if (waiting.change.nonce !== undefined) this.#onKept?.(waiting.change.nonce);
    }
    if (this.#full === undefined) return;
    this.#full = undefined;
    this.#tell('there is room again, and changes are kept');
  }

  /** Answers those whose item the batch made another than they expect, and says whether there were any. */
  #refuseOutdated(batch: Batch): boolean {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const one of waiting) {
      const outdated = batch.latest(one.change) !== undefined && !this.#state.expectationHolds(one.change);
      if (outdated) one.resolve({ applied: false });
      else this.#waiting.push(one);
    }
    return this.#waiting.length < waiting.length;
  }

  #refuse(members: readonly Member[], error: unknown): void {
    for (const { waiting } of members) waiting.reject(failureOf(error));
    if (this.#journal.failure === undefined && error instanceof StoreError) {
      if (this.#full === undefined) this.#tell(`${error.message}; no change is kept while there is no room`);
      this.#full = error;
    }
    this.#tellFailure();
  }

  /** Tells once that the journal failed for good. */
  #tellFailure(): void {
    const { failure } = this.#journal;
    if (failure === undefined || this.#toldFailure) return;
    this.#toldFailure = true;
    this.#tell(`${failure.message}; no change is kept any more: mend the disk and start anew`);
  }

  /** Moves what can be made at once from the waiting to the batch; the rest stays, in order. */
  #gather(): Batch {
    const batch = new Batch();
    const left: Waiting[] = [];
    let full = false;
    for (const one of inTurn(this.#waiting)) {
      const before = batch.latest(one.change);
      const waits = full || (before !== undefined && !mayFollow(before, one.change));
      if (waits) left.push(one);
      else if (!this.#admit(one, before, batch)) {
        full = true;
        left.push(one);
      }
    }
    this.#waiting = left;
    return batch;
  }

  /** Judges a change, and takes it into the batch or answers it; says false when the batch has no room for it. */
  #admit(waiting: Waiting, before: Prepared | undefined, batch: Batch): boolean {
    const { change } = waiting;
    const { failure } = this.#journal;
    try {
      if (failure !== undefined) throw failureOf(failure);
      const value = change.kind === 'delete' ? undefined : JSON.stringify(change.value);
      const id = change.kind === 'create' ? '' : change.id;
      if (!this.#journal.hasRoomFor(change.collection, id, value ?? '', change.nonce)) return false;
      const prepared = this.#state.prepare(change, before);
      if (prepared === undefined) {
        waiting.resolve({ applied: false });
        return true;
      }
      const members = this.#membersOf(prepared, value);
      this.#journal.add(change, members, change.nonce);
      batch.add({ prepared, waiting });
    } catch (error) {
      waiting.reject(error);
    }
    return true;
  }

  /** Those of the item as the change makes it; of one that is deleted, with the number and the date of that. */
  #membersOf({ kind, entry, revision, at }: Prepared, value: string | undefined): string {
    const item = kind === 'set' ? entry : { ...entry, revision, modified: at };
    return formatMembers(item, value, this.#dates.format(item.modified));
  }
}

/** Changes that are made together, in this order. */
class Batch {
  readonly members: Member[] = [];
  /** The last change of each item, by collection and id. */
  readonly #latest = new Map<string, Map<string, Prepared>>();

  /** The last change that it has of the same item. */
  latest(change: Change): Prepared | undefined {
    return change.kind === 'create' ? undefined : this.#latest.get(change.collection)?.get(change.id);
  }

  add(member: Member): void {
    const { prepared } = member;
    const { collection, entry } = prepared;
    const items = this.#latest.get(collection);
    if (items === undefined) this.#latest.set(collection, new Map([[entry.id, prepared]]));
    else items.set(entry.id, prepared);
    this.members.push(member);
  }
}

/**
 * The order in which changes are judged: that in which they came, but what takes any state of an item comes after
 * those who expect a certain one, for they could not hold after it.
 */
function inTurn(waiting: readonly Waiting[]): readonly Waiting[] {
  if (!waiting.some(({ change }) => takesAny(change))) return waiting;
  const expected = new Set<string>();
  for (const { change } of waiting) {
    if (change.kind !== 'create' && !takesAny(change)) expected.add(itemOf(change));
  }
  if (expected.size === 0) return waiting;
  const yields = ({ change }: Waiting): boolean => takesAny(change) && expected.has(itemOf(change));
  return [...waiting.filter((one) => !yields(one)), ...waiting.filter(yields)];
}

/** Whether a change can be in a batch that has this one of the same item: it must hold whatever that makes of it. */
function mayFollow(before: Prepared, change: Change): boolean {
  return before.kind === 'set' && takesAny(change);
}

/** A name of the item that a change is of. */
function itemOf(change: Exclude<Change, { kind: 'create' }>): string {
  return `${change.collection}\n${change.id}`;
}

/** Whether a change holds whatever is there, as long as something is. */
function takesAny(change: Change): change is Replacement {
  return change.kind === 'put' && change.expected === 'present';
}

/** An error of its own for each change, with a stack that tells whose it was. */
function failureOf(error: unknown): StoreError {
  const code = error instanceof StoreError ? error.code : 'failed';
  const message = error instanceof Error ? error.message : 'the journal could not be written';
  return new StoreError(code, message, error, true);
}
