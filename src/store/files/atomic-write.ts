import { join } from 'node:path';
import { StoreError } from '../store.ts';
import { type Disk, type DiskFile, errorCode } from './disk.ts';

/** How many characters are gathered before they are written. */
const chunkLength = 65_536;

/** Only the owner reads and writes what is kept. */
export const fileMode = 0o600;

const fullCodes: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** What was being done to a file. */
type Operation = 'open' | 'write' | 'truncate' | 'fsync' | 'close' | 'rename';

/** A file could not be replaced, or written. */
export class AtomicWriteError extends StoreError {
  /**
   * Whether the medium must not be believed again: after a failed fsync the system may have dropped what was
   * not written and report the next one as good.
   */
  readonly final: boolean;

  constructor(path: string, operation: Operation, cause: unknown) {
    const reason = errorCode(cause) ?? 'unknown';
    const full = fullCodes.has(reason) && operation !== 'fsync';
    super(full ? 'full' : 'failed', `${path} could not be written: ${operation} failed (${reason})`, cause);
    this.final = !full && (operation === 'fsync' || operation === 'rename' || reason === 'EIO');
  }
}

/** Parts of text, or of bytes. */
type Content = Iterable<string | Uint8Array>;

/** Which file takes which content. */
export interface AtomicWrite {
  readonly directory: string;
  readonly name: string;
  readonly content: Content;
  /** Whether it is on the medium, not only with the system, when it is done. */
  readonly sync: boolean;
}

/**
 * Puts a file with this content (UTF-8, mode 0600) in the place of the one with this name, which stands whole
 * until the new one is. Throws AtomicWriteError; then what was there before still stands, unless it was the sync
 * of the directory that failed.
 */
export async function replaceFile(
  disk: Disk,
  { directory, name, content, sync }: AtomicWrite,
): Promise<void> {
  const path = join(directory, name);
  const temporary = await createTemporary(disk, directory, name);
  try {
    await fill(temporary.file, content, path, sync);
    await step(path, 'rename', disk.rename(temporary.path, path));
  } catch (error) {
    await disk.unlink(temporary.path).catch(() => {}); // what stays is removed at the next start
    throw error;
  }
  if (sync) await step(path, 'fsync', disk.syncDirectory(directory));
}

/** Makes a file that is on its way to become `name`. Throws AtomicWriteError. */
export async function createTemporary(
  disk: Disk,
  directory: string,
  name: string,
): Promise<{ path: string; file: DiskFile }> {
  for (let attempt = 1; ; attempt += 1) {
    const path = join(directory, temporaryName(name, attempt));
    try {
      return { path, file: await disk.create(path, fileMode) };
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw new AtomicWriteError(join(directory, name), 'open', error);
    }
  }
}

async function fill(file: DiskFile, content: Content, path: string, sync: boolean): Promise<void> {
  try {
    for (const bytes of encode(content)) await writeWhole(file, bytes, path);
    if (sync) await step(path, 'fsync', file.sync());
  } catch (error) {
    await file.close().catch(() => {}); // the first failure is the one to tell
    throw error;
  }
  await step(path, 'close', file.close());
}

/** Writes all of the bytes. Throws AtomicWriteError. */
export async function writeWhole(file: DiskFile, bytes: Uint8Array, path: string): Promise<void> {
  let rest = bytes;
  while (rest.length > 0) {
    const written = await step(path, 'write', file.write(rest));
    if (written <= 0) throw new AtomicWriteError(path, 'write', new Error('nothing was written'));
    rest = rest.subarray(written);
  }
}

function* encode(content: Content): Generator<Uint8Array> {
  let gathered = '';
  for (const part of content) {
    if (typeof part === 'string') gathered += part;
    if (typeof part === 'string' && gathered.length < chunkLength) continue;
    yield Buffer.from(gathered);
    gathered = '';
    if (typeof part !== 'string') yield part;
  }
  yield Buffer.from(gathered);
}

/** Waits for something that is done to a file at `path`. Throws AtomicWriteError when it fails. */
export async function step<T>(path: string, operation: Operation, done: Promise<T>): Promise<T> {
  try {
    return await done;
  } catch (error) {
    throw new AtomicWriteError(path, operation, error);
  }
}

/** The name of a file on its way to become `name`: `NAME.PID-NUMBER.tmp`. */
export function temporaryName(name: string, attempt: number): string {
  return `${name}.${process.pid}-${attempt}.tmp`;
}

/** The id of the process that made this temporary file for `name`; undefined when it is none. */
export function temporaryOwner(name: string, file: string): number | undefined {
  if (!file.startsWith(`${name}.`)) return undefined;
  const match = /^([0-9]{1,10})-[0-9]{1,10}\.tmp$/.exec(file.slice(name.length + 1));
  return match === null ? undefined : Number(match[1]);
}

/** Removes the temporary files for `name` that a crash left; `left` says by the maker's pid which those are. */
export async function removeLeftovers(
  disk: Disk,
  directory: string,
  name: string,
  left: (pid: number) => boolean | Promise<boolean>,
): Promise<void> {
  for (const file of await disk.list(directory)) {
    const owner = temporaryOwner(name, file);
    if (owner === undefined || !(await left(owner))) continue;
    await disk.unlink(join(directory, file)).catch(() => {}); // somebody else was quicker
  }
}
