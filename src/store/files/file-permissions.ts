import { type Dirent, readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../errors.ts';
import { kindOf } from './data-files.ts';
import { errorCode } from './error-code.ts';

/** The permission bits of the group and of all other users. */
const othersMask = 0o077;

/** A file or directory that other users than its owner can access. */
export interface ExposedFile {
  readonly path: string;
  /** Whether it is a directory. */
  readonly directory: boolean;
  /** The permission bits, such as `0o755`. */
  readonly mode: number;
  /** The id of the owner, if it is another user, so that this process cannot change the mode. */
  readonly foreign: number | undefined;
}

/** A StoreError `exposed`: other users can access a data directory, or a file in it. */
export class FilePermissionsError extends StoreError {
  /** The directory itself, or the first such file in it. */
  readonly first: ExposedFile;
  /** The data directory. */
  readonly directory: string;
  /** Whether there are more than the first one. */
  readonly several: boolean;
  /** Whether the directory contains data of a server. */
  readonly known: boolean;

  constructor(directory: string, first: ExposedFile, found: { several: boolean; known: boolean }) {
    const mode = first.mode.toString(8).padStart(4, '0');
    super(
      'exposed',
      `${first.path} is accessible to other users (mode ${mode}); remove their permissions, as with chmod go=`,
    );
    this.directory = directory;
    this.first = first;
    this.several = found.several;
    this.known = found.known;
  }
}

/**
 * Checks that no other user can access a data directory or a file in it, and that root follows no symbolic link of another
 * user there. Throws FilePermissionsError if one can, StoreError `directory` for such a link, and the
 * system error if a directory cannot be read. An empty directory of this user is accepted, because it has no secrets
 * yet. On Windows, nothing is checked.
 *
 * The files are checked even if the directory is closed to others: a chmod, a copy or a backup could expose them. These are
 * about ten synchronous calls of a few microseconds each.
 */
export function checkPermissions(directory: string): void {
  if (process.platform === 'win32') return;
  const stats = statSync(directory);
  rejectPlantedLinks(directory, stats);
  const own = findExposedFile(directory, stats);
  const names = readdirSync(directory);
  if (own !== undefined && own.foreign === undefined && names.length === 0) return;
  const [first, ...more] =
    own === undefined ? listExposedWithin(directory) : [own, ...listExposedWithin(directory)];
  if (first === undefined) return;
  const known = names.map(kindOf).some((kind) => kind === 'store' || kind === 'accounts' || kind === 'lock');
  throw new FilePermissionsError(directory, first, { several: more.length > 0, known });
}

/**
 * Throws StoreError if a root process would follow a symbolic link that the owner of the directory, another user, can have
 * planted to have a file of root read or replaced. The kernel protects the files of all other users by their permissions.
 */
function rejectPlantedLinks(directory: string, { uid }: Stats): void {
  if (process.geteuid?.() !== 0 || uid === 0) return;
  const link = findLink(directory);
  if (link === undefined) return;
  const reason = 'is a symbolic link in a data directory of another user, which root does not follow';
  throw new StoreError('directory', `${link} ${reason}; remove it, or run as the owner of the directory`);
}

/** Returns the path of the first symbolic link in a directory; undefined if there is none. */
function findLink(directory: string): string | undefined {
  for (const entry of listEntries(directory)) {
    const path = join(directory, entry.name);
    if (entry.isSymbolicLink()) return path;
    const within = entry.isDirectory() ? findLink(path) : undefined;
    if (within !== undefined) return within;
  }
  return undefined;
}

/** Returns a file if other users can access it; otherwise undefined. */
export function findExposedFile(path: string, stats: Stats): ExposedFile | undefined {
  if (process.platform === 'win32' || (stats.mode & othersMask) === 0) return undefined;
  const user = process.geteuid?.() ?? 0;
  const foreign = user === 0 || user === stats.uid ? undefined : stats.uid;
  return { path, directory: stats.isDirectory(), mode: stats.mode & 0o7777, foreign };
}

/** Returns the exposed files in a directory; the search of each directory stops after two. */
function listExposedWithin(directory: string): ExposedFile[] {
  const found: ExposedFile[] = [];
  for (const entry of listEntries(directory)) {
    if (found.length >= 2) break;
    const path = join(directory, entry.name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) continue; // a temporary file that was removed, or a broken link
    const exposed = findExposedFile(path, stats);
    if (exposed !== undefined) found.push(exposed);
    // Links to directories are not followed.
    if (stats.isDirectory() && !entry.isSymbolicLink()) found.push(...listExposedWithin(path));
  }
  return found;
}

function listEntries(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    // A directory of another user, such as lost+found: it contains no file of this program.
    if (errorCode(error) === 'EACCES') return [];
    throw error;
  }
}
