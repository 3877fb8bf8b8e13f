import { join } from 'node:path';
import { AtomicWriteError, createTemporary, fileMode, step } from '../files/atomic-write.ts';
import { type Disk, type DiskFile, errorCode } from '../files/disk.ts';

/** The maximum number of bytes of one write. */
export const maxWriteSize = 4 * 1024 * 1024;

/** The minimum and maximum number of bytes that are preallocated at once. */
const minPreallocation = 64 * 1024;
const maxPreallocation = 1024 * 1024;

/** A file of a log could not be created. */
export class LogCreateError extends Error {
  override readonly name = 'LogCreateError';
  /** Whether there is no such file, so that the previous file can still be used. */
  readonly removed: boolean;
  override readonly cause: AtomicWriteError;

  constructor(cause: AtomicWriteError, removed: boolean) {
    super(cause.message);
    this.cause = cause;
    this.removed = removed;
  }
}

/** A new file of a log. */
interface NewLogFile {
  readonly directory: string;
  readonly name: string;
  /** The first lines. */
  readonly lines: Uint8Array;
  /** Whether the file and its name are synced. */
  readonly sync: boolean;
  /**
   * The name under which the file is written, if an incomplete file must not have its own name: that of temporary files, before
   * `.PID-N.tmp`. Default: its own.
   */
  readonly temporary?: string | undefined;
  /** Whether all writes use another thread: lines that arrive meanwhile share the next write. Default: only long ones do. */
  readonly inBackground?: boolean;
}

/**
 * An open file of a log. Its lines end at `bytes`. NUL bytes may follow: preallocated space, so that a sync need not change
 * the length of the file. Methods must not be called while another one is pending, except `sync`. All throw AtomicWriteError.
 */
export class LogFile {
  readonly path: string;
  readonly #file: DiskFile;
  readonly #inBackground: boolean;
  #bytes: number;
  /** The length of the file in bytes. */
  #allocated: number;
  /** The NUL bytes of the last preallocation. The next one probably has the same length. */
  #zeros = Buffer.alloc(0);
  /** The length of the lines from which on preallocation is tried again after there was no space. */
  #retryAt = 0;

  private constructor(path: string, file: DiskFile, bytes: number, inBackground = false) {
    this.path = path;
    this.#file = file;
    this.#inBackground = inBackground;
    this.#bytes = bytes;
    this.#allocated = bytes;
  }

  /** Creates a file with its first lines. Throws LogCreateError. */
  static async create(disk: Disk, created: NewLogFile): Promise<LogFile> {
    const { directory, name, lines, sync, temporary, inBackground } = created;
    const path = join(directory, name);
    let written = path;
    let file: DiskFile | undefined;
    let named = false;
    try {
      if (temporary === undefined) file = await step(path, 'open', disk.create(path, fileMode));
      else ({ path: written, file } = await createTemporary(disk, directory, temporary));
      const log = new LogFile(path, file, 0, inBackground);
      await log.append(lines);
      if (sync) await log.sync();
      if (written !== path) await step(path, 'rename', disk.rename(written, path));
      named = true;
      if (sync) await step(path, 'fsync', disk.syncDirectory(directory));
      return log;
    } catch (error) {
      if (!(error instanceof AtomicWriteError)) throw error;
      const removed = file === undefined || (await removeFile(disk, directory, [written, path], file));
      // A start ignores a temporary file. After a failed sync of the directory, a later one cannot be trusted.
      throw new LogCreateError(error, (removed || written !== path) && !named);
    }
  }

  /** Opens an existing file for appending. `bytes` is the length of its lines. */
  static async reopen(disk: Disk, path: string, bytes: number): Promise<LogFile> {
    return new LogFile(path, await step(path, 'open', disk.openToWrite(path)), bytes);
  }

  /** The length of the lines in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Appends lines. After an error, some of them may be written: `truncateTo` removes them. */
  async append(lines: Uint8Array): Promise<void> {
    await this.#write(lines, this.#bytes);
    this.#bytes += lines.length;
    this.#allocated = Math.max(this.#allocated, this.#bytes);
  }

  /** Resolves when all lines are on the disk. */
  async sync(): Promise<void> {
    await step(this.path, 'fsync', this.#file.syncData());
  }

  /** Truncates the file to this length in bytes, and syncs that if `sync` is true. */
  async truncateTo(bytes: number, sync: boolean): Promise<void> {
    await step(this.path, 'truncate', this.#file.truncate(bytes));
    this.#bytes = bytes;
    this.#allocated = bytes;
    if (sync) await this.sync();
  }

  /** Whether little preallocated space is left. */
  get isShort(): boolean {
    return this.#allocated - this.#bytes < this.#preallocation / 4 && this.#bytes >= this.#retryAt;
  }

  /** Preallocates space. Does nothing if the disk is full. */
  async preallocate(sync: boolean): Promise<void> {
    const from = this.#allocated;
    const length = this.#preallocation;
    try {
      if (this.#zeros.length !== length) this.#zeros = Buffer.alloc(length);
      await this.#write(this.#zeros, from);
      this.#allocated = from + length;
    } catch (error) {
      if (!(error instanceof AtomicWriteError && error.code === 'full')) throw error;
      // NUL bytes that were written are overwritten later, or truncated.
      this.#retryAt = this.#bytes + length;
    }
    if (sync) await this.sync();
  }

  /** Removes preallocated space, syncs the file, and closes it. */
  async finish(): Promise<void> {
    try {
      await this.truncateTo(this.#bytes, true);
    } finally {
      await this.abandon();
    }
  }

  /** Closes a file that is not written any more, and removes preallocated space without a sync. */
  async release(): Promise<void> {
    // If it fails, the NUL bytes do no harm.
    if (this.#allocated > this.#bytes) await this.#file.truncate(this.#bytes).catch(() => {});
    await this.abandon();
  }

  /** Closes the file without changing it. Does not reject. */
  async abandon(): Promise<void> {
    await this.#file.close().catch(() => {}); // all lines that matter were synced
  }

  get #preallocation(): number {
    return Math.min(maxPreallocation, Math.max(minPreallocation, this.#bytes));
  }

  async #write(bytes: Uint8Array, position: number): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const written = await this.#writeSome(bytes.subarray(done, done + maxWriteSize), position + done);
      if (written <= 0) throw new AtomicWriteError(this.path, 'write', new Error('nothing was written'));
      done += written;
    }
  }

  async #writeSome(bytes: Uint8Array, position: number): Promise<number> {
    try {
      return await this.#file.writeAt(bytes, position, this.#inBackground);
    } catch (error) {
      throw new AtomicWriteError(this.path, 'write', error);
    }
  }
}

/** Closes and removes a new file that has one of these paths. Returns whether that succeeded and is on the disk. */
async function removeFile(
  disk: Disk,
  directory: string,
  paths: readonly string[],
  file: DiskFile,
): Promise<boolean> {
  await file.close().catch(() => {}); // the first failure is reported
  try {
    for (const path of new Set(paths))
      await disk.unlink(path).catch((error) => {
        if (errorCode(error) !== 'ENOENT') throw error;
      });
    await disk.syncDirectory(directory);
    return true;
  } catch {
    return false;
  }
}
