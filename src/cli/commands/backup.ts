import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Arity, readArguments } from '../../options/flags.ts';
import { checkPermissions } from '../../store/files/file-permissions.ts';
import { readLocation } from '../accounts/command.ts';
import { copyDirectory, type DirectoryCopy, type DirectoryCopyOptions } from '../copy-directory.ts';
import { CommandError, reportError } from '../errors.ts';
import { collectionName } from '../serve/stored-tokens.ts';
import { printLines, type Terminal } from '../terminal.ts';

const backupCommand: CopyCommand = {
  flags: {},
  usage: 'backup requires one new directory: countersign backup DIR',
  done: 'written to',
  plan(to, data) {
    if (!existsSync(data)) throw new CommandError([`the data directory ${data} does not exist`], 1);
    checkPermissions(data);
    return { from: data, to, replace: false, notEmpty: 'backup requires a new or empty directory' };
  },
};

/**
 * Runs `countersign backup DIR`: copies the data directory, which a server may be using, to a new directory. Returns the
 * exit status.
 */
export function backup(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  return runCopyCommand(backupCommand, argv, environment, terminal);
}

const restoreCommand: CopyCommand = {
  flags: { '--replace': 'toggle' },
  usage: 'restore requires the directory of a backup: countersign restore DIR',
  done: 'restored to',
  plan(from, data, given) {
    const replace = given.get('--replace') ?? 'false';
    if (replace !== true && replace !== 'true' && replace !== 'false')
      throw new CommandError(['--replace must be true or false']);
    return { from, to: data, replace: replace !== 'false', notEmpty: 'to replace its data, use --replace' };
  },
};

/** Runs `countersign restore DIR`: copies a backup to the data directory. Returns the exit status. */
export function restore(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  return runCopyCommand(restoreCommand, argv, environment, terminal);
}

/** A command that copies a data directory. */
interface CopyCommand {
  /** The flags besides `--data` and `--config`. */
  readonly flags: Readonly<Record<string, Arity>>;
  /** The error if the command does not have exactly one argument. */
  readonly usage: string;
  /** The label of the line with the path of the copy. */
  readonly done: string;
  /**
   * Returns the copy to make.
   *
   * @param argument the path that is the argument of the command
   * @param data the path of the data directory
   * @throws CommandError
   */
  plan(argument: string, data: string, given: ReadonlyMap<string, string | true>): DirectoryCopyOptions;
}

/** Runs a command that copies a data directory, and prints what was copied. Returns the exit status. */
async function runCopyCommand(
  { flags, usage, done, plan }: CopyCommand,
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  { stdout, stderr }: Pick<Terminal, 'stdout' | 'stderr'>,
): Promise<number> {
  try {
    const known = new Map<string, Arity>([
      ['--data', 'value'],
      ['--config', 'value'],
      ...Object.entries(flags),
    ]);
    const { flags: given, words, faults } = readArguments(argv, known);
    if (faults.length > 0) throw new CommandError(faults);
    const [argument, ...others] = words;
    if (argument === undefined || argument === '' || others.length > 0) throw new CommandError([usage]);
    const planned = plan(argument, readLocation(given, environment).options.data, given);
    const copy = await copyDirectory(planned);
    printLines([...copy.store.reports, ...copy.warnings], stderr);
    printLines([...copiedLines(copy), `${done.padEnd(12)} ${resolve(planned.to)}`], stdout);
    return 0;
  } catch (error) {
    return reportError(error, { stderr });
  }
}

/** Returns the lines that describe a copy of a data directory: its collections and its other files. */
function copiedLines({ store, files }: DirectoryCopy): readonly string[] {
  const collections = [...store.state.collections()];
  return [
    ...collections.map(({ path, count }) => `copied       ${collectionName(path)}: ${count}`),
    ...(files.length === 0 ? [] : [`copied       ${files.join(', ')}`]),
  ];
}
