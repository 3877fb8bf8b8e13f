import { join } from 'node:path';
import { fileMode, removeLeftovers, step, writeWhole } from '../files/atomic-write.ts';
import { type Disk, type DiskFile, errorCode } from '../files/disk.ts';

/** Something to do to the files that a crash left, before the directory is written on. */
export type RecoveryAction =
  /** Gives a file that cannot be read another name. */
  | { readonly kind: 'set aside'; readonly name: string }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  /** Cuts a file off at a byte, and keeps what was behind it in another. */
  | { readonly kind: 'cut'; readonly name: string; readonly at: number; readonly kept: string }
  /** Takes a file away, and keeps what was in it in another, if there was anything. */
  | { readonly kind: 'remove'; readonly name: string; readonly kept: string | undefined };

/** Does what is to be done, one after the other, and takes away what was on its way to become a snapshot. */
export async function applyRecoveryActions(
  disk: Disk,
  directory: string,
  mends: readonly RecoveryAction[],
): Promise<void> {
  for (const each of mends) await mendOne(disk, directory, each);
  // Whoever made them held the lock then and does not now.
  await removeLeftovers(disk, directory, 'store.json', () => true);
  if (mends.length > 0) await disk.syncDirectory(directory);
}

async function mendOne(disk: Disk, directory: string, each: RecoveryAction): Promise<void> {
  switch (each.kind) {
    case 'set aside':
      return disk.rename(join(directory, each.name), join(directory, await freeName(disk, directory)));
    case 'rename':
      return disk.rename(join(directory, each.from), join(directory, each.to));
    case 'cut':
      await keepEnd(disk, directory, each);
      await disk.syncDirectory(directory);
      return disk.truncate(join(directory, each.name), each.at);
    case 'remove':
      if (each.kept !== undefined)
        await keepEnd(disk, directory, { name: each.name, at: 0, kept: each.kept });
      await disk.syncDirectory(directory);
      return disk.unlink(join(directory, each.name));
  }
}

async function freeName(disk: Disk, directory: string): Promise<string> {
  const names = new Set(await disk.list(directory));
  for (let number = 1; ; number += 1) {
    const name = `store.damaged-${number}.json`;
    if (!names.has(name)) return name;
  }
}

/** Writes what follows a byte of a file into a file of its own, without the NUL bytes at the end. */
async function keepEnd(
  disk: Disk,
  directory: string,
  { name, at, kept }: { readonly name: string; readonly at: number; readonly kept: string },
): Promise<void> {
  const bytes = await readFrom(disk, join(directory, name), at);
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  const { path, file } = await createAside(disk, directory, kept);
  try {
    await writeWhole(file, bytes.subarray(0, end), path);
    await step(path, 'fsync', file.sync());
  } finally {
    await file.close();
  }
}

async function createAside(
  disk: Disk,
  directory: string,
  kept: string,
): Promise<{ readonly path: string; readonly file: DiskFile }> {
  for (let attempt = 1; ; attempt += 1) {
    const name = attempt === 1 ? kept : kept.replace(/\.bin$/, `-${attempt}.bin`);
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
