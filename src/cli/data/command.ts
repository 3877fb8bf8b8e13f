import type { SecretBox } from '../../accounts/secret-box.ts';
import type { Options } from '../../options/options.ts';
import { readLocation } from '../accounts/command.ts';
import { type CommandSpec, commandTable, readCommandLine } from '../command-table.ts';
import { CommandError } from '../errors.ts';
import type { Command, Terminal } from '../terminal.ts';

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
 * @param run runs the command, and returns the exit status
 */
export function createDataCommand(
  name: 'backup' | 'restore' | 'export' | 'import',
  run: (given: DataArguments, terminal: Terminal) => Promise<number>,
): Command {
  return async (argv, environment, terminal) => {
    const spec: CommandSpec = commandTable[name];
    const { flags: given, words } = readCommandLine(spec, argv);
    const [argument = '', ...others] = words;
    if (others.length > 0 || (argument !== '') !== (spec.argument !== undefined))
      throw new CommandError([
        spec.argument === undefined
          ? `${name} takes no arguments, only options`
          : `${name} requires ${spec.argument}: countersign ${name} DIR`,
      ]);
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
