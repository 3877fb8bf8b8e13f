import { join } from 'node:path';
import { type Disk, nodeDisk } from './disk.ts';
import { readFirstVersion, type FirstVersion as Snapshot } from './first-version-reader.ts';
import { type Batch, writeFirstVersion } from './first-version-writer.ts';
import { ReplaceError, removeLeftovers, replaceFile } from './replace.ts';
import { type Prepared, State } from './state.ts';
import { type Applied, type Change, type Entry, type Page, type Store, StoreError } from './store.ts';

/** The name of the file that a store is kept in. */
const fileName = 'store.json';

/** What a store in a file is opened with. */
export interface FileStoreOptions {
  /** Where `store.json` is; it exists, and its lock is the caller's. */
  readonly directory: string;
  /** Draws the lineage of a store that is new. */
  readonly lineage: () => string;
  /** Whether a change is kept once it is on the medium (`fsync`) or once the system has it (`os`). */
  readonly durability: 'fsync' | 'os';
  /** Looks at each item that was kept before; what it throws ends the opening, with nothing changed. */
  readonly judge?: (collection: string, entry: Entry) => void;
  /** The file operations; the host's own by default. */
  readonly disk?: Disk;
}

/**
 * Opens the store in a directory, and begins one when there is no `store.json`. Throws DamagedStoreError when
 * there is one that cannot be used, StoreError when a new one cannot be written.
 */
export async function openFileStore(options: FileStoreOptions): Promise<Store> {
  const disk = options.disk ?? nodeDisk;
  const kept = await loadSnapshot(options.directory, disk);
  if (kept !== undefined && options.judge !== undefined) judgeAll(kept, options.judge);
  // Whoever made them held the lock then and does not now.
  await removeLeftovers(disk, options.directory, fileName, () => true);
  const snapshot = kept ?? { lineage: options.lineage(), state: new State() };
  const store = new FileStore(snapshot, options, disk);
  // The lineage is in the first entity tag already, so it is kept before anything is read.
  if (kept === undefined) await store.begin();
  return store;
}

/**
 * Reads what `store.json` in a directory holds; undefined when there is none. Changes nothing.
 * Throws DamagedStoreError when it cannot be used.
 */
export async function loadSnapshot(directory: string, disk: Disk = nodeDisk): Promise<Snapshot | undefined> {
  const path = join(directory, fileName);
  const bytes = await disk.read(path);
  return bytes === undefined ? undefined : readFirstVersion(path, bytes);
}

/** Shows every item to `judge`, collection by collection. */
export function judgeAll({ state }: Snapshot, judge: (collection: string, entry: Entry) => void): void {
  for (const { path, entries } of state.collections()) {
    for (const entry of entries) judge(path, entry);
  }
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
 * One batch is under way at a time: judged, written as a whole new file, made visible, answered. What arrives
 * meanwhile waits and makes the next batch, so that many writers share one fsync.
 */
class FileStore implements Store {
  readonly lineage: string;
  readonly #state: State;
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #sync: boolean;
  #waiting: Waiting[] = [];
  #draining: Promise<void> | undefined;
  #closed = false;
  /** Why nothing is written any more. */
  #failure: StoreError | undefined;

  constructor(snapshot: Snapshot, options: FileStoreOptions, disk: Disk) {
    this.lineage = snapshot.lineage;
    this.#state = snapshot.state;
    this.#disk = disk;
    this.#directory = options.directory;
    this.#sync = options.durability === 'fsync';
  }

  async read(collection: string, id: string): Promise<Entry | undefined> {
    return this.#state.read(collection, id);
  }

  async list(collection: string, after: number, limit: number): Promise<Page> {
    return this.#state.list(collection, after, limit);
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
    await this.#draining;
  }

  /** Writes the store as it is, for the first time. */
  async begin(): Promise<void> {
    await this.#write(new Map());
  }

  async #drain(): Promise<void> {
    await Promise.resolve(); // all that is applied in this turn shares the first batch
    while (this.#waiting.length > 0) await this.#writeBatch();
    this.#draining = undefined;
  }

  async #writeBatch(): Promise<void> {
    const batch = new Map<string, Map<string, Prepared>>();
    const members = this.#gather(batch);
    if (members.length === 0) return;
    try {
      await this.#write(batch);
    } catch (error) {
      if (error instanceof ReplaceError && error.final) this.#failure = error;
      for (const { waiting } of members) waiting.reject(failureOf(error));
      return;
    }
    for (const { prepared } of members) this.#state.commit(prepared);
    for (const { prepared, waiting } of members) waiting.resolve({ applied: true, entry: prepared.entry });
  }

  /** Moves what can be made at once from the waiting to the batch; the rest stays, in order. */
  #gather(batch: Map<string, Map<string, Prepared>>): Member[] {
    const members: Member[] = [];
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const one of waiting) {
      const { change } = one;
      // Judged against what is committed, so never beside another change to the same item.
      if (change.kind !== 'create' && batch.get(change.collection)?.has(change.id)) this.#waiting.push(one);
      else this.#admit(one, batch, members);
    }
    return members;
  }

  #admit(waiting: Waiting, batch: Map<string, Map<string, Prepared>>, members: Member[]): void {
    if (this.#failure !== undefined) {
      waiting.reject(failureOf(this.#failure));
      return;
    }
    try {
      const prepared = this.#state.prepare(waiting.change);
      if (prepared === undefined) {
        waiting.resolve({ applied: false });
        return;
      }
      const changes = batch.get(prepared.collection) ?? new Map<string, Prepared>();
      batch.set(prepared.collection, changes.set(prepared.entry.id, prepared));
      members.push({ prepared, waiting });
    } catch (error) {
      waiting.reject(error);
    }
  }

  #write(batch: Batch): Promise<void> {
    const content = writeFirstVersion(this.lineage, this.#state, batch);
    return replaceFile(this.#disk, { directory: this.#directory, name: fileName, content, sync: this.#sync });
  }
}

/** An error of its own for each change, with a stack that tells whose it was. */
function failureOf(error: unknown): StoreError {
  const code = error instanceof StoreError ? error.code : 'failed';
  const message = error instanceof Error ? error.message : 'the store could not be written';
  return new StoreError(code, message, error);
}
