import { type Disk, type DiskFile, nodeDisk } from '../../../src/store/files/disk.ts';

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
  /** How many bytes each write was asked to take. */
  readonly writes: readonly number[];
  /** Makes the next one fail with this code; with `name`, the next one of a file whose name has that in it. */
  failNext(operation: DiskOperation, code: string, name?: string): void;
  /** Lets no file grow beyond this length: what goes further fails with ENOSPC, after as much as there is room for. */
  room(length: number): void;
  /** The most bytes that one write takes; a write takes at least one. */
  shortWrites(most: number): void;
  /** Stops the next one until `release` is called; `reached` resolves when it is there. */
  hold(operation: DiskOperation): { readonly reached: Promise<void>; release(): void };
}

/** Makes such a disk. */
export function faultyDisk(): FaultyDisk {
  const counts = new Map<DiskOperation, number>();
  const failures = new Map<DiskOperation, { readonly code: string; readonly name: string }>();
  const writes: number[] = [];
  let room = Number.POSITIVE_INFINITY;
  const holds = new Map<DiskOperation, { reach(): void; released: Promise<void> }>();
  let most = Number.POSITIVE_INFINITY;

  const before = async (operation: DiskOperation, path: string): Promise<void> => {
    counts.set(operation, (counts.get(operation) ?? 0) + 1);
    const held = holds.get(operation);
    holds.delete(operation);
    held?.reach();
    await held?.released;
    const failure = failures.get(operation);
    if (failure === undefined || !path.includes(failure.name)) return;
    failures.delete(operation);
    throw failed(failure.code);
  };

  const act = <T>(operation: DiskOperation, path: string, work: () => T | Promise<T>): Promise<T> =>
    before(operation, path).then(work);

  const wrap = (path: string, file: DiskFile): DiskFile => {
    return {
      write(bytes) {
        writes.push(bytes.length);
        return act('write', path, () => file.write(bytes.subarray(0, most)));
      },
      async writeAt(bytes, position, inBackground) {
        writes.push(bytes.length);
        await before('write', path);
        if (position >= room) throw failed('ENOSPC');
        return file.writeAt(bytes.subarray(0, Math.min(most, room - position)), position, inBackground);
      },
      truncate: (length) => act('truncate', path, () => file.truncate(length)),
      sync: () => act('sync', path, () => file.sync()),
      syncData: () => act('sync', path, () => file.syncData()),
      async close() {
        await file.close();
        await before('close', path);
      },
    };
  };

  return {
    counts,
    writes,
    failNext: (operation, code, name = '') => void failures.set(operation, { code, name }),
    room(length) {
      room = length;
    },
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
    openToWrite: (path) => act('open', path, async () => wrap(path, await nodeDisk.openToWrite(path))),
    create: (path, mode) => act('create', path, async () => wrap(path, await nodeDisk.create(path, mode))),
    rename: (from, to) => act('rename', to, () => nodeDisk.rename(from, to)),
    unlink: (path) => act('unlink', path, () => nodeDisk.unlink(path)),
    syncDirectory: (path) => act('syncDirectory', path, () => nodeDisk.syncDirectory(path)),
  };
}

function failed(code: string): Error {
  return Object.assign(new Error(`${code}: made to fail`), { code });
}

function promise(): { promise: Promise<void>; resolve(): void } {
  let resolve = (): void => {};
  const made = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise: made, resolve: () => resolve() };
}
