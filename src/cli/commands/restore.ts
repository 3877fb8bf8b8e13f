import { resolve } from 'node:path';
import { readArguments } from '../../options/flags.ts';
import { locationOf, printLines } from '../accounts/command.ts';
import { copyDirectory } from '../backup/copy-directory.ts';
import { copyLines } from '../backup/copy-lines.ts';
import { CommandError, reportError } from '../errors.ts';
import type { Terminal } from '../terminal.ts';

const flags = new Map([
  ['--data', 'value'],
  ['--config', 'value'],
  ['--replace', 'toggle'],
] as const);

/** Runs `countersign restore DIR`: copies a backup to the data directory. Returns the exit status. */
export async function restore(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  try {
    const { flags: given, words, faults } = readArguments(argv, flags);
    if (faults.length > 0) throw new CommandError(faults);
    const [from, ...others] = words;
    if (from === undefined || from === '' || others.length > 0)
      throw new CommandError(['restore requires the directory of a backup: countersign restore DIR']);
    const replace = given.get('--replace') ?? 'false';
    if (replace !== true && replace !== 'true' && replace !== 'false')
      throw new CommandError(['--replace must be true or false']);
    const { data } = locationOf(given, environment).options;
    const notEmpty = 'to replace its data, use --replace';
    const copy = await copyDirectory({ from, to: data, replace: replace !== 'false', notEmpty });
    printLines(copy.store.reports, terminal.stderr);
    printLines([...copyLines(copy), `restored to  ${resolve(data)}`], terminal.stdout);
    return 0;
  } catch (error) {
    return reportError(error, terminal);
  }
}
