import { link, readdir, readFile, realpath, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../errors.ts';
import { removeLeftovers, temporaryName } from './atomic-write.ts';
import { DirectoryError } from './directory.ts';
import { errorCode, nodeDisk } from './disk.ts';
import { isRunning, type ProcessIdentity, readOwnProcess } from './process-liveness.ts';

/** A StoreError `locked`: another process, or this one, uses the directory. */
export class LockedError extends StoreError {
  readonly directory: string;
  /** The id of the process that holds the lock. */
  readonly pid: number;

  constructor(directory: string, pid: number) {
    super('locked', `${directory} is in use by process ${pid}`);
    this.directory = directory;
    this.pid = pid;
  }
}

/** The lock of a directory. */
export interface DirectoryLock {
  /** Releases the lock. */
  release(): Promise<void>;
}

/**
 * Locks a directory for this process. The lock of a process that has ended is taken over, by only one process even if
 * several try. Throws LockedError if a running process holds the lock, DirectoryError if the file system does not
 * support it.
 *
 * The lock is the file `lock.N` with the highest N. It contains the identity of the process. A process takes the lock
 * by linking a complete file to the next number, which only one process can do. A release overwrites the file, so a
 * number is never free again. The file also identifies the directory: in a copy of the directory, the lock is not valid.
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const temporary = await writeTemporary(directory, await lockContent(directory));
  try {
    const number = await acquire(directory, temporary);
    await removeOldLocks(directory, number);
    return { release: () => release(directory, number) };
  } finally {
    await removeQuietly(temporary);
  }
}

/** Calls a function while this process holds the lock of a directory. Rejects as `lockDirectory` does. */
export async function whileLocked<T>(directory: string, run: () => Promise<T>): Promise<T> {
  const lock = await lockDirectory(directory);
  try {
    return await run();
  } finally {
    await lock.release();
  }
}

/** Returns the running process that holds the lock of a directory, or undefined. Changes nothing. */
export async function findHolder(directory: string): Promise<ProcessIdentity | undefined> {
  return findRunningHolder(directory, await highestNumber(directory));
}

/** Identifies a directory. */
interface DirectoryIdentity {
  /** The absolute path, without symbolic links. */
  readonly path: string;
  /** The device and the inode: `DEVICE:INODE`. */
  readonly inode: string;
}

/** The content of a lock. */
interface LockHolder extends ProcessIdentity {
  readonly directory: DirectoryIdentity;
}

/** Returns the running process that holds the lock with this number, or undefined; 0 is no lock. */
async function findRunningHolder(directory: string, number: number): Promise<ProcessIdentity | undefined> {
  const holder = number === 0 ? undefined : await readHolder(lockPath(directory, number));
  if (holder === undefined || !(await isRunning(holder))) return undefined;
  return (await isCopied(directory, holder)) ? undefined : holder;
}

/**
 * Returns whether the lock was copied together with its directory, as by `cp -a`. Both path and inode must differ: a
 * directory that was moved, or is mounted twice, keeps its inode; and some file systems change the inodes of open
 * directories, but not their paths.
 */
async function isCopied(directory: string, { directory: locked }: LockHolder): Promise<boolean> {
  const { path, inode } = await readDirectoryIdentity(directory);
  return path !== locked.path && inode !== locked.inode;
}

async function readDirectoryIdentity(directory: string): Promise<DirectoryIdentity> {
  const path = await realpath(directory);
  const { dev, ino } = await stat(path, { bigint: true });
  return { path, inode: `${dev}:${ino}` };
}

/** Returns the content of a lock that this process holds. */
async function lockContent(directory: string): Promise<string> {
  try {
    return JSON.stringify({ ...(await readOwnProcess()), directory: await readDirectoryIdentity(directory) });
  } catch (error) {
    throw new DirectoryError(directory, `it cannot be read (${errorCode(error) ?? 'unknown'})`, error);
  }
}

async function acquire(directory: string, temporary: string): Promise<number> {
  for (;;) {
    const highest = await highestNumber(directory);
    const holder = await findRunningHolder(directory, highest);
    if (holder !== undefined) throw new LockedError(directory, holder.pid);
    const number = highest + 1;
    if (!(await tryLink(directory, temporary, number))) continue;
    if ((await highestNumber(directory)) === number) return number;
    // Meanwhile, other processes took higher numbers and removed this one.
    await removeQuietly(lockPath(directory, number));
  }
}

/** Links the file to a number. Returns false if the number is taken. */
async function tryLink(directory: string, temporary: string, number: number): Promise<boolean> {
  try {
    await link(temporary, lockPath(directory, number));
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw new DirectoryError(
      directory,
      `its lock cannot be created (${errorCode(error) ?? 'unknown'})`,
      error,
    );
  }
}

/** Returns the process in a lock file; undefined if the lock was released, or the file is missing or incomplete. */
async function readHolder(path: string): Promise<LockHolder | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (typeof value !== 'object' || value === null || !('pid' in value)) return undefined;
    if (typeof value.pid !== 'number') return undefined;
    const started = 'started' in value && typeof value.started === 'string' ? value.started : undefined;
    const directory = 'directory' in value ? readIdentity(value.directory) : undefined;
    if (directory === undefined) return undefined;
    return { pid: value.pid, ...(started === undefined ? {} : { started }), directory };
  } catch (error) {
    // A lock file is complete when it is linked. After a power failure it may be incomplete.
    if (errorCode(error) === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw new DirectoryError(path, `the lock cannot be read (${errorCode(error) ?? 'unknown'})`, error);
  }
}

function readIdentity(value: unknown): DirectoryIdentity | undefined {
  if (typeof value !== 'object' || value === null || !('path' in value) || !('inode' in value))
    return undefined;
  const { path, inode } = value;
  return typeof path === 'string' && typeof inode === 'string' ? { path, inode } : undefined;
}

async function release(directory: string, number: number): Promise<void> {
  const path = lockPath(directory, number);
  try {
    const temporary = await writeTemporary(directory, JSON.stringify({ released: true }));
    await rename(temporary, path);
  } catch {
    // The directory was removed, or is full. The end of this process releases the lock too.
  }
}

/** Removes the locks and temporary files of ended processes. The previous lock remains, because another process may just be listing the directory. */
async function removeOldLocks(directory: string, own: number): Promise<void> {
  for (const name of await readdir(directory)) {
    const number = lockNumber(name);
    if (number > 0 && number < own - 1) await removeQuietly(join(directory, name));
  }
  const hasEnded = async (pid: number) => pid !== process.pid && !(await isRunning({ pid }));
  await removeLeftovers(nodeDisk, directory, 'lock', hasEnded);
}

async function writeTemporary(directory: string, content: string): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const path = join(directory, temporaryName('lock', attempt));
    try {
      await writeFile(path, `${content}\n`, { flag: 'wx', mode: 0o600 });
      return path;
    } catch (error) {
      if (errorCode(error) === 'EEXIST') continue;
      throw new DirectoryError(directory, `it cannot be written (${errorCode(error) ?? 'unknown'})`, error);
    }
  }
}

async function highestNumber(directory: string): Promise<number> {
  return (await readdir(directory)).reduce((highest, name) => Math.max(highest, lockNumber(name)), 0);
}

/** Returns the number of a lock file; 0 for any other name. */
function lockNumber(name: string): number {
  return /^lock\.[1-9][0-9]{0,14}$/.test(name) ? Number(name.slice('lock.'.length)) : 0;
}

function lockPath(directory: string, number: number): string {
  return join(directory, `lock.${number}`);
}

async function removeQuietly(path: string): Promise<void> {
  await unlink(path).catch(() => {}); // it is removed already
}
