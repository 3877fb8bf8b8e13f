import { link, readdir, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { removeLeftovers, temporaryName } from './atomic-write.ts';
import { DirectoryError } from './directory.ts';
import { errorCode, nodeDisk } from './disk.ts';
import { isRunning, ownProcess, type ProcessIdentity } from './process-liveness.ts';

/** Another process, or this one, has the directory. */
export class LockedError extends Error {
  override readonly name = 'LockedError';
  readonly code = 'locked';
  readonly directory: string;
  /** The id of the process that has it. */
  readonly pid: number;

  constructor(directory: string, pid: number) {
    super(`${directory} is in use by process ${pid}`);
    this.directory = directory;
    this.pid = pid;
  }
}

/** A directory that is this process's own. */
export interface DirectoryLock {
  /** Lets others have the directory. */
  release(): Promise<void>;
}

/**
 * Takes a directory for this process alone. What a process left that ended without release is taken over, by
 * one of those who try at once. Throws LockedError when a running process has it, DirectoryError when the
 * file system cannot keep a lock.
 *
 * The lock is the file `lock.N` with the highest N, and says who made it. Numbers only go up: a taker links a
 * finished file to the next number, which one alone can do, and a release overwrites the file in place, so no
 * number that somebody still has in mind is ever free again.
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const temporary = await writeTemporary(directory, JSON.stringify(await ownProcess()));
  try {
    const number = await take(directory, temporary);
    await clean(directory, number);
    return { release: () => release(directory, number) };
  } finally {
    await removeQuietly(temporary);
  }
}

/** The running process that has the directory; undefined when none has. Changes nothing. */
export async function holderOf(directory: string): Promise<ProcessIdentity | undefined> {
  return runningHolder(directory, await highestNumber(directory));
}

/** The running process that made the lock of this number; 0 is no lock. */
async function runningHolder(directory: string, number: number): Promise<ProcessIdentity | undefined> {
  const holder = number === 0 ? undefined : await readHolder(lockPath(directory, number));
  return holder !== undefined && (await isRunning(holder)) ? holder : undefined;
}

async function take(directory: string, temporary: string): Promise<number> {
  for (;;) {
    const highest = await highestNumber(directory);
    const holder = await runningHolder(directory, highest);
    if (holder !== undefined) throw new LockedError(directory, holder.pid);
    const number = highest + 1;
    if (!(await linked(directory, temporary, number))) continue;
    if ((await highestNumber(directory)) === number) return number;
    // Others went past this number, and cleaned it away, since the first look.
    await removeQuietly(lockPath(directory, number));
  }
}

/** Whether the number was free and is now ours. */
async function linked(directory: string, temporary: string, number: number): Promise<boolean> {
  try {
    await link(temporary, lockPath(directory, number));
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw new DirectoryError(directory, `its lock cannot be made (${errorCode(error) ?? 'unknown'})`, error);
  }
}

/** Who has the lock of this file; undefined when it was released, or is no lock that a running process made. */
async function readHolder(path: string): Promise<ProcessIdentity | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (typeof value !== 'object' || value === null || !('pid' in value)) return undefined;
    if (typeof value.pid !== 'number') return undefined;
    const started = 'started' in value && typeof value.started === 'string' ? value.started : undefined;
    return started === undefined ? { pid: value.pid } : { pid: value.pid, started };
  } catch (error) {
    // A lock is linked when it is whole: what is not JSON was torn by a loss of power.
    if (errorCode(error) === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw new DirectoryError(path, `the lock cannot be read (${errorCode(error) ?? 'unknown'})`, error);
  }
}

async function release(directory: string, number: number): Promise<void> {
  const path = lockPath(directory, number);
  try {
    const temporary = await writeTemporary(directory, JSON.stringify({ released: true }));
    await rename(temporary, path);
  } catch {
    // The directory is gone, or full: the end of this process releases it as well.
  }
}

/** Removes what others left. The one before stays, for those who list the directory in this moment. */
async function clean(directory: string, own: number): Promise<void> {
  for (const name of await readdir(directory)) {
    const number = lockNumber(name);
    if (number > 0 && number < own - 1) await removeQuietly(join(directory, name));
  }
  const ended = async (pid: number) => pid !== process.pid && !(await isRunning({ pid }));
  await removeLeftovers(nodeDisk, directory, 'lock', ended);
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

/** The number of a lock file; 0 for any other name. */
function lockNumber(name: string): number {
  return /^lock\.[1-9][0-9]{0,14}$/.test(name) ? Number(name.slice('lock.'.length)) : 0;
}

function lockPath(directory: string, number: number): string {
  return join(directory, `lock.${number}`);
}

async function removeQuietly(path: string): Promise<void> {
  await unlink(path).catch(() => {}); // gone already
}
