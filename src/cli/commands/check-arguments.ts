import { CommandError } from '../errors.ts';

/** What `countersign check` is asked to do, and the arguments that say where. */
export interface CheckArguments {
  /** Where --repair writes to. */
  readonly repairTo: string | undefined;
  /** The options, as serve has them. */
  readonly rest: readonly string[];
}

/** Reads the flag that `check` has of its own. Throws Refusal. */
export function readCheckArguments(argv: readonly string[]): CheckArguments {
  const rest: string[] = [];
  let repairTo: string | undefined;
  for (let at = 0; at < argv.length; at += 1) {
    const argument = argv[at] ?? '';
    if (argument === '--repair' || argument.startsWith('--repair=')) {
      if (repairTo !== undefined) throw new CommandError(['--repair is given twice']);
      repairTo = argument === '--repair' ? argv[++at] : argument.slice('--repair='.length);
      if (repairTo === undefined || repairTo === '' || repairTo.startsWith('--'))
        throw new CommandError(['--repair needs a value: the new directory']);
    } else rest.push(argument);
  }
  return { repairTo, rest };
}
