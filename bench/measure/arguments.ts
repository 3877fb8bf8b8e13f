import { parseArgs } from 'node:util';

/** What is asked for on the command line. */
export interface Wish {
  /** Parts of names; none is everything. */
  readonly names: readonly string[];
  readonly rounds: number | undefined;
  readonly full: boolean;
  /** A commit that the working tree is compared with. */
  readonly against: string | undefined;
  /** Whether the page and its charts are written anew from the latest results, and nothing is measured. */
  readonly publish: boolean;
  readonly list: boolean;
}

/** What is wrong with a command line. */
export class ArgumentError extends Error {}

/** How the command is used. */
export const usage = `npm run bench -- [NAME…] [--rounds N] [--full]
npm run bench -- [NAME…] [--rounds N] --against REF
npm run bench -- --publish
npm run bench -- --list

NAME         the benchmarks whose name has this in it; all when left out
--rounds N   rounds that count, at least 5
--full       the long form: larger sizes, longer rounds
--against    compares the working tree with a commit, and says what moved beyond the noise
--publish    measures nothing: writes bench/README.md and bench/charts anew from the latest results
--list       names the benchmarks`;

/** The fewest rounds: with fewer a median says little. */
export const leastRounds = 5;

/** Reads the command line. Throws ArgumentError. */
export function readArguments(args: readonly string[]): Wish {
  const { values, positionals } = parsed(args);
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds >= leastRounds)) {
    throw new ArgumentError(`--rounds takes a whole number from ${leastRounds} on, not ${values.rounds}`);
  }
  if (values.against === '' || values.against?.startsWith('-')) {
    throw new ArgumentError('--against takes a commit');
  }
  if (values.publish && (values.against !== undefined || positionals.length > 0)) {
    throw new ArgumentError('--publish stands alone: it measures nothing');
  }
  const { full, against, publish, list } = values;
  return { names: positionals, rounds, full, against, publish, list };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        rounds: { type: 'string' },
        full: { type: 'boolean', default: false },
        against: { type: 'string' },
        publish: { type: 'boolean', default: false },
        list: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new ArgumentError(error instanceof Error ? error.message : String(error));
  }
}
