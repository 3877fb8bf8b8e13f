// The only writer of logs. A data directory has two: the journal of changes, and the nonces. They are two because their lines live for
// different times and need different syncs:
//
// - A change is needed until a snapshot has it, and a claim until its time is over. So compaction drops files of the journal and never
//   a claim, and a file of nonces is dropped whole when all its claims have expired, whatever the snapshots are.
// - A change is acknowledged when it is synced. A claim never waits for a sync, neither its own nor that of a change: what a
//   power failure may have lost is known from the boot id, and requests of that time are refused.
// - The journal is preallocated, and a torn end is an effect of a crash as long as no later line shows that it was on the disk. Files
//   of nonces have no preallocated space, and have all claims up to the sequence of the next file.
// - An operator may delete or empty the files of nonces, and loses no change: requests of that time are refused.
import { join } from 'node:path';
import { StoreError } from '../errors.ts';
import type { Disk } from '../files/disk.ts';
import { LogCreateError, LogFile } from './file.ts';
import { formatLine, formatLogName, type LogName, parseLogName } from './line.ts';

/** The options of a log. */
interface LogOptions<T> {
  readonly name: LogName;
  readonly directory: string;
  readonly disk: Disk;
  /** What is synced: every append, every file when it is created and when the next one replaces it, or nothing. */
  readonly sync: 'appends' | 'files' | 'never';
  /** Whether space is preallocated, so that a sync need not change the length of the file. */
  readonly preallocated: boolean;
  /**
   * Whether a file has its name only when its first lines are complete. Otherwise a start finds an incomplete file after a crash during
   * its creation.
   */
  readonly renamed: boolean;
  /** Whether writes use another thread, so that lines that arrive meanwhile share the next write. Otherwise only long ones do. */
  readonly inBackground: boolean;
  /**
   * Formats a record as JSON, without the opening brace.
   * @param seq the number of its line
   * @param durable the number of the last line that is on the disk
   */
  readonly format: (record: T, seq: number, durable: number) => string;
  /** Calls a sync of appended lines. Default: calls it. */
  readonly measure?: ((sync: () => Promise<void>) => Promise<void>) | undefined;
}

/** The end of a log that was read. */
interface LogEnd {
  /** The number of the last file; 0 if there is none. */
  readonly number: number;
  /** The number of the last line. */
  readonly sequence: number;
  /** The length of the lines in the last file, which is continued. Default: the next line begins a new file. */
  readonly bytes?: number | undefined;
}

/**
 * A log, of which the last file is open. Asynchronous methods must not be called while another one is pending. After a failure that
 * makes the disk or the open file unreliable, nothing more is written.
 */
export class Log<T> {
  readonly #options: LogOptions<T>;
  #file: LogFile | undefined;
  #number: number;
  #sequence: number;
  /** The number of the last line that is on the disk. */
  #durable: number;
  #failure: StoreError | undefined;

  private constructor(options: LogOptions<T>, { number, sequence }: LogEnd, file: LogFile | undefined) {
    this.#options = options;
    this.#file = file;
    this.#number = number;
    this.#sequence = sequence;
    this.#durable = sequence;
  }

  /** Opens a log at its end. Throws AtomicWriteError. */
  static async open<T>(options: LogOptions<T>, end: LogEnd): Promise<Log<T>> {
    const { name, directory, disk } = options;
    if (end.bytes === undefined) return new Log(options, end, undefined);
    const path = join(directory, formatLogName(name, end.number));
    return new Log(options, end, await LogFile.reopen(disk, path, end.bytes));
  }

  /** The number of the last file; 0 if there is none. */
  get number(): number {
    return this.#number;
  }

  /** The number of the last line. */
  get sequence(): number {
    return this.#sequence;
  }

  /** The length of the lines in the open file, in bytes; 0 if none is open. */
  get bytes(): number {
    return this.#file?.bytes ?? 0;
  }

  /** Why nothing more is written; undefined if there is no such reason. */
  get failure(): StoreError | undefined {
    return this.#failure;
  }

  /** Appends records to the open file, all of them or none. Throws StoreError. */
  async append(records: readonly T[]): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const file = this.#openFile();
    const before = file.bytes;
    const lines = this.#format(records);
    try {
      await file.append(lines);
      if (this.#options.sync === 'appends') await this.#syncAppended(file);
    } catch (error) {
      throw await this.#rollBack(file, before, error);
    }
    this.#sequence += records.length;
    if (this.#options.sync === 'appends') this.#durable = this.#sequence;
  }

  /**
   * Continues in a new file, of the next number, once all earlier lines are on the disk. Throws StoreError; then the open file can be
   * used further, unless the log has failed.
   * @param head the first record as JSON, without the opening brace
   * @param records the records that follow it
   */
  async begin(head: string, records: readonly T[] = []): Promise<void> {
    await this.sync();
    const { name, directory, disk, sync, renamed, inBackground } = this.#options;
    const lines = this.#format(records, formatLine(head));
    const before = this.#file;
    const number = this.#number + 1;
    try {
      this.#file = await LogFile.create(disk, {
        directory,
        name: formatLogName(name, number),
        lines,
        sync: sync !== 'never',
        temporary: renamed ? name : undefined,
        inBackground,
      });
    } catch (error) {
      if (!(error instanceof LogCreateError)) throw error;
      // The next start may find the new file, and would then reject lines that were added to this one.
      if (!error.removed) this.#failure = toPermanent(error.cause);
      throw error.cause;
    }
    this.#number = number;
    this.#sequence += records.length;
    if (sync !== 'never') this.#durable = this.#sequence;
    await before?.release();
  }

  /** Resolves when all lines are on the disk, unless nothing is synced. Throws StoreError. */
  async sync(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#options.sync === 'never' || this.#durable === this.#sequence) return;
    const sequence = this.#sequence;
    await this.#awaitOrFail(this.#file?.sync());
    this.#durable = sequence;
  }

  /** Preallocates space if little is left. Throws StoreError. */
  async prepareSpace(): Promise<void> {
    if (this.#failure !== undefined || this.#file?.isShort !== true) return;
    await this.#awaitOrFail(this.#file.preallocate(this.#options.sync === 'appends'));
  }

  /** Removes earlier files that are not needed. What cannot be removed is removed by a later call. Does not reject. */
  async drop(isNeeded: (number: number) => boolean): Promise<void> {
    const { name, directory, disk } = this.#options;
    for (const file of await disk.list(directory).catch(() => [])) {
      const number = parseLogName(name, file);
      if (number === undefined || number >= this.#number || isNeeded(number)) continue;
      await disk.unlink(join(directory, file)).catch(() => {});
    }
  }

  /** Closes the open file. Syncs it before and removes preallocated space, if it has such space. Throws StoreError. */
  async close(): Promise<void> {
    const file = this.#file;
    if (this.#failure === undefined && this.#options.preallocated) await this.#awaitOrFail(file?.finish());
    else await file?.abandon();
  }

  #openFile(): LogFile {
    if (this.#file === undefined) throw new RangeError('no file of the log is open');
    return this.#file;
  }

  /** Formats lines, which follow `text`. */
  #format(records: readonly T[], text = ''): Buffer {
    let [lines, seq] = [text, this.#sequence];
    for (const record of records) {
      seq += 1;
      lines += formatLine(this.#options.format(record, seq, this.#durable));
    }
    return Buffer.from(lines);
  }

  #syncAppended(file: LogFile): Promise<void> {
    const { measure } = this.#options;
    return measure === undefined ? file.sync() : measure(() => file.sync());
  }

  /**
   * Removes the partly written lines of a failed append. Returns the error for its records. If there was no space, the
   * truncation is synced, also if no append is: otherwise a power failure could undo it and restore rejected
   * records. If the disk failed, the truncation may fail too: the next start may then find records that were rejected.
   */
  async #rollBack(file: LogFile, bytes: number, error: unknown): Promise<StoreError> {
    const failure = this.#toStoreError(error);
    const full = failure.code === 'full';
    try {
      await file.truncateTo(bytes, full);
    } catch (cause) {
      if (full) this.#failure = toPermanent(this.#toStoreError(cause));
    }
    if (!full) this.#failure = failure;
    return this.#failure ?? failure;
  }

  async #awaitOrFail(done: Promise<void> | undefined): Promise<void> {
    try {
      await done;
    } catch (error) {
      this.#failure = toPermanent(this.#toStoreError(error));
      throw this.#failure;
    }
  }

  #toStoreError(error: unknown): StoreError {
    if (error instanceof StoreError) return error;
    return new StoreError('failed', `the ${this.#options.name} could not be written`, { cause: error });
  }
}

/** Converts an error to one of a permanent failure. */
function toPermanent(error: StoreError): StoreError {
  return error.code === 'failed' ? error : new StoreError('failed', error.message, { cause: error });
}
