import { join } from 'node:path';
import { fileMode, removeLeftovers, step, writeWhole } from '../files/atomic-write.ts';
import { type Disk, type DiskFile, errorCode } from '../files/disk.ts';

/** A change to the files of a data directory that repairs the effects of a crash. */
export type RecoveryAction =
  /** Renames an unreadable file. */
  | { readonly kind: 'set aside'; readonly name: string }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  /** Truncates a file, and saves its end in another file. */
  | { readonly kind: 'cut'; readonly name: string; readonly at: number; readonly savedAs: string }
  /** Removes a file, and saves its content in another file unless `savedAs` is undefined. */
  | { readonly kind: 'remove'; readonly name: string; readonly savedAs: string | undefined };

/** Applies recovery actions in order, and removes the temporary files of snapshots. */
export async function applyRecoveryActions(
  disk: Disk,
  directory: string,
  actions: readonly RecoveryAction[],
): Promise<void> {
  for (const action of actions) await applyAction(disk, directory, action);
  // The process that created them held the lock then, so it has ended.
  await removeLeftovers(disk, directory, 'store.json', () => true);
  if (actions.length > 0) await disk.syncDirectory(directory);
}

async function applyAction(disk: Disk, directory: string, action: RecoveryAction): Promise<void> {
  switch (action.kind) {
    case 'set aside':
      return disk.rename(join(directory, action.name), join(directory, await freeName(disk, directory)));
    case 'rename':
      return disk.rename(join(directory, action.from), join(directory, action.to));
    case 'cut':
      await saveEnd(disk, directory, action);
      await disk.syncDirectory(directory);
      return disk.truncate(join(directory, action.name), action.at);
    case 'remove':
      if (action.savedAs !== undefined)
        await saveEnd(disk, directory, { name: action.name, at: 0, savedAs: action.savedAs });
      await disk.syncDirectory(directory);
      return disk.unlink(join(directory, action.name));
  }
}

async function freeName(disk: Disk, directory: string): Promise<string> {
  const names = new Set(await disk.list(directory));
  for (let number = 1; ; number += 1) {
    const name = `store.damaged-${number}.json`;
    if (!names.has(name)) return name;
  }
}

/** Saves the end of a file, from a byte on, in another file. NUL bytes at the end are omitted. */
async function saveEnd(
  disk: Disk,
  directory: string,
  { name, at, savedAs }: { readonly name: string; readonly at: number; readonly savedAs: string },
): Promise<void> {
  const bytes = await readFrom(disk, join(directory, name), at);
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  const { path, file } = await createSaved(disk, directory, savedAs);
  try {
    await writeWhole(file, bytes.subarray(0, end), path);
    await step(path, 'fsync', file.sync());
  } finally {
    await file.close();
  }
}

async function createSaved(
  disk: Disk,
  directory: string,
  savedAs: string,
): Promise<{ readonly path: string; readonly file: DiskFile }> {
  for (let attempt = 1; ; attempt += 1) {
    const name = attempt === 1 ? savedAs : savedAs.replace(/\.bin$/, `-${attempt}.bin`);
    const path = join(directory, name);
    try {
      return { path, file: await disk.create(path, fileMode) };
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
}

async function readFrom(disk: Disk, path: string, at: number): Promise<Uint8Array> {
  const file = await disk.openToRead(path);
  if (file === undefined) return new Uint8Array();
  try {
    const bytes = new Uint8Array(Math.max(0, file.size - at));
    let filled = 0;
    while (filled < bytes.length) {
      const read = await file.read(bytes.subarray(filled), at + filled);
      if (read === 0) break;
      filled += read;
    }
    return bytes.subarray(0, filled);
  } finally {
    await file.close();
  }
}
