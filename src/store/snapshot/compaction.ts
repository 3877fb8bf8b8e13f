import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { AtomicWriteError } from '../files/atomic-write.ts';
import type { Disk } from '../files/disk.ts';
import { snapshotName } from '../recovery/recovery.ts';
import type { State } from '../state/state.ts';
import { copyState, discard, removeJournals, takeOver } from './copy.ts';

/** When the journals are so many bytes, and so many times as large as the snapshot, they are worth a new one. */
export interface CompactionLimits {
  readonly leastBytes: number;
  readonly ratio: number;
  /** Up to how many bytes in all there is a new snapshot at the end too; none when left out. */
  readonly mostAtEnd?: number;
}

const defaultLimits: CompactionLimits = {
  leastBytes: 16 * 1024 * 1024,
  ratio: 1,
  mostAtEnd: 16 * 1024 * 1024,
};

/** The journals, as a compaction sees them. */
export interface Journals {
  /** Begins a new one, and gives its generation; all that is visible before stands in those before, on the medium. */
  rotate(): Promise<number>;
  /** The number of the last change that is visible. */
  readonly sequence: number;
  /** Resolves when all that is visible is on the medium. */
  sync(): Promise<void>;
}

/** What is compacted. */
export interface Compacting {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly directory: string;
  readonly lineage: string;
  readonly state: State;
  readonly journals: Journals;
  /** Waited for before a snapshot takes the place of journals, which are then read no more. */
  readonly beforeForgetting: () => Promise<void>;
  /** Is told in a line that a compaction came to nothing. */
  readonly tell: (line: string) => void;
  readonly limits?: CompactionLimits | undefined;
}

/**
 * Puts a new snapshot in the place of journals that outweigh the old one, while changes go on. One compaction is under
 * way at a time; one that fails leaves all as it was and is tried again when the journals have grown, unless the medium
 * must not be believed any more.
 */
export class Compaction {
  readonly #compacting: Compacting;
  readonly #limits: CompactionLimits;
  /** The generation of the snapshot; 0 when there is none. */
  #generation: number;
  /** The bytes of the journals from that generation on, without the one that is written on. */
  #earlier: number;
  /** The generation that was begun for a copy which came to nothing: the next copy does with it too. */
  #begun: number | undefined;
  /** How many bytes the journals must have. */
  #threshold: number;
  #snapshotBytes: number | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;
  #failure: string | undefined;

  /** `generation` is that of the snapshot, and `earlier` the bytes of the journals since but the last. */
  constructor(compacting: Compacting, generation: number, earlier: number) {
    this.#compacting = compacting;
    this.#limits = compacting.limits ?? defaultLimits;
    this.#threshold = this.#limits.leastBytes;
    this.#generation = generation;
    this.#earlier = earlier;
  }

  /** Why the last one came to nothing; undefined when it did not. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Begins one if it is time: `bytes` is how many the journal has that is written on. */
  consider(bytes: number): void {
    if (this.#stopped || this.#running !== undefined || this.#earlier + bytes < this.#threshold) return;
    this.#running = this.#run(bytes).finally(() => {
      this.#running = undefined;
    });
  }

  /** Gives up one that is under way, as long as it has come to nothing yet. None is begun any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  /**
   * Makes a last snapshot where all is small: so a person finds all of it in store.json while no server runs. Nothing is
   * lost where it comes to nothing. To be called after `stop`.
   */
  async conclude(bytes: number): Promise<void> {
    const { mostAtEnd = 0 } = this.#limits;
    if (this.#failure !== undefined || this.#earlier + bytes > mostAtEnd) return;
    try {
      this.#snapshotBytes ??= await this.#sizeOfSnapshot();
      if (this.#earlier + bytes + this.#snapshotBytes > mostAtEnd) return;
      this.#stopped = false;
      await this.#compact(bytes);
    } catch (error) {
      this.#fail(error, bytes);
    } finally {
      this.#stopped = true;
    }
  }

  async #run(bytes: number): Promise<void> {
    const weight = this.#earlier + bytes;
    try {
      this.#snapshotBytes ??= await this.#sizeOfSnapshot();
      this.#threshold = this.#thresholdFor(this.#snapshotBytes);
      if (weight < this.#threshold) return;
      await this.#compact(bytes);
      this.#failure = undefined;
    } catch (error) {
      this.#fail(error, weight);
    }
  }

  async #compact(bytes: number): Promise<void> {
    const { journals, disk, directory } = this.#compacting;
    if (this.#begun === undefined) {
      this.#begun = await journals.rotate();
      this.#earlier += bytes;
    }
    const generation = this.#begun;
    const copy = await this.#copy(generation);
    if (copy === undefined) return;
    await takeOver(disk, directory, copy.path);
    const previous = this.#generation;
    this.#generation = generation;
    this.#begun = undefined;
    this.#earlier = 0;
    this.#snapshotBytes = copy.bytes;
    this.#threshold = this.#thresholdFor(copy.bytes);
    await removeJournals(disk, directory, previous);
  }

  /**
   * A copy that may become the snapshot: all it may have is on the medium in the journals too, and what only the journals
   * before it have is kept elsewhere.
   */
  async #copy(generation: number): Promise<{ path: string; bytes: number } | undefined> {
    const { journals, disk, directory, clock, state, lineage, beforeForgetting } = this.#compacting;
    const { sequence } = journals;
    const head = { lineage, generation, revision: state.revision, sequence, written: clock.now() };
    const reached = (): number => journals.sequence;
    const abandoned = (): boolean => this.#stopped;
    const copy = await copyState({ disk, directory, clock, state, head, reached, abandoned });
    if (copy === undefined) return undefined;
    try {
      await journals.sync();
      await beforeForgetting();
    } catch (error) {
      await discard(disk, copy.path);
      throw error;
    }
    return copy;
  }

  #fail(error: unknown, weight: number): void {
    const reason = error instanceof Error ? error.message : String(error);
    const final = error instanceof AtomicWriteError && error.final;
    if (final) this.#stopped = true;
    this.#threshold = weight + this.#limits.leastBytes;
    this.#failure = reason;
    const then = final ? 'it is not tried again before the next start' : 'it is tried again later';
    this.#compacting.tell(`no new snapshot was made, and the journals grow on: ${reason}; ${then}`);
  }

  #thresholdFor(snapshotBytes: number): number {
    return Math.max(this.#limits.leastBytes, this.#limits.ratio * snapshotBytes);
  }

  async #sizeOfSnapshot(): Promise<number> {
    const { disk, directory } = this.#compacting;
    const file = await disk.openToRead(join(directory, snapshotName));
    await file?.close();
    return file?.size ?? 0;
  }
}
