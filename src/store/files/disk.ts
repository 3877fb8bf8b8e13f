import { fdatasync, writeSync } from 'node:fs';
import { type FileHandle, open, readdir, readFile, rename, unlink } from 'node:fs/promises';
import { errorCode } from './error-code.ts';

export { errorCode };

/** The maximum number of bytes that are written synchronously: that is faster than using another thread. */
const maxSyncWrite = 65_536;

/** The file operations that a store needs. Tests use implementations that fail. */
export interface Disk {
  /** Returns the content of a file, or undefined if there is no such file. */
  read(path: string): Promise<Uint8Array | undefined>;
  /** Opens a file for reading in parts. Returns undefined if there is no such file. */
  openToRead(path: string): Promise<ReadableFile | undefined>;
  /** Creates a file for writing, with these permissions. Rejects with code EEXIST if the file exists. */
  create(path: string, mode: number): Promise<DiskFile>;
  /** Opens an existing file for writing at any position. */
  openToWrite(path: string): Promise<DiskFile>;
  /** Renames a file. An existing file of the new name is replaced. */
  rename(from: string, to: string): Promise<void>;
  /** Truncates a file to this length. Resolves when the file is on the disk. */
  truncate(path: string, length: number): Promise<void>;
  /** Removes a file. */
  unlink(path: string): Promise<void>;
  /** Returns the file names in a directory. */
  list(directory: string): Promise<readonly string[]>;
  /** Resolves when the file names of a directory are on the disk. */
  syncDirectory(directory: string): Promise<void>;
}

/** A file that is open for reading. */
export interface ReadableFile {
  /** The length of the file in bytes when it was opened. */
  readonly size: number;
  /** Reads bytes at this position, at most as many as `into` has. Returns how many were read; 0 at the end. */
  read(into: Uint8Array, position: number): Promise<number>;
  close(): Promise<void>;
}

/** A file that is open for writing. */
export interface DiskFile {
  /** Writes some of the bytes at the current position. Returns how many (at least one). */
  write(bytes: Uint8Array): Promise<number>;
  /**
   * Writes some of the bytes at this position. Returns how many (at least one).
   * @param inBackground whether another thread is used. Default: only for many bytes
   */
  writeAt(bytes: Uint8Array, position: number, inBackground?: boolean): number | Promise<number>;
  /** Truncates the file to this length. */
  truncate(length: number): Promise<void>;
  /** Resolves when all written data is on the disk. */
  sync(): Promise<void>;
  /** Resolves when all written data is on the disk, without metadata such as times. */
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
    return createFile(await open(path, 'wx', mode));
  },
  async openToWrite(path) {
    return createFile(await open(path, 'r+'));
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
    // Windows cannot open a directory. Its file system logs renames itself.
    if (process.platform === 'win32') return;
    const handle = await open(directory, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
};

function createFile(handle: FileHandle): DiskFile {
  /** The number of pending syncs, and the function to call when there are none. */
  let syncing = 0;
  let ended = (): void => {};
  return {
    write: async (bytes) => (await handle.write(bytes)).bytesWritten,
    writeAt(bytes, position, inBackground = false) {
      if (!inBackground && bytes.length <= maxSyncWrite)
        return writeSync(handle.fd, bytes, 0, bytes.length, position);
      return handle.write(bytes, 0, bytes.length, position).then(({ bytesWritten }) => bytesWritten);
    },
    truncate: (length) => handle.truncate(length),
    sync: () => handle.sync(),
    // In another thread, so that other requests need not wait for the disk; a single writer waits a fifth longer. The
    // method of the handle takes ten microseconds more.
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
      // A pending sync must not use the descriptor of another file.
      if (syncing > 0) {
        await new Promise<void>((resolve) => {
          ended = resolve;
        });
      }
      await handle.close();
    },
  };
}
