import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { readArguments } from '../../options/flags.ts';
import { checkPermissions } from '../../store/files/file-permissions.ts';
import { locationOf, printLines } from '../accounts/command.ts';
import { copyDirectory } from '../backup/copy-directory.ts';
import { copyLines } from '../backup/copy-lines.ts';
import { CommandError, reportError } from '../errors.ts';
import type { Terminal } from '../terminal.ts';

const flags = new Map([
  ['--data', 'value'],
  ['--config', 'value'],
] as const);

/**
 * Runs `countersign backup DIR`: copies the data directory, which a server may be using, to a new directory. Returns the
 * exit status.
 */
export async function backup(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  try {
    const { flags: given, words, faults } = readArguments(argv, flags);
    if (faults.length > 0) throw new CommandError(faults);
    const [to, ...others] = words;
    if (to === undefined || to === '' || others.length > 0)
      throw new CommandError(['backup requires one new directory: countersign backup DIR']);
    const { data } = locationOf(given, environment).options;
    if (!existsSync(data)) throw new CommandError([`the data directory ${data} does not exist`], 1);
    checkPermissions(data);
    const notEmpty = 'backup requires a new or empty directory';
    const copy = await copyDirectory({ from: data, to, replace: false, notEmpty });
    printLines(copy.store.reports, terminal.stderr);
    printLines([...copyLines(copy), `written to   ${resolve(to)}`], terminal.stdout);
    return 0;
  } catch (error) {
    return reportError(error, terminal);
  }
}
