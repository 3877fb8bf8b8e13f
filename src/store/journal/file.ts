import { join } from 'node:path';
import { AtomicWriteError, fileMode, step } from '../files/atomic-write.ts';
import type { Disk, DiskFile } from '../files/disk.ts';
import { type FoundJournal, journalName } from '../recovery/recovery.ts';
import { formatJournalHeader, type JournalHeader } from './line.ts';

/** The most bytes that one write takes. */
export const longestWrite = 4 * 1024 * 1024;

/** The least and the most bytes that are allocated ahead at once. */
const leastAhead = 64 * 1024;
const mostAhead = 1024 * 1024;

/** A journal that could not be begun, and perhaps not be taken away again either. */
export class JournalNotBegun extends Error {
  override readonly name = 'JournalNotBegun';
  /** Whether the next start finds nothing of it, so that the journal before can be written on. */
  readonly gone: boolean;
  override readonly cause: AtomicWriteError;

  constructor(cause: AtomicWriteError, gone: boolean) {
    super(cause.message);
    this.cause = cause;
    this.gone = gone;
  }
}

/**
 * A journal that is written on. Its lines end at `bytes`; behind them may be NUL bytes, space that was allocated and
 * synced ahead, so that a sync need not grow the file. One call at a time: none may begin while another is under way.
 * All throw AtomicWriteError.
 */
export class JournalFile {
  readonly generation: number;
  readonly path: string;
  readonly #file: DiskFile;
  #bytes: number;
  /** How many bytes the file has. */
  #allocated: number;
  /** What is written to allocate space: the next time is likely to take as much. */
  #zeros = Buffer.alloc(0);
  /** When there was no room: how many bytes there must be before it is tried again. */
  #tryAgainAt = 0;

  private constructor(generation: number, path: string, file: DiskFile, bytes: number) {
    this.generation = generation;
    this.path = path;
    this.#file = file;
    this.#bytes = bytes;
    this.#allocated = bytes;
  }

  /**
   * Begins a journal; it and its name are on the medium then. Throws JournalNotBegun. Everything that comes before it
   * must be on the medium.
   */
  static async begin(disk: Disk, directory: string, header: JournalHeader): Promise<JournalFile> {
    const path = join(directory, journalName(header.generation));
    const line = Buffer.from(formatJournalHeader(header));
    let file: DiskFile | undefined;
    let named = false;
    try {
      file = await step(path, 'open', disk.create(path, fileMode));
      const journal = new JournalFile(header.generation, path, file, 0);
      await journal.append(line);
      await journal.sync();
      named = true;
      await step(path, 'fsync', disk.syncDirectory(directory));
      return journal;
    } catch (error) {
      if (!(error instanceof AtomicWriteError)) throw error;
      const gone = file === undefined || (await takenAway(disk, directory, path, file));
      // When its name could not be synced, no later sync of the directory is believed.
      throw new JournalNotBegun(error, gone && !named);
    }
  }

  /** Opens one that was found, to write behind its lines. */
  static async reopen(disk: Disk, { generation, path, bytes }: FoundJournal): Promise<JournalFile> {
    return new JournalFile(generation, path, await step(path, 'open', disk.openToWrite(path)), bytes);
  }

  /** How many bytes its lines have. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Writes these lines behind the others. When it fails some of them may be written: `cutBack` takes them away. */
  async append(lines: Uint8Array): Promise<void> {
    await this.#write(lines, this.#bytes);
    this.#bytes += lines.length;
    this.#allocated = Math.max(this.#allocated, this.#bytes);
  }

  /** Resolves when all lines are on the medium. */
  async sync(): Promise<void> {
    await step(this.path, 'fsync', this.#file.syncData());
  }

  /** Takes away all that was written behind so many bytes; with `sync` it does not come back either. */
  async cutBack(bytes: number, sync: boolean): Promise<void> {
    await step(this.path, 'truncate', this.#file.truncate(bytes));
    this.#bytes = bytes;
    this.#allocated = bytes;
    if (sync) await this.sync();
  }

  /** Whether it is time to allocate space. */
  get isShort(): boolean {
    return this.#allocated - this.#bytes < this.#ahead / 4 && this.#bytes >= this.#tryAgainAt;
  }

  /** Allocates space ahead, where there is room for it. */
  async extend(sync: boolean): Promise<void> {
    const from = this.#allocated;
    const length = this.#ahead;
    try {
      if (this.#zeros.length !== length) this.#zeros = Buffer.alloc(length);
      await this.#write(this.#zeros, from);
      this.#allocated = from + length;
    } catch (error) {
      if (!(error instanceof AtomicWriteError && error.code === 'full')) throw error;
      // What was written of it is overwritten by lines, or cut off with the rest.
      this.#tryAgainAt = this.#bytes + length;
    }
    if (sync) await this.sync();
  }

  /** Cuts off the space that was allocated, waits until all is on the medium, and lets go of the file. */
  async finish(): Promise<void> {
    try {
      await this.cutBack(this.#bytes, true);
    } finally {
      await this.abandon();
    }
  }

  /** Lets go of a file that is written no more: all of it is on the medium. */
  async release(): Promise<void> {
    // What stays allocated does no harm.
    await this.#file.truncate(this.#bytes).catch(() => {});
    await this.abandon();
  }

  /** Lets go of the file as it is. */
  async abandon(): Promise<void> {
    await this.#file.close().catch(() => {}); // what had to be on the medium is
  }

  get #ahead(): number {
    return Math.min(mostAhead, Math.max(leastAhead, this.#bytes));
  }

  async #write(bytes: Uint8Array, position: number): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const written = await this.#writeSome(bytes.subarray(done, done + longestWrite), position + done);
      if (written <= 0) throw new AtomicWriteError(this.path, 'write', new Error('nothing was written'));
      done += written;
    }
  }

  async #writeSome(bytes: Uint8Array, position: number): Promise<number> {
    try {
      return await this.#file.writeAt(bytes, position);
    } catch (error) {
      throw new AtomicWriteError(this.path, 'write', error);
    }
  }
}

/** Takes a file away that was just made, and says whether it stays so. */
async function takenAway(disk: Disk, directory: string, path: string, file: DiskFile): Promise<boolean> {
  await file.close().catch(() => {}); // it is not needed
  try {
    await disk.unlink(path);
    await disk.syncDirectory(directory);
    return true;
  } catch {
    return false;
  }
}
