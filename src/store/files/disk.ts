import { fdatasync, writeSync } from 'node:fs';
import { type FileHandle, open, readdir, readFile, rename, unlink } from 'node:fs/promises';
import { errorCode } from './error-code.ts';

export { errorCode };

/** Up to so many bytes are written at once: the system copies them faster than another thread could take them over. */
const mostAtOnce = 65_536;

/** The file operations that a store needs, so that a test can hand in a medium that fails. */
export interface Disk {
  /** The whole content of a file, or undefined when there is no such file. */
  read(path: string): Promise<Uint8Array | undefined>;
  /** Opens a file to read it in parts, or gives undefined when there is no such file. */
  openToRead(path: string): Promise<ReadableFile | undefined>;
  /** Makes a new file to write to, with these permissions; fails with code EEXIST when the name is taken. */
  create(path: string, mode: number): Promise<DiskFile>;
  /** Opens a file that is there, to write to any part of it. */
  openToWrite(path: string): Promise<DiskFile>;
  /** Gives a file another name, taking the place of a file that has it. */
  rename(from: string, to: string): Promise<void>;
  /** Cuts a file off at this length; resolves when that, and what stays, is on the medium. */
  truncate(path: string, length: number): Promise<void>;
  /** Takes a file away. */
  unlink(path: string): Promise<void>;
  /** The names in a directory. */
  list(directory: string): Promise<readonly string[]>;
  /** Resolves when the names in a directory are on the medium. */
  syncDirectory(directory: string): Promise<void>;
}

/** A file that is read in parts. */
export interface ReadableFile {
  /** How many bytes it had when it was opened. */
  readonly size: number;
  /** Reads some of the bytes from this position on, as many as there is room for, and gives how many; 0 at the end. */
  read(into: Uint8Array, position: number): Promise<number>;
  close(): Promise<void>;
}

/** A file that is being written. */
export interface DiskFile {
  /** Writes some of the bytes behind what was written before, and gives how many (at least one). */
  write(bytes: Uint8Array): Promise<number>;
  /** Writes some of the bytes from this position on, and gives how many (at least one): at once when they are few. */
  writeAt(bytes: Uint8Array, position: number): number | Promise<number>;
  /** Cuts the file off at this length. */
  truncate(length: number): Promise<void>;
  /** Resolves when everything written is on the medium. */
  sync(): Promise<void>;
  /** As `sync`, but the time of the last change need not be there. */
  syncData(): Promise<void>;
  close(): Promise<void>;
}

/** The host's file system. */
export const nodeDisk: Disk = {
  async read(path) {
    try {
      return await readFile(path);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  },
  async openToRead(path) {
    try {
      const handle = await open(path, 'r');
      return {
        size: (await handle.stat()).size,
        read: async (into, position) => (await handle.read(into, 0, into.length, position)).bytesRead,
        close: () => handle.close(),
      };
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  },
  async create(path, mode) {
    return fileOf(await open(path, 'wx', mode));
  },
  async openToWrite(path) {
    return fileOf(await open(path, 'r+'));
  },
  rename,
  async truncate(path, length) {
    const handle = await open(path, 'r+');
    try {
      await handle.truncate(length);
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
  unlink,
  list: (directory) => readdir(directory),
  async syncDirectory(directory) {
    // Windows opens no directory; there a rename is in the file system's own log.
    if (process.platform === 'win32') return;
    const handle = await open(directory, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
};

function fileOf(handle: FileHandle): DiskFile {
  /** How many syncs are under way, and whom to tell when none is any more. */
  let syncing = 0;
  let ended = (): void => {};
  return {
    write: async (bytes) => (await handle.write(bytes)).bytesWritten,
    writeAt(bytes, position) {
      if (bytes.length <= mostAtOnce) return writeSync(handle.fd, bytes, 0, bytes.length, position);
      return handle.write(bytes, 0, bytes.length, position).then(({ bytesWritten }) => bytesWritten);
    },
    truncate: (length) => handle.truncate(length),
    sync: () => handle.sync(),
    // In another thread, though a lone writer waits a fifth longer for it: what else is asked for meanwhile must not wait
    // for the medium. Not by the handle itself, which takes ten microseconds more.
    syncData: () =>
      new Promise((resolve, reject) => {
        fdatasync(handle.fd, (error) => {
          syncing -= 1;
          if (syncing === 0) ended();
          if (error) reject(error);
          else resolve();
        });
        syncing += 1;
      }),
    async close() {
      // Until then the number must not become another file's.
      if (syncing > 0) {
        await new Promise<void>((resolve) => {
          ended = resolve;
        });
      }
      await handle.close();
    },
  };
}
