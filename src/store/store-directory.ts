import { type JournaledStore, type JournaledStoreOptions, openJournaledStore } from './durable.ts';
import { type DirectoryLock, lockDirectory } from './files/lock.ts';
import { type FileNonces, openNonces } from './nonces/file.ts';
import { recover } from './recover.ts';
import type { OnProgress, Scanned } from './scan.ts';
import { createStoreId } from './store-id.ts';

/** The options of the store and the nonces in a data directory. */
interface StoreDirectoryOptions
  extends Pick<
    JournaledStoreOptions,
    'directory' | 'durability' | 'clock' | 'onWarning' | 'limits' | 'onSync'
  > {
  /** The maximum difference between a signed date and the clock, in ms. */
  readonly window: number;
  readonly maxNonces: number;
  /** Default: a tenth of `maxNonces`. */
  readonly maxNoncesPerUser: number | undefined;
  /** Returns `size` random bytes. */
  readonly random: (size: number) => Uint8Array;
}

/** The store of a data directory, and the nonces beside it. */
export interface OpenedStore {
  readonly store: JournaledStore;
  readonly nonces: FileNonces;
}

/** A locked data directory, whose store is opened in two steps: `recover` reads it, `open` allows changes. */
export class StoreDirectory {
  readonly #options: StoreDirectoryOptions;
  readonly #lock: DirectoryLock;
  /** The nonces, which are read concurrently with the store. */
  readonly #nonces: Promise<FileNonces>;
  #store: JournaledStore | undefined;

  private constructor(options: StoreDirectoryOptions, lock: DirectoryLock) {
    const { window, maxNonces, maxNoncesPerUser, random } = options;
    this.#options = options;
    this.#lock = lock;
    const most = { window, max: maxNonces, maxPerUser: maxNoncesPerUser };
    this.#nonces = openNonces({ ...options, ...most, key: random(16) });
    this.#nonces.catch(() => {}); // handled where it is awaited
  }

  /** Locks the directory and begins to read its nonces. Throws LockedError or DirectoryError. */
  static async lock(options: StoreDirectoryOptions): Promise<StoreDirectory> {
    return new StoreDirectory(options, await lockDirectory(options.directory));
  }

  /** Reads the store, and repairs and reports the effects of a crash. Throws CorruptionError. */
  async recover(onProgress?: OnProgress): Promise<Scanned> {
    const { directory, onWarning } = this.#options;
    const recovered = await recover({ directory, onProgress });
    for (const report of recovered.reports) onWarning(report);
    return recovered;
  }

  /**
   * Opens the store with the recovered data. Throws CorruptionError or StoreError.
   * @param declarations identifies the declarations to which all items conform. Default: that is not known
   */
  async open(recovered: Scanned, declarations?: string): Promise<OpenedStore> {
    const { random } = this.#options;
    const nonces = await this.#nonces;
    await nonces.begin();
    this.#store = await openJournaledStore({
      ...this.#options,
      recovered,
      declarations,
      newStoreId: () => createStoreId(random),
    });
    return { store: this.#store, nonces };
  }

  /** Waits for pending writes, closes all files, and releases the lock. */
  async close(): Promise<void> {
    try {
      await this.#store?.close().finally(() => this.#closeNonces());
      if (this.#store === undefined) await this.#closeNonces().catch(() => {}); // the first error is reported
    } finally {
      await this.#lock.release();
    }
  }

  async #closeNonces(): Promise<void> {
    const nonces = await this.#nonces.catch(() => undefined); // reported by `open`
    await nonces?.close();
  }
}
