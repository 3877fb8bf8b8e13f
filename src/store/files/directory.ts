import { access, chmod, constants, mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { StoreError } from '../errors.ts';
import { incompleteCopyName } from './data-files.ts';
import { errorCode } from './disk.ts';
import { checkPermissions, findExposedFile } from './file-permissions.ts';

/** The mode of a data directory: only the owner may read, write and enter it. */
const directoryMode = 0o700;

/** A StoreError `directory`: a directory cannot be used as the data directory. */
export class DirectoryError extends StoreError {
  /** The path of the directory. */
  readonly path: string;

  constructor(path: string, reason: string, cause?: unknown) {
    super('directory', `${path} cannot be the data directory: ${reason}`, { cause });
    this.path = path;
  }
}

/**
 * Creates the data directory and its parents with mode 0700. An existing empty directory of this user gets this mode.
 * Throws DirectoryError if it is not a directory, or cannot be created, read or written; FilePermissionsError if other
 * users can access it or a file in it.
 */
export async function prepareDirectory(path: string): Promise<void> {
  try {
    await makeDirectory(resolve(path));
    const found = await stat(path);
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    checkPermissions(path);
    if (findExposedFile(path, found) !== undefined) await chmod(path, directoryMode);
  } catch (error) {
    if (error instanceof StoreError) throw error;
    throw new DirectoryError(path, describeReason(error), error);
  }
}

/** Creates a directory and its parents. The option `recursive` of mkdir does not return in /proc, where none can be created. */
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

function describeReason(error: unknown): string {
  const code = errorCode(error);
  switch (code) {
    case 'EEXIST':
    case 'ENOTDIR':
      return 'it or one of its parents is not a directory';
    case 'ENOENT':
      return 'no directory can be created there';
    case 'EACCES':
    case 'EPERM':
      return 'there is no permission to create it or to write in it';
    case 'EROFS':
      return 'the file system is read-only';
    case 'ENOSPC':
    case 'EDQUOT':
      return 'there is no space for it';
    default:
      return `it could not be created (${code ?? 'unknown'})`;
  }
}

/** Throws DirectoryError if a copy into the directory was interrupted, so that it contains a part of the files only. */
export function rejectIncompleteCopy(directory: string, names: readonly string[]): void {
  if (!names.includes(incompleteCopyName)) return;
  throw new DirectoryError(
    directory,
    'a backup or restore into it was interrupted; repeat it, or remove the directory',
  );
}
