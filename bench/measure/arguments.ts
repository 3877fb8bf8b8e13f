import { parseArgs } from 'node:util';

/** The parsed command line. */
export interface Wish {
  /** Parts of the names of benchmarks; empty for all. */
  readonly names: readonly string[];
  readonly rounds: number | undefined;
  readonly full: boolean;
  /** The commit to compare the working tree with. */
  readonly against: string | undefined;
  /** Whether to rewrite the page and its charts from the latest results, without measuring. */
  readonly publish: boolean;
  readonly list: boolean;
  readonly help: boolean;
}

/** An error in the command line. */
export class ArgumentError extends Error {}

/** The text of `--help`. */
export const usage = `npm run bench -- [NAME…] [--rounds N] [--full]
npm run bench -- [NAME…] [--rounds N] --against REF
npm run bench -- --publish
npm run bench -- --list

NAME         run the benchmarks whose name contains NAME (default: all)
--rounds N   number of rounds, at least 5
--full       run the long form: larger sizes, longer rounds
--against    compare the working tree with a commit, and report changes beyond the noise
--publish    rewrite bench/README.md, bench/pages and bench/charts from the latest results, without measuring
--list       list the benchmarks, with the duration of the last run of each
--help, -h   show this text

A report has the duration of its run, which grows with the number of rounds, and --full takes several times as long.`;

/** The minimum number of rounds for a meaningful median. */
export const leastRounds = 5;

/** Parses the command line. Throws ArgumentError. */
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
  const { full, against, publish, list, help } = values;
  return { names: positionals, rounds, full, against, publish, list, help };
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
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    throw new ArgumentError(error instanceof Error ? error.message : String(error));
  }
}
