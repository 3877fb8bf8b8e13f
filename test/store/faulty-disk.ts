import { type Disk, type DiskFile, nodeDisk } from '../../src/store/disk.ts';

/** What a disk does that can fail. */
export type DiskOperation =
  | 'create'
  | 'open'
  | 'write'
  | 'truncate'
  | 'sync'
  | 'close'
  | 'rename'
  | 'unlink'
  | 'syncDirectory';

/** The host's disk, until it is told to fail. */
export interface FaultyDisk extends Disk {
  /** How often each thing was done, failures included. */
  readonly counts: ReadonlyMap<DiskOperation, number>;
  /** Makes the next one fail with this code. */
  failNext(operation: DiskOperation, code: string): void;
  /** The most bytes that one write takes; a write takes at least one. */
  shortWrites(most: number): void;
  /** Stops the next one until `release` is called; `reached` resolves when it is there. */
  hold(operation: DiskOperation): { readonly reached: Promise<void>; release(): void };
}

/** Makes such a disk. */
export function faultyDisk(): FaultyDisk {
  const counts = new Map<DiskOperation, number>();
  const failures = new Map<DiskOperation, string>();
  const holds = new Map<DiskOperation, { reach(): void; released: Promise<void> }>();
  let most = Number.POSITIVE_INFINITY;

  const before = async (operation: DiskOperation): Promise<void> => {
    counts.set(operation, (counts.get(operation) ?? 0) + 1);
    const held = holds.get(operation);
    holds.delete(operation);
    held?.reach();
    await held?.released;
    const code = failures.get(operation);
    failures.delete(operation);
    if (code !== undefined) throw Object.assign(new Error(`${code}: made to fail`), { code });
  };

  const wrap = (file: DiskFile): DiskFile => ({
    write: (bytes) => before('write').then(() => file.write(bytes.subarray(0, most))),
    writeAt: (bytes, position) => before('write').then(() => file.writeAt(bytes.subarray(0, most), position)),
    truncate: (length) => before('truncate').then(() => file.truncate(length)),
    sync: () => before('sync').then(() => file.sync()),
    syncData: () => before('sync').then(() => file.syncData()),
    close: async () => {
      await file.close();
      await before('close');
    },
  });

  return {
    counts,
    failNext: (operation, code) => void failures.set(operation, code),
    shortWrites: (bytes) => {
      most = bytes;
    },
    hold(operation) {
      const arrival = promise();
      const release = promise();
      holds.set(operation, { reach: arrival.resolve, released: release.promise });
      return { reached: arrival.promise, release: release.resolve };
    },
    read: (path) => nodeDisk.read(path),
    openToRead: (path) => nodeDisk.openToRead(path),
    truncate: (path, length) => nodeDisk.truncate(path, length),
    list: (directory) => nodeDisk.list(directory),
    create: (path, mode) => before('create').then(async () => wrap(await nodeDisk.create(path, mode))),
    openToWrite: (path) => before('open').then(async () => wrap(await nodeDisk.openToWrite(path))),
    rename: (from, to) => before('rename').then(() => nodeDisk.rename(from, to)),
    unlink: (path) => before('unlink').then(() => nodeDisk.unlink(path)),
    syncDirectory: (path) => before('syncDirectory').then(() => nodeDisk.syncDirectory(path)),
  };
}

function promise(): { promise: Promise<void>; resolve(): void } {
  let resolve = (): void => {};
  const made = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise: made, resolve: () => resolve() };
}
