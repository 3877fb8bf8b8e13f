// Starts a new journal when the journals outgrow the snapshot, and copies the state to the snapshot while writes continue.

import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { nextTurn } from '../../timers.ts';
import { AtomicWriteError, discard, step, writeTemporary } from '../files/atomic-write.ts';
import { previousName, snapshotName } from '../files/data-files.ts';
import { type Disk, errorCode } from '../files/disk.ts';
import type { State } from '../state/state.ts';
import { writeSnapshot } from './writer.ts';

/** When a new snapshot is written. */
export interface CompactionLimits {
  /** The minimum length of the journals in bytes. */
  readonly minBytes: number;
  /** The minimum length of the journals as a multiple of that of the snapshot. */
  readonly ratio: number;
  /** The maximum length in bytes of all files for which a snapshot is also written on close. Default: 0. */
  readonly maxBytesOnClose?: number;
}

const defaultLimits: CompactionLimits = {
  minBytes: 16 * 1024 * 1024,
  ratio: 1,
  maxBytesOnClose: 16 * 1024 * 1024,
};

/** The number of bytes, and of milliseconds, after which the event loop continues. */
const sliceLength = 32_768;
const sliceTime = 5;

/** The operations of the journal that a compaction needs. */
interface Journals {
  /** Begins a new journal. Returns its generation. All visible changes are on the disk in the earlier journals. */
  rotate(): Promise<number>;
  /** The number of the last visible change. */
  readonly sequence: number;
  /** Resolves when all visible changes are on the disk. */
  sync(): Promise<void>;
  /** Removes the journals before a generation. */
  drop(before: number): Promise<void>;
}

/** The options of a compaction. */
interface CompactionOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly directory: string;
  readonly storeId: string;
  readonly state: State;
  readonly journals: Journals;
  /** Called with one line when a compaction failed. */
  readonly onWarning: (line: string) => void;
  readonly limits?: CompactionLimits | undefined;
}

/**
 * Replaces long journals by a new snapshot, while changes continue. Only one compaction runs at a time. One that fails
 * changes nothing, and is repeated when the journals have grown, unless the disk cannot be trusted any more.
 */
export class Compaction {
  readonly #options: CompactionOptions;
  readonly #limits: CompactionLimits;
  /** The generation of the snapshot; 0 if there is none. */
  #generation: number;
  /** The length in bytes of the journals from that generation on, except the open one. */
  #earlier: number;
  /** The generation of a journal that was begun for a failed copy. The next copy uses it. */
  #pendingGeneration: number | undefined;
  /** The length of the journals in bytes that starts a compaction. */
  #threshold: number;
  #snapshotBytes: number | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;
  #failure: string | undefined;

  /**
   * @param generation the generation of the snapshot
   * @param earlier the length in bytes of the journals since then, except the open one
   */
  constructor(options: CompactionOptions, generation: number, earlier: number) {
    this.#options = options;
    this.#limits = options.limits ?? defaultLimits;
    this.#threshold = this.#limits.minBytes;
    this.#generation = generation;
    this.#earlier = earlier;
  }

  /** Why the last compaction failed; undefined if it succeeded. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Starts a compaction if the journals are long enough. `bytes` is the length of the open journal. */
  consider(bytes: number): void {
    if (this.#stopped || this.#running !== undefined || this.#earlier + bytes < this.#threshold) return;
    this.#running = this.#run(bytes).finally(() => {
      this.#running = undefined;
    });
  }

  /** Aborts a running compaction, unless its copy is complete. No other one starts. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  /**
   * Writes a last snapshot if there is little data, so that the next start is fast and store.jsonl contains everything. A
   * failure loses nothing. Must be called after `stop`.
   */
  async conclude(bytes: number): Promise<void> {
    const { maxBytesOnClose = 0 } = this.#limits;
    if (this.#failure !== undefined || this.#earlier + bytes > maxBytesOnClose) return;
    try {
      this.#snapshotBytes ??= await this.#sizeOfSnapshot();
      if (this.#earlier + bytes + this.#snapshotBytes > maxBytesOnClose) return;
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
    const { journals, disk, directory } = this.#options;
    if (this.#pendingGeneration === undefined) {
      this.#pendingGeneration = await journals.rotate();
      this.#earlier += bytes;
    }
    const generation = this.#pendingGeneration;
    const copy = await this.#copy(generation);
    if (copy === undefined) return;
    await installSnapshot(disk, directory, copy.path);
    const previous = this.#generation;
    this.#generation = generation;
    this.#pendingGeneration = undefined;
    this.#earlier = 0;
    this.#snapshotBytes = copy.bytes;
    this.#threshold = this.#thresholdFor(copy.bytes);
    await journals.drop(previous);
  }

  /**
   * Writes a copy that may become the snapshot: all changes in it are on the disk in the journals. The copy is written slice by
   * slice. Returns undefined if the compaction was stopped; the file is then removed.
   */
  async #copy(generation: number): Promise<{ path: string; bytes: number } | undefined> {
    const { journals, disk, directory, clock, state, storeId } = this.#options;
    const { sequence } = journals;
    const head = { storeId, generation, revision: state.revision, sequence, at: clock.now() };
    const blocks = writeSnapshot(head, state, () => journals.sequence);
    const isStopped = (): boolean => this.#stopped;
    let bytes = 0;
    let isComplete = false;
    async function* listSlices(): AsyncGenerator<Uint8Array> {
      for (const slice of joinSlices(blocks, clock)) {
        if (isStopped()) return;
        yield slice;
        bytes += slice.length;
        await nextTurn();
      }
      isComplete = true;
    }
    const path = await writeTemporary(disk, {
      directory,
      name: snapshotName,
      content: listSlices(),
      sync: true,
    });
    try {
      if (isComplete) await journals.sync();
    } catch (error) {
      await discard(disk, path);
      throw error;
    }
    if (isComplete) return { path, bytes };
    await discard(disk, path);
    return undefined;
  }

  #fail(error: unknown, weight: number): void {
    const reason = error instanceof Error ? error.message : String(error);
    const final = error instanceof AtomicWriteError && error.final;
    if (final) this.#stopped = true;
    this.#threshold = weight + this.#limits.minBytes;
    this.#failure = reason;
    const then = final ? 'it is not tried again before the next start' : 'it is tried again later';
    this.#options.onWarning(
      `no new snapshot was written, and the journals continue to grow: ${reason}; ${then}`,
    );
  }

  #thresholdFor(snapshotBytes: number): number {
    return Math.max(this.#limits.minBytes, this.#limits.ratio * snapshotBytes);
  }

  async #sizeOfSnapshot(): Promise<number> {
    const { disk, directory } = this.#options;
    const file = await disk.openToRead(join(directory, snapshotName));
    await file?.close();
    return file?.size ?? 0;
  }
}

/** Joins the blocks of a snapshot to slices, after each of which the event loop continues. */
function* joinSlices(blocks: Iterable<Buffer>, clock: Clock): Generator<Uint8Array> {
  let parts: Buffer[] = [];
  let length = 0;
  let started = clock.steady();
  for (const part of blocks) {
    parts.push(part);
    length += part.length;
    if (length < sliceLength && clock.steady() - started < sliceTime) continue;
    yield parts.length === 1 ? part : Buffer.concat(parts);
    parts = [];
    length = 0;
    started = clock.steady();
  }
  if (length > 0) yield Buffer.concat(parts);
}

/**
 * Renames a copy to the current snapshot, and the current one to the previous one, which remains until the next copy is
 * complete. After a crash at any point, there is a snapshot with all journals since its generation.
 * Throws AtomicWriteError.
 */
async function installSnapshot(disk: Disk, directory: string, copy: string): Promise<void> {
  const current = join(directory, snapshotName);
  const previous = join(directory, previousName);
  try {
    const moved = await step(current, 'rename', tryRename(disk, current, previous));
    await step(current, 'rename', disk.rename(copy, current)).catch(async (error) => {
      if (moved) await disk.rename(previous, current).catch(() => {}); // otherwise the next start does it
      throw error;
    });
  } catch (error) {
    await discard(disk, copy);
    throw error;
  }
  await step(current, 'fsync', disk.syncDirectory(directory));
}

async function tryRename(disk: Disk, from: string, to: string): Promise<boolean> {
  try {
    await disk.rename(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false; // there is none yet
    throw error;
  }
}
