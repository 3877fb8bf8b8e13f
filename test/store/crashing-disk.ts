import { type Disk, type DiskFile, nodeDisk } from '../../src/store/disk.ts';
import type { Seeded } from '../seeded.ts';

/** The host's disk, for a process that ends suddenly: from then on nothing is done, and nobody is answered. */
export interface CrashingDisk extends Disk {
  /** Resolves when the process has ended. */
  readonly crashed: Promise<void>;
}

/** Ends after so many operations; a write that it ends in may be done in part. */
export function crashingDisk(operations: number, random: Seeded): CrashingDisk {
  let left = operations;
  let crash = (): void => {};
  const crashed = new Promise<void>((resolve) => {
    crash = resolve;
  });

  const before = async (last: () => unknown = () => {}): Promise<void> => {
    left -= 1;
    if (left >= 0) return;
    if (left === -1) await last();
    crash();
    await new Promise(() => {});
  };

  const wrap = (file: DiskFile): DiskFile => ({
    write: (bytes) => before().then(() => file.write(bytes)),
    async writeAt(bytes, position) {
      const part = bytes.subarray(0, random.below(bytes.length + 1));
      await before(() => (part.length === 0 ? undefined : file.writeAt(part, position)));
      return file.writeAt(bytes, position);
    },
    truncate: (length) => before().then(() => file.truncate(length)),
    sync: () => before(),
    syncData: () => before(),
    // A file that is not let go of would be told of when it is collected.
    close: () => file.close(),
  });

  return {
    crashed,
    read: (path) => nodeDisk.read(path),
    openToRead: (path) => nodeDisk.openToRead(path),
    openToWrite: (path) => before().then(async () => wrap(await nodeDisk.openToWrite(path))),
    create: (path, mode) => before().then(async () => wrap(await nodeDisk.create(path, mode))),
    rename: (from, to) => before().then(() => nodeDisk.rename(from, to)),
    truncate: (path, length) => before().then(() => nodeDisk.truncate(path, length)),
    unlink: (path) => before().then(() => nodeDisk.unlink(path)),
    list: (directory) => nodeDisk.list(directory),
    syncDirectory: () => before(),
  };
}
