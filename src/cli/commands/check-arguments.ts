import { CommandError } from '../errors.ts';

/** The arguments of `countersign check`. */
export interface CheckArguments {
  /** The directory of `--repair`. */
  readonly repairTo: string | undefined;
  /** All other arguments: the options of `serve`. */
  readonly rest: readonly string[];
}

/** Separates `--repair` from the options of `serve`. Throws CommandError. */
export function readCheckArguments(argv: readonly string[]): CheckArguments {
  const rest: string[] = [];
  let repairTo: string | undefined;
  for (let at = 0; at < argv.length; at += 1) {
    const argument = argv[at] ?? '';
    if (argument === '--repair' || argument.startsWith('--repair=')) {
      if (repairTo !== undefined) throw new CommandError(['--repair is given more than once']);
      repairTo = argument === '--repair' ? argv[++at] : argument.slice('--repair='.length);
      if (repairTo === undefined || repairTo === '' || repairTo.startsWith('--'))
        throw new CommandError(['--repair requires a value: the new directory']);
    } else rest.push(argument);
  }
  return { repairTo, rest };
}
