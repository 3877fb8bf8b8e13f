import type { SecretBox } from '../accounts/secret-box.ts';
import { readArguments } from '../options/flags.ts';
import type { Options } from '../options/options.ts';
import { readLocation } from './accounts/command.ts';
import { commandTable, listArities } from './command-table.ts';
import { CommandError } from './errors.ts';
import type { Command, Terminal } from './terminal.ts';

/** The arguments of a command on all data. */
interface DataArguments {
  readonly options: Options;
  readonly secretBox: SecretBox | undefined;
  readonly environment: NodeJS.ProcessEnv;
  /** The argument that is not an option; empty if the command has none. */
  readonly argument: string;
  /** Returns the value of an option. */
  value(flag: string, fallback: string): string;
  /** Returns whether an option is `true`. Throws CommandError if it is neither `true` nor `false`. */
  isOn(flag: string): boolean;
}

/**
 * Creates a command on a whole data directory, or the whole store of a module.
 *
 * @param usage the error if the command does not have exactly one argument, or if it has one and takes none
 * @param run runs the command, and returns the exit status
 */
export function createDataCommand(
  name: 'backup' | 'restore' | 'export' | 'import',
  { usage, takesArgument }: { readonly usage: string; readonly takesArgument: boolean },
  run: (given: DataArguments, terminal: Terminal) => Promise<number>,
): Command {
  return async (argv, environment, terminal) => {
    const { flags: given, words, faults } = readArguments(argv, listArities(commandTable[name]));
    if (faults.length > 0) throw new CommandError(faults);
    const [argument = '', ...others] = words;
    if (others.length > 0 || (argument !== '') !== takesArgument) throw new CommandError([usage]);
    const { options, secretBox } = readLocation(given, environment);
    return run(
      {
        options,
        secretBox,
        environment,
        argument,
        value: (flag, fallback) => String(given.get(flag) ?? fallback),
        isOn(flag) {
          const value = given.get(flag) ?? 'false';
          if (value === true || value === 'true' || value === 'false') return value !== 'false';
          throw new CommandError([`${flag} must be true or false`]);
        },
      },
      terminal,
    );
  };
}
