import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { nextTurn } from '../../timers.ts';
import { discard, step, writeTemporary } from '../files/atomic-write.ts';
import { type Disk, errorCode } from '../files/disk.ts';
import type { HeadInit } from '../record.ts';
import type { State } from '../state/state.ts';
import { previousName, snapshotName, writeSnapshot } from './writer.ts';

/** The number of bytes, and of milliseconds, after which the event loop continues. */
const sliceLength = 32_768;
const sliceTime = 5;

/** The options of a copy. */
interface SnapshotCopyOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly directory: string;
  readonly state: State;
  readonly head: HeadInit;
  /** Returns the number of the last visible change. */
  readonly reached: () => number;
  /** Returns whether the copy should be aborted. */
  readonly abandoned: () => boolean;
}

/** A copy that is on the disk and not yet the snapshot. */
interface SnapshotCopy {
  readonly path: string;
  readonly bytes: number;
}

/**
 * Copies the state to a temporary file, slice by slice. Returns undefined if the copy was aborted; the file is then removed.
 * Throws AtomicWriteError.
 */
export async function copyState(options: SnapshotCopyOptions): Promise<SnapshotCopy | undefined> {
  const { disk, directory, abandoned } = options;
  let bytes = 0;
  let isComplete = false;
  async function* listSlices(): AsyncGenerator<Uint8Array> {
    for (const slice of createSlices(options)) {
      if (abandoned()) return;
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
  if (isComplete) return { path, bytes };
  await discard(disk, path);
  return undefined;
}

function* createSlices({ clock, state, head, reached }: SnapshotCopyOptions): Generator<Uint8Array> {
  let parts: Buffer[] = [];
  let length = 0;
  let started = clock.steady();
  for (const part of writeSnapshot(head, state, reached)) {
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
export async function installSnapshot(disk: Disk, directory: string, copy: string): Promise<void> {
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
