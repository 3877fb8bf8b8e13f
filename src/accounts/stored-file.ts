// A file of accounts is either in the data directory or a document of a shared store: the same text, changed as one atomic step,
// by a lock or by a compare-and-set. One watcher serves both. A document is replaced as a whole, so an invalid one is reported
// at once.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DocumentStore } from '../store/documents.ts';
import { StoreError } from '../store/errors.ts';
import { removeLeftovers, replaceFile } from '../store/files/atomic-write.ts';
import type { accountFileNames } from '../store/files/data-files.ts';
import { prepareDirectory } from '../store/files/directory.ts';
import { errorCode, nodeDisk } from '../store/files/disk.ts';
import { type DirectoryLock, LockedError, lockDirectory } from '../store/files/lock.ts';
import { isRunning } from '../store/files/process-liveness.ts';
import { delay } from '../timers.ts';

/** The location of the account files: the path of a data directory, or documents that several hosts share. */
export type AccountPlace = string | DocumentStore;

/** The name of an account file. */
export type AccountFileName = (typeof accountFileNames)[number];

/** Returns the path of an account file. */
export function accountFilePath(directory: string, name: AccountFileName): string {
  return join(directory, `${name}.json`);
}

/** Returns the path of a file, or the name and the location of a document. */
export function pathIn(place: AccountPlace, fileName: string): string {
  return typeof place === 'string' ? join(place, fileName) : `${fileName} (${place.location})`;
}

/** The content of a file, and its version. */
interface FileContent {
  /** Undefined if there is no file. */
  readonly content: Uint8Array | undefined;
  /** The version of the content, or an earlier one if the file is replaced meanwhile. */
  readonly mark: string | undefined;
}

/**
 * Returns the new content of a file; undefined if it is to stay as it is. It can be called more than once, and what it throws
 * is rethrown.
 */
type FileChange = (content: Uint8Array | undefined) => string | undefined;

/** A small file in a data directory, or a document. */
export interface StoredFile {
  /** The name of the file in messages. */
  readonly path: string;
  /** Returns an identifier of the current version; undefined if there is no file. */
  mark(): Promise<string | undefined>;
  read(): Promise<FileContent>;
  /** Replaces the content, whatever it is. Resolves when the new content is stored. Rejects with StoreError. */
  write(content: string): Promise<void>;
  /**
   * Changes the content as one atomic step: no concurrent change is lost. Returns the mark of the content. Creates the data
   * directory if it does not exist.
   */
  update(change: FileChange): Promise<string | undefined>;
}

/** Returns the file with this name. */
export function createStoredFile(place: AccountPlace, name: string): StoredFile {
  return typeof place === 'string' ? new DirectoryFile(place, name) : new DocumentFile(place, name);
}

/** The number of attempts to take the lock: 200 × 50 ms are ten seconds. */
const maxLockAttempts = 200;
/** The time between two attempts, in milliseconds. */
const retryDelay = 50;

class DirectoryFile implements StoredFile {
  readonly path: string;
  readonly #directory: string;
  readonly #name: string;

  constructor(directory: string, name: string) {
    this.path = pathIn(directory, name);
    this.#directory = directory;
    this.#name = name;
  }

  async mark(): Promise<string | undefined> {
    try {
      const { ino, mtimeNs, size } = await stat(this.path, { bigint: true });
      return `${ino}.${mtimeNs}.${size}`;
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  async read(): Promise<FileContent> {
    // Read before the content: if the file is replaced meanwhile, the new version differs, and is read again.
    const mark = await this.mark();
    return { content: await nodeDisk.read(this.path), mark };
  }

  async write(content: string): Promise<void> {
    // Other processes may be writing theirs, so only temporary files of ended processes are removed.
    const hasEnded = async (pid: number) => pid !== process.pid && !(await isRunning({ pid }));
    const [directory, name] = [this.#directory, this.#name];
    await removeLeftovers(nodeDisk, directory, name, hasEnded);
    await replaceFile(nodeDisk, { directory, name, content: [content], sync: true });
  }

  /** A lock serializes concurrent changes. It is not the lock of a server that uses the directory. */
  async update(change: FileChange): Promise<string | undefined> {
    const lockPath = join(this.#directory, `${this.#name.replace(/\.json$/, '')}.lock`);
    await prepareDirectory(this.#directory);
    await prepareDirectory(lockPath);
    const lock = await waitForLock(lockPath);
    try {
      const changed = change((await this.read()).content);
      if (changed !== undefined) await this.write(changed);
      return await this.mark();
    } finally {
      await lock.release();
    }
  }
}

async function waitForLock(path: string): Promise<DirectoryLock> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await lockDirectory(path);
    } catch (error) {
      if (!(error instanceof LockedError) || attempt === maxLockAttempts) throw error;
      await delay(retryDelay);
    }
  }
}

/** The number of attempts to change a document: each failed one means that another process changed it. */
const maxReplacements = 1000;

class DocumentFile implements StoredFile {
  readonly path: string;
  readonly #documents: DocumentStore;
  readonly #name: string;

  constructor(documents: DocumentStore, name: string) {
    this.path = pathIn(documents, name);
    this.#documents = documents;
    this.#name = name;
  }

  async mark(): Promise<string | undefined> {
    return (await this.#documents.read(this.#name))?.version;
  }

  async read(): Promise<FileContent> {
    const stored = await this.#documents.read(this.#name);
    return { content: stored?.content, mark: stored?.version };
  }

  async write(content: string): Promise<void> {
    await this.update(() => content);
  }

  async update(change: FileChange): Promise<string | undefined> {
    for (let attempt = 0; attempt < maxReplacements; attempt += 1) {
      const { content, mark } = await this.read();
      const changed = change(content);
      if (changed === undefined) return mark;
      const version = await this.#documents.replace(this.#name, Buffer.from(changed), mark);
      if (version !== undefined) return version;
    }
    throw new StoreError(
      'failed',
      `${this.path} could not be changed: other processes change it all the time`,
    );
  }
}
