import { type Disk, type DiskFile, nodeDisk } from '../../../src/store/files/disk.ts';
import type { Seeded } from '../seeded.ts';

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

/** The end of the process that uses a disk. Nothing is done afterwards, and no operation returns. */
interface Crash {
  /** The number of operations that are done before. The one after them may be a write, which is then done in part. */
  readonly after: number;
  /** Chooses how much of that write is done. */
  readonly random: Seeded;
}

/** The host's disk, until it is told to fail. */
export interface FaultyDisk extends Disk {
  /** Resolves when the process has ended, and the operations that it had begun are done. */
  readonly crashed: Promise<void>;
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

/**
 * Makes such a disk.
 *
 * @param crash when the process ends. Files are not synced then, because the host keeps what was written. Default: never
 */
export function faultyDisk(crash?: Crash): FaultyDisk {
  const counts = new Map<DiskOperation, number>();
  const failures = new Map<DiskOperation, { readonly code: string; readonly name: string }>();
  const writes: number[] = [];
  let room = Number.POSITIVE_INFINITY;
  const holds = new Map<DiskOperation, { reach(): void; released: Promise<void> }>();
  let most = Number.POSITIVE_INFINITY;
  const { crashed, files, step } = crashingProcess(crash?.after);

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
    step(() => before(operation, path).then(work));

  const sync = (operation: DiskOperation, path: string, work: () => Promise<void>): Promise<void> =>
    act(operation, path, crash === undefined ? work : () => {});

  /** Writes a part of the bytes, of random length, as the last operation. */
  const tear = async (file: DiskFile, bytes: Uint8Array, position: number): Promise<void> => {
    const part = bytes.subarray(0, crash?.random.below(bytes.length + 1));
    if (part.length > 0) await file.writeAt(part, position);
  };

  const wrap = (path: string, file: DiskFile): DiskFile => {
    files.add(file);
    return {
      write(bytes) {
        writes.push(bytes.length);
        return act('write', path, () => file.write(bytes.subarray(0, most)));
      },
      writeAt(bytes, position, inBackground) {
        writes.push(bytes.length);
        const write = async (): Promise<number> => {
          await before('write', path);
          if (position >= room) throw failed('ENOSPC');
          return file.writeAt(bytes.subarray(0, Math.min(most, room - position)), position, inBackground);
        };
        return step(write, () => tear(file, bytes, position));
      },
      truncate: (length) => act('truncate', path, () => file.truncate(length)),
      sync: () => sync('sync', path, () => file.sync()),
      syncData: () => sync('sync', path, () => file.syncData()),
      close: () =>
        step(async () => {
          files.delete(file);
          await file.close();
          await before('close', path);
        }),
    };
  };

  return {
    crashed,
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
    truncate: (path, length) => step(() => nodeDisk.truncate(path, length)),
    list: (directory) => nodeDisk.list(directory),
    openToWrite: (path) => act('open', path, async () => wrap(path, await nodeDisk.openToWrite(path))),
    create: (path, mode) => act('create', path, async () => wrap(path, await nodeDisk.create(path, mode))),
    rename: (from, to) => act('rename', to, () => nodeDisk.rename(from, to)),
    unlink: (path) => act('unlink', path, () => nodeDisk.unlink(path)),
    syncDirectory: (path) => sync('syncDirectory', path, () => nodeDisk.syncDirectory(path)),
  };
}

/** Runs operations until so many are done. From then on, none returns, and the files that are open are closed. */
function crashingProcess(operations = Number.POSITIVE_INFINITY): {
  readonly crashed: Promise<void>;
  /** The files that are open. */
  readonly files: Set<DiskFile>;
  /** Runs an operation; `last` is done instead if the process ends in it. */
  step<T>(work: () => Promise<T>, last?: () => Promise<void>): Promise<T>;
} {
  let left = operations;
  const crash = promise();
  const running = new Set<Promise<unknown>>();
  const files = new Set<DiskFile>();

  const end = async (): Promise<void> => {
    await Promise.allSettled(running);
    for (const file of files) await file.close();
    crash.resolve();
  };

  return {
    crashed: crash.promise,
    files,
    async step(work, last) {
      left -= 1;
      if (left === -1) {
        await last?.();
        await end();
      }
      if (left < 0) await new Promise(() => {});
      const done = work();
      running.add(done);
      try {
        return await done;
      } finally {
        running.delete(done);
      }
    },
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
