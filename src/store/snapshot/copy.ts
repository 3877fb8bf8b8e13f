import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { nextTurn } from '../../timers.ts';
import { createTemporary, step, writeWhole } from '../files/atomic-write.ts';
import { type Disk, type DiskFile, errorCode } from '../files/disk.ts';
import { journalGeneration, previousName, snapshotName } from '../recovery/recovery.ts';
import type { State } from '../state/state.ts';
import { type SnapshotHead, writeSnapshot } from './writer.ts';

/** After so many bytes, or so many milliseconds, others have their turn. */
const sliceLength = 32_768;
const sliceTime = 5;

/** After so many bytes they are synced: else the sync at the end holds up those of the journal. */
const bytesPerSync = 8 * 1024 * 1024;

/** What a snapshot is copied from and to. */
export interface SnapshotCopyOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly directory: string;
  readonly state: State;
  readonly head: SnapshotHead;
  /** The number of the last change that is visible. */
  readonly reached: () => number;
  /** Whether the copy is not wanted any more. */
  readonly abandoned: () => boolean;
}

/** A copy that is on the medium, and not yet the snapshot. */
export interface SnapshotCopy {
  readonly path: string;
  readonly bytes: number;
}

/**
 * Copies the state, a slice at a time, to a file on its way to become the snapshot. Gives undefined, and leaves nothing,
 * when it is abandoned. Throws AtomicWriteError.
 */
export async function copyState(copying: SnapshotCopyOptions): Promise<SnapshotCopy | undefined> {
  const { disk, directory } = copying;
  const { path, file } = await createTemporary(disk, directory, snapshotName);
  try {
    const bytes = await fill(copying, path, file);
    if (bytes !== undefined) return { path, bytes };
    await discard(disk, path);
    return undefined;
  } catch (error) {
    await discard(disk, path);
    throw error;
  }
}

/** Takes a copy away. What stays is removed at the next start. */
export async function discard(disk: Disk, path: string): Promise<void> {
  await disk.unlink(path).catch(() => {});
}

async function fill(copying: SnapshotCopyOptions, path: string, file: DiskFile): Promise<number | undefined> {
  let bytes: number | undefined;
  try {
    bytes = await writeSlices(copying, path, file);
    if (bytes !== undefined) await step(path, 'fsync', file.sync());
  } catch (error) {
    await file.close().catch(() => {}); // the first failure is the one to tell
    throw error;
  }
  await step(path, 'close', file.close());
  return bytes;
}

/** Gives how many bytes were written; undefined when the copy was abandoned. */
async function writeSlices(
  copying: SnapshotCopyOptions,
  path: string,
  file: DiskFile,
): Promise<number | undefined> {
  let [bytes, synced] = [0, 0];
  for (const slice of slicesOf(copying)) {
    if (copying.abandoned()) return undefined;
    await writeWhole(file, slice, path);
    bytes += slice.length;
    if (bytes - synced >= bytesPerSync) {
      await step(path, 'fsync', file.syncData());
      synced = bytes;
    }
    await nextTurn();
  }
  return bytes;
}

function* slicesOf({ clock, state, head, reached }: SnapshotCopyOptions): Generator<Uint8Array> {
  let gathered: Buffer[] = [];
  let length = 0;
  let begun = clock.steady();
  for (const part of writeSnapshot(head, state, reached)) {
    gathered.push(part);
    length += part.length;
    if (length < sliceLength && clock.steady() - begun < sliceTime) continue;
    yield gathered.length === 1 ? part : Buffer.concat(gathered);
    gathered = [];
    length = 0;
    begun = clock.steady();
  }
  if (length > 0) yield Buffer.concat(gathered);
}

/**
 * Makes a copy the snapshot, and the snapshot the previous one, which stays until the next copy is safe. Whatever
 * names a crash leaves, the journals from the previous one on are there, and so is a snapshot that they go with.
 * Throws AtomicWriteError.
 */
export async function takeOver(disk: Disk, directory: string, copy: string): Promise<void> {
  const current = join(directory, snapshotName);
  const previous = join(directory, previousName);
  try {
    const moved = await step(current, 'rename', renamed(disk, current, previous));
    await step(current, 'rename', disk.rename(copy, current)).catch(async (error) => {
      if (moved) await disk.rename(previous, current).catch(() => {}); // else the next start does it
      throw error;
    });
  } catch (error) {
    await discard(disk, copy);
    throw error;
  }
  await step(current, 'fsync', disk.syncDirectory(directory));
}

async function renamed(disk: Disk, from: string, to: string): Promise<boolean> {
  try {
    await disk.rename(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false; // there was none yet
    throw error;
  }
}

/** Removes the journals before a generation. What stays is removed the next time. */
export async function removeJournals(disk: Disk, directory: string, before: number): Promise<void> {
  for (const name of await disk.list(directory)) {
    const generation = journalGeneration(name);
    if (generation === undefined || generation >= before) continue;
    await disk.unlink(join(directory, name)).catch(() => {});
  }
}
