import { type Disk, type DiskFile, nodeDisk } from '../../../src/store/files/disk.ts';
import type { Seeded } from '../seeded.ts';

/** The host's disk, for a process that ends suddenly: from then on nothing is done, and nobody is answered. */
export interface CrashingDisk extends Disk {
  /** Resolves when the process has ended, and what it had begun is done. */
  readonly crashed: Promise<void>;
}

/** Ends after so many operations; a write that it ends in may be done in part. */
export function crashingDisk(operations: number, random: Seeded): CrashingDisk {
  let left = operations;
  let crash = (): void => {};
  const crashed = new Promise<void>((resolve) => {
    crash = resolve;
  });
  const running = new Set<Promise<unknown>>();
  const files = new Set<DiskFile>();

  const end = async (): Promise<void> => {
    await Promise.allSettled(running);
    for (const file of files) await file.close();
    crash();
  };

  /** Does something, unless the process has ended; `last` is what is done instead when it ends just here. */
  const act = async <T>(whole: () => T | Promise<T>, last: () => unknown = () => {}): Promise<T> => {
    left -= 1;
    if (left === -1) {
      await last();
      await end();
    }
    if (left < 0) await new Promise(() => {});
    const done = (async () => whole())();
    running.add(done);
    try {
      return await done;
    } finally {
      running.delete(done);
    }
  };

  const wrap = (file: DiskFile): DiskFile => {
    files.add(file);
    return {
      write: (bytes) => act(() => file.write(bytes)),
      writeAt(bytes, position) {
        const part = bytes.subarray(0, random.below(bytes.length + 1));
        const last = (): unknown => (part.length === 0 ? undefined : file.writeAt(part, position));
        return act(() => file.writeAt(bytes, position), last);
      },
      truncate: (length) => act(() => file.truncate(length)),
      sync: () => act(() => {}),
      syncData: () => act(() => {}),
      close: () => act(() => (files.delete(file) ? file.close() : undefined)),
    };
  };

  return {
    crashed,
    read: (path) => nodeDisk.read(path),
    openToRead: (path) => nodeDisk.openToRead(path),
    openToWrite: (path) => act(async () => wrap(await nodeDisk.openToWrite(path))),
    create: (path, mode) => act(async () => wrap(await nodeDisk.create(path, mode))),
    rename: (from, to) => act(() => nodeDisk.rename(from, to)),
    truncate: (path, length) => act(() => nodeDisk.truncate(path, length)),
    unlink: (path) => act(() => nodeDisk.unlink(path)),
    list: (directory) => nodeDisk.list(directory),
    syncDirectory: () => act(() => {}),
  };
}
