import type { Clock } from '../../clock.ts';
import type { Disk } from '../files/disk.ts';
import type { Recovered } from '../recovery/recovery.ts';
import { type StoredNonce, StoreError } from '../store.ts';
import { JournalBatch } from './batch.ts';
import { JournalFile, JournalNotBegun, longestWrite } from './file.ts';
import type { JournalLineHead } from './line.ts';

/** What a journal is kept with. */
export interface JournalOptions {
  readonly directory: string;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly lineage: string;
  readonly durability: 'fsync' | 'os';
}

/** More than the bytes of a line that are not of its texts. */
const lineOverhead = 512;
/** The most bytes of a character (UTF-16) in JSON, as an escape. */
const mostPerCharacter = 6;

/**
 * The journal of a store, in one file after the other. Lines are gathered, and kept together. One call that gives a
 * promise at a time: none may begin while another is under way.
 */
export class Journal {
  readonly #options: JournalOptions;
  readonly #sync: boolean;
  readonly #lines = new JournalBatch();
  #file: JournalFile;
  #gathered = 0;
  /** The number of the last line that is kept. */
  #sequence: number;
  /** The number of the last line that is on the medium. */
  #durable: number;
  #failure: StoreError | undefined;

  private constructor(options: JournalOptions, file: JournalFile, sequence: number) {
    this.#options = options;
    this.#sync = options.durability === 'fsync';
    this.#file = file;
    this.#sequence = sequence;
    this.#durable = sequence;
  }

  /** Opens what was recovered, or begins the first one. Throws StoreError. */
  static async open(options: JournalOptions, recovered: Recovered): Promise<Journal> {
    const { disk, directory, lineage, clock } = options;
    const { journals, state, sequence } = recovered;
    const found = journals.at(-1);
    if (found !== undefined) return new Journal(options, await JournalFile.reopen(disk, found), sequence);
    const generation = recovered.generation + 1;
    const header = { lineage, generation, revision: state.revision, sequence, opened: clock.now() };
    try {
      return new Journal(options, await JournalFile.begin(disk, directory, header), sequence);
    } catch (error) {
      throw error instanceof JournalNotBegun ? error.cause : error;
    }
  }

  /** The number of the last line that is kept. */
  get sequence(): number {
    return this.#sequence;
  }

  /** The bytes of the file that is written on. */
  get bytes(): number {
    return this.#file.bytes;
  }

  /** Why nothing is kept any more. */
  get failure(): StoreError | undefined {
    return this.#failure;
  }

  /** Whether a change can be gathered with the others. One that is too long for any batch has one for itself. */
  hasRoomFor(collection: string, id: string, value: string, nonce: StoredNonce | undefined): boolean {
    const room = longestWrite - this.#lines.length;
    const texts = collection.length + id.length + (nonce?.user.length ?? 0) + (nonce?.nonce.length ?? 0);
    const others = texts * mostPerCharacter + lineOverhead;
    // A value takes at most three bytes a character; it is counted only where that could be too much.
    return (
      this.#gathered === 0 || others + value.length * 3 <= room || others + Buffer.byteLength(value) <= room
    );
  }

  /** Gathers a change; `members` are those of its item, as JSON. */
  add(change: JournalLineHead['change'], members: string, nonce: StoredNonce | undefined): void {
    this.#gathered += 1;
    const seq = this.#sequence + this.#gathered;
    this.#lines.add({ seq, durable: this.#durable, change, nonce }, members);
  }

  /** Keeps what was gathered: all, or nothing. Throws StoreError. */
  async keep(): Promise<void> {
    const before = this.#file.bytes;
    try {
      await this.#file.append(this.#lines.bytes);
      if (this.#sync) await this.#file.sync();
      this.#sequence += this.#gathered;
      if (this.#sync) this.#durable = this.#sequence;
    } catch (error) {
      throw await this.#takenBack(before, error);
    } finally {
      this.#lines.clear();
      this.#gathered = 0;
    }
  }

  /** Allocates space ahead, if it is time. Throws StoreError. */
  async prepareSpace(): Promise<void> {
    if (this.#failure !== undefined || !this.#file.isShort) return;
    await this.#orFail(this.#file.extend(this.#sync));
  }

  /** Resolves when all that is kept is on the medium. Throws StoreError. */
  async syncAll(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#durable === this.#sequence) return;
    const sequence = this.#sequence;
    await this.#orFail(this.#file.sync());
    this.#durable = sequence;
  }

  /** Goes on in a new file, and gives its generation. `revision` is the highest that was drawn. Throws StoreError. */
  async rotate(revision: number): Promise<number> {
    await this.syncAll();
    const { disk, directory, lineage, clock } = this.#options;
    const generation = this.#file.generation + 1;
    const header = { lineage, generation, revision, sequence: this.#sequence, opened: clock.now() };
    const before = this.#file;
    try {
      this.#file = await JournalFile.begin(disk, directory, header);
    } catch (error) {
      if (!(error instanceof JournalNotBegun)) throw error;
      // What is written on would stand behind a file that may be found at the next start.
      if (!error.gone) this.#failure = final(error.cause);
      throw error.cause;
    }
    await before.release();
    return generation;
  }

  /** Waits until all is on the medium, and lets go of the file. Throws StoreError. */
  async close(): Promise<void> {
    if (this.#failure === undefined) await this.#orFail(this.#file.finish());
    else await this.#file.abandon();
  }

  /**
   * Takes away what was written of lines that were not kept, and gives the error for whom they are of. Where there was no
   * room that is certain before anybody is told, also where the system is trusted with what is kept: else it could lose
   * the cut with the power, and not the lines. When the medium failed it is tried, and nothing is believed: those who
   * were told that their changes failed may find them at the next start.
   */
  async #takenBack(bytes: number, error: unknown): Promise<StoreError> {
    const failure = storeError(error);
    const full = failure.code === 'full';
    try {
      await this.#file.cutBack(bytes, full);
    } catch (cause) {
      if (full) this.#failure = final(storeError(cause));
    }
    if (!full) this.#failure = failure;
    return this.#failure ?? failure;
  }

  async #orFail(done: Promise<void>): Promise<void> {
    try {
      await done;
    } catch (error) {
      this.#failure = final(storeError(error));
      throw this.#failure;
    }
  }
}

function storeError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  return new StoreError('failed', 'the journal could not be written', error);
}

/** The same as a failure for good. */
function final(error: StoreError): StoreError {
  return error.code === 'failed' ? error : new StoreError('failed', error.message, error);
}
