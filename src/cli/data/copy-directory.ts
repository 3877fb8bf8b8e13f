import { existsSync, realpathSync } from 'node:fs';
import { chown, lstat, mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { revocationFile } from '../../accounts/revocations.ts';
import { systemClock } from '../../clock.ts';
import { removeLeftovers, replaceFile } from '../../store/files/atomic-write.ts';
import {
  incompleteCopyName,
  kindOf,
  preparedCopyName,
  snapshotName,
  tlsDirectory,
} from '../../store/files/data-files.ts';
import { prepareDirectory, rejectIncompleteCopy } from '../../store/files/directory.ts';
import { errorCode, nodeDisk } from '../../store/files/disk.ts';
import { findHolder, whileLocked } from '../../store/files/lock.ts';
import { type OnProgress, type Scanned, scan } from '../../store/scan.ts';
import { writeStore } from '../../store/snapshot/writer.ts';
import { createStoreId } from '../../store/store-id.ts';
import { CommandError, listMessages } from '../errors.ts';
import { filesAfterStore, isReplacedFile, revocationsName } from './files.ts';

/** The options of a copy of a data directory. */
export interface DirectoryCopyOptions {
  /** The path of a data directory, which a server may be using. */
  readonly from: string;
  /** The path of a directory that does not exist or is empty, unless `replace` is set. */
  readonly to: string;
  /** Whether data in `to` is replaced. Default: false. */
  readonly replace?: boolean;
  /** What the user can do if `to` is not empty. */
  readonly notEmpty: string;
  /**
   * Skips damaged data: changes what was read before it is written, and adds files to the new directory. Returns warnings. No process
   * may use `from` then. Default: damaged data is rejected.
   */
  readonly repair?: ((scanned: Scanned, prepared: string) => Promise<readonly string[]>) | undefined;
  /** Called while the store is read. Default: nothing. */
  readonly onProgress?: OnProgress | undefined;
}

/** A copy of a data directory. */
interface DirectoryCopy {
  /** The content of the copied store. */
  readonly store: Scanned;
  /** The names of the other files that were copied, in order. */
  readonly files: readonly string[];
  /** What could not be kept, one sentence each. */
  readonly warnings: readonly string[];
}

/** Returns whether a directory can have a file before anything was copied into it: a lock, or a copy that was being prepared. */
function isOwnFile(name: string): boolean {
  const kind = kindOf(name);
  return kind === 'lock' || (kind === 'copy' && name !== incompleteCopyName);
}

/**
 * Copies a data directory to another one, completely or not at all: the copy is prepared and verified in a subdirectory,
 * and then moved into the directory. If that is interrupted, a file remains because of which no server starts; the copy can
 * be repeated. Directories get the mode 0700, files 0600. A root process gives the files to the owner of the directory.
 *
 * @throws CommandError if a directory is not suitable; LockedError, CorruptionError, DirectoryError or StoreError
 */
export async function copyDirectory(options: DirectoryCopyOptions): Promise<DirectoryCopy> {
  const { from, to } = options;
  await checkSource(from);
  checkSeparate(from, to);
  if (options.repair !== undefined) await checkStopped(from);
  await checkTarget(options);
  const isNew = !existsSync(to);
  await prepareDirectory(to);
  let done = false;
  try {
    return await whileLocked(to, async () => {
      await checkTarget(options);
      // The process that created them held the lock then, so it has ended.
      await removeLeftovers(nodeDisk, to, incompleteCopyName, () => true);
      const prepared = join(to, preparedCopyName);
      const copy = await prepareCopy(options, prepared);
      const kept = await keepRevocations(to, prepared);
      await installCopy(to);
      done = true;
      return { ...copy, warnings: [...copy.warnings, ...kept] };
    });
  } finally {
    await giveToOwner(to);
    if (!done && isNew) await removeEmpty(to);
  }
}

/** Removes a directory that contains nothing but lock files. */
async function removeEmpty(directory: string): Promise<void> {
  const names = await readdir(directory);
  if (!names.every(isOwnFile)) return;
  for (const name of names) await rm(join(directory, name), { recursive: true, force: true });
  await rmdir(directory);
}

/** Throws CommandError if a path is not a data directory with a store, DirectoryError if it is an interrupted copy. */
async function checkSource(from: string): Promise<void> {
  const names = await readdir(from).catch((error) => {
    const reason = errorCode(error) === 'ENOENT' ? 'does not exist' : `cannot be read (${errorCode(error)})`;
    throw new CommandError([`${from} ${reason}`], 1);
  });
  rejectIncompleteCopy(from, names);
  if (names.some((name) => kindOf(name) === 'store')) return;
  throw new CommandError([`${from} is not a data directory: it has no ${snapshotName} and no journal`], 1);
}

/** Throws CommandError if a process uses the directory. */
export async function checkStopped(directory: string): Promise<void> {
  const holder = await findHolder(directory);
  if (holder !== undefined)
    throw new CommandError([`${directory} is in use by process ${holder.pid}; stop it first`], 1);
}

/** Throws CommandError if one of the directories is, or is in, the other one. */
function checkSeparate(from: string, to: string): void {
  const [source, target] = [realPath(from), realPath(to)];
  if (`${source}${sep}`.startsWith(`${target}${sep}`) || `${target}${sep}`.startsWith(`${source}${sep}`))
    throw new CommandError([`${to} must not be ${from}, in it, or a directory that contains it`]);
}

/** Returns the path without symbolic links. A part of it that does not exist stays as it is. */
function realPath(path: string): string {
  const absolute = resolve(path);
  if (existsSync(absolute)) return realpathSync(absolute);
  const parent = dirname(absolute);
  return parent === absolute ? absolute : join(realPath(parent), absolute.slice(parent.length));
}

/** Throws CommandError if the target has data that may not be replaced. */
async function checkTarget({ to, replace = false, notEmpty }: DirectoryCopyOptions): Promise<void> {
  const names = await readdir(to).catch((): string[] => []);
  if (replace || names.includes(incompleteCopyName)) return;
  if (names.every(isOwnFile)) return;
  throw new CommandError([`${to} is not empty; ${notEmpty}`], 1);
}

/** Writes all that the directory has to a new directory. */
async function prepareCopy(
  { from, repair, onProgress }: DirectoryCopyOptions,
  to: string,
): Promise<DirectoryCopy> {
  await rm(to, { recursive: true, force: true });
  await mkdir(to, { mode: 0o700 });
  try {
    const files: string[] = [];
    // Before the store: a revocation that is no longer in this file was carried out, so it is in the store then.
    if (await copyFile(from, to, revocationsName)) files.push(revocationsName);
    const corrupt = repair === undefined ? 'reject' : 'skip';
    const store = await scan({ directory: from, isShared: true, corrupt, onProgress });
    for (const name of filesAfterStore) if (await copyFile(from, to, name)) files.push(name);
    if (await copyTls(join(from, tlsDirectory), join(to, tlsDirectory))) files.push(tlsDirectory);
    const warnings = (await repair?.(store, to)) ?? [];
    const { storeId = createStoreId(), state, sequence } = store;
    const generation = Math.max(1, store.generation);
    await writeStore(to, { storeId, state, generation, sequence, now: systemClock.now() });
    return { store, files, warnings };
  } catch (error) {
    await rm(to, { recursive: true, force: true });
    throw error;
  }
}

/** Copies a file, which is replaced but never changed. Returns whether it exists. */
async function copyFile(from: string, to: string, name: string): Promise<boolean> {
  const content = await nodeDisk.read(join(from, name));
  if (content === undefined) return false;
  await replaceFile(nodeDisk, { directory: to, name, content: [content], sync: true });
  return true;
}

/**
 * Adds the revocations that were requested in the directory, and not carried out yet, to those of the copy that replaces its
 * data. Returns what could not be read.
 */
async function keepRevocations(directory: string, prepared: string): Promise<readonly string[]> {
  try {
    const { entries } = await revocationFile.read(directory);
    if (entries.size === 0) return [];
    const copied = await revocationFile.read(prepared);
    await revocationFile.write(prepared, new Map([...copied.entries, ...entries]));
    return [];
  } catch (error) {
    return listMessages(error).map((message) => `requested revocations are lost: ${message}`);
  }
}

/** Copies the certificate and its key. Returns whether there are any. */
async function copyTls(from: string, to: string): Promise<boolean> {
  const names = await readdir(from).catch(() => []);
  const pems = names.filter((name) => name.endsWith('.pem'));
  if (pems.length === 0) return false;
  await mkdir(to, { mode: 0o700 });
  for (const name of pems) await copyFile(from, to, name);
  return true;
}

/**
 * Replaces the data of a directory by the prepared copy. While this runs, the directory has a file because of which no server
 * starts.
 */
async function installCopy(directory: string): Promise<void> {
  const prepared = join(directory, preparedCopyName);
  const content = ['The copy of data into this directory is not complete.\n'];
  await replaceFile(nodeDisk, { directory, name: incompleteCopyName, content, sync: true });
  for (const name of await readdir(directory))
    if (isReplacedFile(name)) await rm(join(directory, name), { recursive: true });
  for (const name of await readdir(prepared)) await rename(join(prepared, name), join(directory, name));
  await rmdir(prepared);
  await nodeDisk.syncDirectory(directory);
  await nodeDisk.unlink(join(directory, incompleteCopyName));
  await nodeDisk.syncDirectory(directory);
}

/** If this process runs as root, gives all files in a directory of another user to that user, so that a server can read them. */
async function giveToOwner(directory: string): Promise<void> {
  const { uid, gid } = await stat(directory);
  if (process.geteuid?.() !== 0 || uid === 0) return;
  for (const path of await ownedPaths(directory)) await chown(path, uid, gid);
}

/** Returns the paths of the files and directories that a copy consists of. Symbolic links are omitted. */
async function ownedPaths(directory: string): Promise<readonly string[]> {
  const names = (await readdir(directory)).filter((name) => kindOf(name) !== undefined);
  const tops = names.map((name) => join(directory, name));
  const tls = join(directory, tlsDirectory);
  const inner = (await readdir(tls).catch(() => [])).map((name) => join(tls, name));
  const paths: string[] = [];
  for (const path of [...tops, ...inner]) if (!(await lstat(path)).isSymbolicLink()) paths.push(path);
  return paths;
}
