import { join } from 'node:path';
import { StoreError } from '../errors.ts';
import { type Disk, type DiskFile, errorCode } from './disk.ts';

/** The length of parts after which they are synced: one long sync at the end would delay those of other files. */
const lengthPerSync = 8 * 1024 * 1024;

/** The mode of all files: only the owner may read and write them. */
export const fileMode = 0o600;

const fullCodes: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** An operation on a file. */
type Operation = 'open' | 'write' | 'truncate' | 'fsync' | 'close' | 'rename';

/** A file could not be written or replaced. */
export class AtomicWriteError extends StoreError {
  /**
   * Whether the failure is permanent: after a failed fsync, the operating system may discard the unwritten data and
   * report the next fsync as successful.
   */
  readonly final: boolean;

  constructor(path: string, operation: Operation, cause: unknown) {
    const reason = errorCode(cause) ?? 'unknown';
    const full = fullCodes.has(reason) && operation !== 'fsync';
    super(full ? 'full' : 'failed', `${path} could not be written: ${operation} failed (${reason})`, {
      cause,
    });
    this.final = !full && (operation === 'fsync' || operation === 'rename' || reason === 'EIO');
  }
}

/** Parts of a content, as text (written as UTF-8) or bytes. They should be large: each is written at once. */
type Content = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

/** A file and its new content. */
interface AtomicWrite {
  readonly directory: string;
  readonly name: string;
  readonly content: Content;
  /** Whether to wait until the file is on the disk. */
  readonly sync: boolean;
}

/**
 * Replaces a file atomically: writes a temporary file (mode 0600), and renames it. Throws AtomicWriteError. The old file
 * is then unchanged, unless the sync of the directory failed.
 */
export async function replaceFile(disk: Disk, written: AtomicWrite): Promise<void> {
  const { directory, name, sync } = written;
  const path = join(directory, name);
  const temporary = await writeTemporary(disk, written);
  try {
    await step(path, 'rename', disk.rename(temporary, path));
  } catch (error) {
    await discard(disk, temporary);
    throw error;
  }
  if (sync) await step(path, 'fsync', disk.syncDirectory(directory));
}

/** Writes a temporary file (mode 0600), which is to be renamed. Returns its path. Throws AtomicWriteError. */
export async function writeTemporary(
  disk: Disk,
  { directory, name, content, sync }: AtomicWrite,
): Promise<string> {
  const { path, file } = await createTemporary(disk, directory, name);
  try {
    await fill(file, content, join(directory, name), sync);
    return path;
  } catch (error) {
    await discard(disk, path);
    throw error;
  }
}

/** Removes a temporary file. If that fails, the next start removes it. */
export async function discard(disk: Disk, path: string): Promise<void> {
  await disk.unlink(path).catch(() => {});
}

/** Creates a temporary file that will be renamed to `name`. Throws AtomicWriteError. */
export async function createTemporary(disk: Disk, directory: string, name: string): Promise<CreatedFile> {
  try {
    return await createFree(disk, directory, (attempt) => temporaryName(name, attempt));
  } catch (error) {
    throw new AtomicWriteError(join(directory, name), 'open', error);
  }
}

/** A new file, which is open. */
interface CreatedFile {
  readonly path: string;
  readonly file: DiskFile;
}

/** Creates a file with the first name that no file has. `nameOf` returns the name of an attempt, from 1. */
export async function createFree(
  disk: Disk,
  directory: string,
  nameOf: (attempt: number) => string,
): Promise<CreatedFile> {
  for (let attempt = 1; ; attempt += 1) {
    const path = join(directory, nameOf(attempt));
    try {
      return { path, file: await disk.create(path, fileMode) };
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
}

async function fill(file: DiskFile, content: Content, path: string, sync: boolean): Promise<void> {
  try {
    let unsynced = 0;
    for await (const part of content) {
      const bytes = typeof part === 'string' ? Buffer.from(part) : part;
      await writeWhole(file, bytes, path);
      unsynced += bytes.length;
      if (!sync || unsynced < lengthPerSync) continue;
      await step(path, 'fsync', file.syncData());
      unsynced = 0;
    }
    if (sync) await step(path, 'fsync', file.sync());
  } catch (error) {
    await file.close().catch(() => {}); // the first failure is reported
    throw error;
  }
  await step(path, 'close', file.close());
}

/** Writes all bytes. Throws AtomicWriteError. */
export async function writeWhole(file: DiskFile, bytes: Uint8Array, path: string): Promise<void> {
  let rest = bytes;
  while (rest.length > 0) {
    const written = await step(path, 'write', file.write(rest));
    if (written <= 0) throw new AtomicWriteError(path, 'write', new Error('nothing was written'));
    rest = rest.subarray(written);
  }
}

/** Awaits an operation on the file at `path`. Throws AtomicWriteError if it fails. */
export async function step<T>(path: string, operation: Operation, done: Promise<T>): Promise<T> {
  try {
    return await done;
  } catch (error) {
    throw new AtomicWriteError(path, operation, error);
  }
}

/** Returns the name of a temporary file: `NAME.PID-NUMBER.tmp`. */
export function temporaryName(name: string, attempt: number): string {
  return `${name}.${process.pid}-${attempt}.tmp`;
}

/** Returns the id of the process that created a temporary file; undefined if `file` is not a temporary file for `name`. */
function temporaryOwner(name: string, file: string): number | undefined {
  if (!file.startsWith(`${name}.`)) return undefined;
  const match = /^([0-9]{1,10})-[0-9]{1,10}\.tmp$/.exec(file.slice(name.length + 1));
  return match === null ? undefined : Number(match[1]);
}

/**
 * Removes the temporary files for `name` that remain after a crash.
 * @param isLeftover returns whether the process with this id has ended
 */
export async function removeLeftovers(
  disk: Disk,
  directory: string,
  name: string,
  isLeftover: (pid: number) => boolean | Promise<boolean>,
): Promise<void> {
  for (const file of await disk.list(directory)) {
    const owner = temporaryOwner(name, file);
    if (owner === undefined || !(await isLeftover(owner))) continue;
    await disk.unlink(join(directory, file)).catch(() => {}); // another process removed it
  }
}
