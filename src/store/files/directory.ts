import { access, chmod, constants, mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { errorCode } from './disk.ts';
import { checkPermissions, exposedFile, FilePermissionsError } from './file-permissions.ts';

/** Only the owner reads, writes and enters a data directory. */
const directoryMode = 0o700;

/** A directory cannot be used as the data directory. */
export class DirectoryError extends Error {
  override readonly name = 'DirectoryError';
  readonly code = 'directory';
  /** The path that was asked for. */
  readonly path: string;

  constructor(path: string, reason: string, cause?: unknown) {
    super(`${path} cannot be the data directory: ${reason}`, { cause });
    this.path = path;
  }
}

/**
 * Makes the data directory, with those above it, for its owner alone (mode 0700). One of our own that is there, empty
 * and open to others, is closed. Throws DirectoryError when it is none or cannot be made, read and written,
 * FilePermissionsError when others can get at it or at anything in it.
 */
export async function prepareDirectory(path: string): Promise<void> {
  try {
    await makeDirectory(resolve(path));
    const found = await stat(path);
    if (!found.isDirectory()) throw new DirectoryError(path, 'it is not a directory');
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    checkPermissions(path);
    if (exposedFile(path, found) !== undefined) await chmod(path, directoryMode);
  } catch (error) {
    if (error instanceof DirectoryError || error instanceof FilePermissionsError) throw error;
    throw new DirectoryError(path, reasonOf(error), error);
  }
}

/** Makes the directory and those above it. Not by `recursive`, which never ends where the system makes none, as in /proc. */
async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: directoryMode });
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return;
    if (code !== 'ENOENT' || (await exists(dirname(path)))) throw error;
    await makeDirectory(dirname(path));
    await mkdir(path, { mode: directoryMode });
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function reasonOf(error: unknown): string {
  const code = errorCode(error);
  switch (code) {
    case 'EEXIST':
    case 'ENOTDIR':
      return 'it, or what is above it, is not a directory';
    case 'ENOENT':
      return 'no directory can be made there';
    case 'EACCES':
    case 'EPERM':
      return 'there is no permission to make it or to write in it';
    case 'EROFS':
      return 'the file system is read-only';
    case 'ENOSPC':
    case 'EDQUOT':
      return 'there is no room for it';
    default:
      return `it could not be made (${code ?? 'unknown'})`;
  }
}
