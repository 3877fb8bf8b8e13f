import { join } from 'node:path';
import { createFree, removeLeftovers, step, writeWhole } from './files/atomic-write.ts';
import { formatDamagedName, snapshotName } from './files/data-files.ts';
import { type Disk, nodeDisk } from './files/disk.ts';
import { type Repair, type Scanned, type ScanOptions, scan } from './scan.ts';

/**
 * Reads the files of a data directory, and repairs the effects of a crash: an incomplete end of a journal is moved to a
 * file of its own, and an unreadable snapshot is renamed. The caller holds the lock of the directory. Throws
 * CorruptionError for damage that no crash causes, and then changes nothing.
 */
export async function recover(options: ScanOptions): Promise<Scanned> {
  const scanned = await scan(options);
  const { directory, disk = nodeDisk } = options;
  for (const repair of scanned.repairs) await applyRepair(disk, directory, repair);
  // The process that created them held the lock then, so it has ended.
  await removeLeftovers(disk, directory, snapshotName, () => true);
  if (scanned.repairs.length > 0) await disk.syncDirectory(directory);
  // The files and their names may be in the cache of the operating system only. They must be on the disk before
  // they are used.
  const last = scanned.journals.at(-1);
  if (last === undefined) return scanned;
  await disk.truncate(last.path, last.bytes);
  await disk.syncDirectory(directory);
  return scanned;
}

async function applyRepair(disk: Disk, directory: string, repair: Repair): Promise<void> {
  switch (repair.kind) {
    case 'set aside':
      return disk.rename(join(directory, repair.name), join(directory, await freeName(disk, directory)));
    case 'rename':
      return disk.rename(join(directory, repair.from), join(directory, repair.to));
    case 'cut':
      await saveEnd(disk, directory, repair);
      await disk.syncDirectory(directory);
      return disk.truncate(join(directory, repair.name), repair.at);
    case 'remove':
      if (repair.savedAs !== undefined)
        await saveEnd(disk, directory, { name: repair.name, at: 0, savedAs: repair.savedAs });
      await disk.syncDirectory(directory);
      return disk.unlink(join(directory, repair.name));
  }
}

async function freeName(disk: Disk, directory: string): Promise<string> {
  const names = new Set(await disk.list(directory));
  for (let number = 1; ; number += 1) {
    const name = formatDamagedName(number);
    if (!names.has(name)) return name;
  }
}

/** Saves the end of a file, from a byte on, in another file. NUL bytes at the end are omitted. */
async function saveEnd(
  disk: Disk,
  directory: string,
  { name, at, savedAs }: { readonly name: string; readonly at: number; readonly savedAs: string },
): Promise<void> {
  const bytes = ((await disk.read(join(directory, name))) ?? new Uint8Array()).subarray(at);
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  const { path, file } = await createFree(disk, directory, (attempt) =>
    attempt === 1 ? savedAs : savedAs.replace(/\.bin$/, `-${attempt}.bin`),
  );
  try {
    await writeWhole(file, bytes.subarray(0, end), path);
    await step(path, 'fsync', file.sync());
  } finally {
    await file.close();
  }
}
