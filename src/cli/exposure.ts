import { join } from 'node:path';
import type { ExposedFile, FilePermissionsError } from '../store/files/file-permissions.ts';
import { shellQuote } from './terminal.ts';

/** Returns one line that describes an exposed file or directory and the command that fixes its permissions. */
export function exposureLine({ directory, first, several, known }: FilePermissionsError): string {
  const what = `${first.path} is accessible to other users (mode ${formatMode(first)})`;
  const another = `use a separate directory, such as --data ${pathWord(join(directory, 'countersign-data'))}`;
  if (first.foreign !== undefined) return `${what} and belongs to user ${first.foreign}: ${another}`;
  if (first.path === directory && !known)
    return `${what} and contains other files: ${another}${formatAlternativeFix(first)}`;
  if (!several) return `${what}; fix: ${chmodCommand(first)}`;
  return `${what}, as are other files in ${directory}; fix: chmod -R go= ${pathWord(directory)}`;
}

/** Returns the chmod command, except for a directory that is shared on purpose, such as /tmp. */
function formatAlternativeFix(exposed: ExposedFile): string {
  return (exposed.mode & sharedDirectory) === sharedDirectory ? '' : `, or: ${chmodCommand(exposed)}`;
}

/** The sticky bit and the write permission of others. */
const sharedDirectory = 0o1002;

/** Returns the command that removes the permissions of other users. */
export function chmodCommand({ path, directory }: ExposedFile): string {
  return `chmod ${directory ? 700 : 600} ${pathWord(path)}`;
}

/** Returns the permission bits in octal digits. */
export function formatMode({ mode }: ExposedFile): string {
  return mode.toString(8).padStart(4, '0');
}

/** Quotes a path for a shell, so that it cannot be mistaken for an option. */
function pathWord(path: string): string {
  return shellQuote(path.startsWith('-') ? `./${path}` : path);
}
