// The owner of a data directory, files that only the owner may read, and files with public keys.
import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { errorCode } from '../../store/files/disk.ts';
import { FilePermissionsError, findExposedFile } from '../../store/files/file-permissions.ts';
import { CommandError } from '../errors.ts';

/**
 * Reads a file that only its owner may access, but at most `mostBytes`, because a device or pipe may have no end.
 *
 * @param what names the file in messages: `the key file`
 * @returns the octets as characters
 * @throws FilePermissionsError if other users can access the file, CommandError if it cannot be read
 */
export function readProtectedFile(path: string, what: string, maxBytes: number): string {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const stats = fstatSync(file);
    const exposed = stats.isFile() ? findExposedFile(path, stats) : undefined;
    if (exposed !== undefined) throw new FilePermissionsError(path, exposed, { several: false, known: true });
    return readText(file, maxBytes);
  } catch (error) {
    if (error instanceof FilePermissionsError) throw error;
    throw new CommandError([`${what} ${path} cannot be read (${errorCode(error) ?? 'unknown'})`], 1);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function readText(file: number, maxBytes: number): string {
  const bytes = Buffer.alloc(maxBytes);
  let length = 0;
  while (length < maxBytes) {
    const read = readSync(file, bytes, length, maxBytes - length, null);
    if (read === 0) break;
    length += read;
  }
  return bytes.toString('latin1', 0, length);
}

/** Returns the content of a file with a public key, without white space around it. Throws CommandError if it cannot be read. */
export function readKeyFile(path: string): string {
  try {
    return readFileSync(path, 'latin1').trim();
  } catch (error) {
    throw new CommandError([`${path} cannot be read (${errorCode(error) ?? 'unknown'})`], 1);
  }
}

/**
 * Changes the effective user of a root process to the owner of a directory, so that a server that runs as the owner can
 * read the files that the command creates. Does nothing for other users.
 */
export function actAsOwner(directory: string): void {
  const { geteuid, setegid, seteuid } = process;
  if (geteuid?.() !== 0 || setegid === undefined || seteuid === undefined) return;
  const owner = statSync(directory, { throwIfNoEntry: false });
  if (owner === undefined || owner.uid === 0) return;
  try {
    setegid(owner.gid);
    seteuid(owner.uid);
  } catch {
    // In a container, the owner may not be mapped to a user. The files then belong to root.
  }
}
