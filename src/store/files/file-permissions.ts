import { type Dirent, readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from './error-code.ts';

/** The permissions of everybody but the owner: the group's and those of all others. */
const ofOthers = 0o077;

/** Something that others than its owner can read, write or enter. */
export interface ExposedFile {
  readonly path: string;
  readonly directory: boolean;
  /** The permission bits, such as `0o755`. */
  readonly mode: number;
  /** The owner's id, where it is somebody else's and this process may not change the mode. */
  readonly foreign: number | undefined;
}

/** Others can get at what is kept for its owner alone. */
export class FilePermissionsError extends Error {
  override readonly name = 'FilePermissionsError';
  readonly code = 'exposed';
  /** The directory itself, or the first thing in it. */
  readonly first: ExposedFile;
  /** The directory that it was looked for in. */
  readonly directory: string;
  /** Whether there is more than the first. */
  readonly several: boolean;
  /** Whether a server, or a user command, was there before. */
  readonly known: boolean;

  constructor(directory: string, first: ExposedFile, found: { several: boolean; known: boolean }) {
    super(`${first.path} is open to others`);
    this.directory = directory;
    this.first = first;
    this.several = found.several;
    this.known = found.known;
  }
}

/**
 * Sees to it that nobody but its owner can get at a data directory or at anything in it; throws FilePermissionsError
 * otherwise. One of our own that is empty passes: nothing is known from it yet. What the system says of a directory
 * that cannot be read is thrown. Where modes mean nothing (Windows) there is nothing to see.
 *
 * Files are looked at in a closed directory too: they are opened to others by the next chmod, copy or backup. All of
 * it is some ten calls of a few microseconds, so they do not wait for each other.
 */
export function checkPermissions(directory: string): void {
  if (process.platform === 'win32') return;
  const own = exposedFile(directory, statSync(directory));
  const names = readdirSync(directory);
  if (own !== undefined && own.foreign === undefined && names.length === 0) return;
  const [first, ...more] = own === undefined ? exposedWithin(directory) : [own, ...exposedWithin(directory)];
  if (first === undefined) return;
  const known = names.some((name) => /^(store\.json|users\.json|lock\.[0-9]+)$/.test(name));
  throw new FilePermissionsError(directory, first, { several: more.length > 0, known });
}

/** What others can do with a file of these properties, unless that is nothing. */
export function exposedFile(path: string, stats: Stats): ExposedFile | undefined {
  if (process.platform === 'win32' || (stats.mode & ofOthers) === 0) return undefined;
  const user = process.geteuid?.() ?? 0;
  const foreign = user === 0 || user === stats.uid ? undefined : stats.uid;
  return { path, directory: stats.isDirectory(), mode: stats.mode & 0o7777, foreign };
}

/** What others can get at in a directory; no more than the first two of each part of it. */
function exposedWithin(directory: string): ExposedFile[] {
  const found: ExposedFile[] = [];
  for (const entry of entriesOf(directory)) {
    if (found.length >= 2) break;
    const path = join(directory, entry.name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) continue; // gone meanwhile, as temporary files are, or a link to nowhere
    const exposed = exposedFile(path, stats);
    if (exposed !== undefined) found.push(exposed);
    // A directory that a link leads to is somewhere else.
    if (stats.isDirectory() && !entry.isSymbolicLink()) found.push(...exposedWithin(path));
  }
  return found;
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    // Somebody else's, such as the lost+found of a volume: nothing of ours can be in there.
    if (errorCode(error) === 'EACCES') return [];
    throw error;
  }
}
