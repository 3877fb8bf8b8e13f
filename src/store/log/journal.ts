import type { Clock } from '../../clock.ts';
import { StoreError } from '../errors.ts';
import type { Disk } from '../files/disk.ts';
import { formatChange, formatJournalHead, type HeadInit } from '../record.ts';
import type { Scanned } from '../scan.ts';
import type { Prepared } from '../state/state.ts';
import type { Receipt, StoreChange } from '../store.ts';
import { LogCreateError, LogFile, maxWriteSize } from './file.ts';
import { formatLine, formatLogName } from './line.ts';

/** The options of a journal. */
interface JournalOptions {
  readonly directory: string;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly storeId: string;
  readonly durability: 'fsync' | 'os';
  /** Identifies the declarations to which all items conform; undefined if that is not known. */
  readonly declarations: string | undefined;
  /** Called with the duration of each sync (ms). */
  readonly onSync?: ((ms: number) => void) | undefined;
}

/** An upper bound of the bytes of a line apart from its texts. */
const lineOverhead = 512;
/** The maximum number of bytes of a character (a UTF-16 code unit) in JSON, as an escape. */
const maxBytesPerCharacter = 6;

/**
 * The journal of a store: a sequence of files, one of which is open. Lines are collected with `add` and written together with
 * `write`. Asynchronous methods must not be called while another one is pending.
 */
export class Journal {
  readonly #options: JournalOptions;
  readonly #sync: boolean;
  /** The lines of the batch, and their length in bytes. */
  #lines = '';
  #length = 0;
  #file: LogFile;
  #generation: number;
  #pending = 0;
  /** The number of the last line that was written. */
  #sequence: number;
  /** The number of the last line that is on the disk. */
  #durable: number;
  #failure: StoreError | undefined;

  private constructor(
    options: JournalOptions,
    file: LogFile,
    { generation, sequence }: Pick<HeadInit, 'generation' | 'sequence'>,
  ) {
    this.#options = options;
    this.#generation = generation;
    this.#sync = options.durability === 'fsync';
    this.#file = file;
    this.#sequence = sequence;
    this.#durable = sequence;
  }

  /** Opens the last recovered journal, or creates one if there is none with these declarations. Throws StoreError. */
  static async open(options: JournalOptions, recovered: Scanned): Promise<Journal> {
    const { disk, directory, storeId, clock, declarations } = options;
    const { journals, state, sequence } = recovered;
    const last = journals.at(-1);
    if (last !== undefined && last.declarations === declarations) {
      const { generation, path, bytes } = last;
      const file = await LogFile.reopen(disk, path, bytes);
      return new Journal(options, file, { generation, sequence });
    }
    const generation = (last?.generation ?? recovered.generation) + 1;
    const header = { storeId, generation, revision: state.revision, sequence, at: clock.now(), declarations };
    try {
      return new Journal(options, await createFile(disk, directory, header), header);
    } catch (error) {
      throw error instanceof LogCreateError ? error.cause : error;
    }
  }

  /** The number of the open file. */
  get generation(): number {
    return this.#generation;
  }

  /** The number of the last line that was written. */
  get sequence(): number {
    return this.#sequence;
  }

  /** The length of the lines in the open file, in bytes. */
  get bytes(): number {
    return this.#file.bytes;
  }

  /** Why the journal has failed permanently; undefined if it has not. */
  get failure(): StoreError | undefined {
    return this.#failure;
  }

  /** Returns whether the batch has room for a change. An empty batch has room for any change. `value` is JSON. */
  hasRoomFor(change: StoreChange, value: string): boolean {
    const { collection, receipt } = change;
    const room = maxWriteSize - this.#length;
    let texts = collection.length;
    if (change.kind !== 'create') texts += change.id.length;
    if (receipt !== undefined) texts += change.collection.length + computeLength(receipt);
    const others = texts * maxBytesPerCharacter + lineOverhead;
    // A value has at most three bytes per character. Its bytes are counted only if that could be too many.
    return (
      this.#pending === 0 || others + value.length * 3 <= room || others + Buffer.byteLength(value) <= room
    );
  }

  /** Adds a change to the batch. `members` are the members of its item, as JSON. */
  add(change: StoreChange, { receipted }: Prepared, members: string): void {
    this.#pending += 1;
    const seq = this.#sequence + this.#pending;
    const line = formatLine(formatChange({ seq, durable: this.#durable, change, receipted }, members));
    this.#lines += line;
    this.#length += Buffer.byteLength(line);
  }

  /** Syncs the batch, and measures the time if anything observes it. */
  async #syncFile(): Promise<void> {
    const { onSync, clock } = this.#options;
    if (onSync === undefined) return this.#file.sync();
    const begun = clock.steady();
    await this.#file.sync();
    onSync(clock.steady() - begun);
  }

  /** Writes the batch completely, or not at all. Throws StoreError. */
  async write(): Promise<void> {
    const before = this.#file.bytes;
    try {
      await this.#file.append(Buffer.from(this.#lines));
      if (this.#sync) await this.#syncFile();
      this.#sequence += this.#pending;
      if (this.#sync) this.#durable = this.#sequence;
    } catch (error) {
      throw await this.#rollBack(before, error);
    } finally {
      this.#lines = '';
      this.#length = 0;
      this.#pending = 0;
    }
  }

  /** Preallocates space if little is left. Throws StoreError. */
  async prepareSpace(): Promise<void> {
    if (this.#failure !== undefined || !this.#file.isShort) return;
    await this.#awaitOrFail(this.#file.preallocate(this.#sync));
  }

  /** Resolves when all lines are on the disk. Throws StoreError. */
  async syncAll(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#durable === this.#sequence) return;
    const sequence = this.#sequence;
    await this.#awaitOrFail(this.#file.sync());
    this.#durable = sequence;
  }

  /** Continues in a new file. Returns its generation. `revision` is the highest assigned revision. Throws StoreError. */
  async rotate(revision: number): Promise<number> {
    await this.syncAll();
    const { disk, directory, storeId, clock, declarations } = this.#options;
    const generation = this.#generation + 1;
    const sequence = this.#sequence;
    const header = { storeId, generation, revision, sequence, at: clock.now(), declarations };
    const before = this.#file;
    try {
      this.#file = await createFile(disk, directory, header);
      this.#generation = generation;
    } catch (error) {
      if (!(error instanceof LogCreateError)) throw error;
      // The next start may find the new file, and would then reject lines that were added to this one.
      if (!error.removed) this.#failure = toPermanent(error.cause);
      throw error.cause;
    }
    await before.release();
    return generation;
  }

  /** Syncs and closes the file. Throws StoreError. */
  async close(): Promise<void> {
    if (this.#failure === undefined) await this.#awaitOrFail(this.#file.finish());
    else await this.#file.abandon();
  }

  /**
   * Removes the partly written lines of a failed batch. Returns the error for its changes. If there was no space, the
   * truncation is synced, also with durability `os`: otherwise a power failure could undo it and restore rejected
   * changes. If the disk failed, the truncation may fail too: the next start may then find changes that were rejected.
   */
  async #rollBack(bytes: number, error: unknown): Promise<StoreError> {
    const failure = storeError(error);
    const full = failure.code === 'full';
    try {
      await this.#file.truncateTo(bytes, full);
    } catch (cause) {
      if (full) this.#failure = toPermanent(storeError(cause));
    }
    if (!full) this.#failure = failure;
    return this.#failure ?? failure;
  }

  async #awaitOrFail(done: Promise<void>): Promise<void> {
    try {
      await done;
    } catch (error) {
      this.#failure = toPermanent(storeError(error));
      throw this.#failure;
    }
  }
}

/** Creates a journal. All earlier lines must be on the disk. Throws LogCreateError. */
function createFile(disk: Disk, directory: string, header: HeadInit): Promise<LogFile> {
  const name = formatLogName('journal', header.generation);
  return LogFile.create(disk, {
    directory,
    name,
    lines: Buffer.from(formatLine(formatJournalHead(header))),
    sync: true,
  });
}

function computeLength({ key, fingerprint, user = '' }: Receipt): number {
  return key.length + fingerprint.length + user.length;
}

function storeError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  return new StoreError('failed', 'the journal could not be written', { cause: error });
}

/** Converts an error to one of a permanent failure. */
function toPermanent(error: StoreError): StoreError {
  return error.code === 'failed' ? error : new StoreError('failed', error.message, { cause: error });
}
