import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Options } from '../../options/options.ts';
import {
  type ExposedFile,
  exposedFile,
  type FilePermissionsError,
} from '../../store/files/file-permissions.ts';
import { shellQuote } from '../shell-quote.ts';

/** In a line: what others can get at, and the command that keeps them from it. */
export function exposureLine({ directory, first, several, known }: FilePermissionsError): string {
  const what = `${first.path} is open to others than its owner (mode ${modeOf(first)})`;
  const another = `take a directory for this alone, such as --data ${word(join(directory, 'countersign-data'))}`;
  if (first.foreign !== undefined) return `${what} and belongs to user ${first.foreign}: ${another}`;
  if (first.path === directory && !known)
    return `${what} and has other files in it: ${another}${orClosing(first)}`;
  if (!several) return `${what}; close it: ${closing(first)}`;
  return `${what}, as is more in ${directory}; close it: chmod -R go= ${word(directory)}`;
}

/** A directory in which everybody may make files, such as /tmp, is not to be closed. */
function orClosing(exposed: ExposedFile): string {
  return (exposed.mode & everybodys) === everybodys ? '' : `, or close it: ${closing(exposed)}`;
}

/** A sentence for a configuration file that has secrets of users, clients or consumers and that others can read. */
export function exposedConfiguration({ config, users, clients, consumers }: Options): readonly string[] {
  const registered = [...clients.values(), ...consumers.values()];
  const secret = users.size > 0 || registered.some((each) => each.secret !== undefined);
  if (config === undefined || !secret) return [];
  const stats = statSync(config, { throwIfNoEntry: false });
  const exposed = stats?.isFile() ? exposedFile(config, stats) : undefined;
  if (exposed === undefined || (exposed.mode & anybodyReads) === 0) return [];
  const what = `${config} has secrets in it and can be read by others (mode ${modeOf(exposed)})`;
  return [`${what}; close it: ${closing(exposed)}`];
}

/** Permission for the group or for all others to read. */
const anybodyReads = 0o044;

/** Permission for all to write, and for none to take away what is another's. */
const everybodys = 0o1002;

function closing({ path, directory }: ExposedFile): string {
  return `chmod ${directory ? 700 : 600} ${word(path)}`;
}

function modeOf({ mode }: ExposedFile): string {
  return mode.toString(8).padStart(4, '0');
}

/** A path as a word that is no option, whatever it begins with. */
function word(path: string): string {
  return shellQuote(path.startsWith('-') ? `./${path}` : path);
}
