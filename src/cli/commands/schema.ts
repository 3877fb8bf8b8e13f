import { configurationSchema } from '../../options/configuration-schema.ts';
import { readArguments } from '../../options/flags.ts';
import { CommandError, reportError } from '../errors.ts';
import type { Terminal } from '../terminal.ts';

/** Runs `countersign schema`: prints the JSON Schema of the configuration file. Returns the exit status. */
export function schema(argv: readonly string[], terminal: Terminal): number {
  try {
    const { words, faults } = readArguments(argv, new Map());
    const all = [...faults, ...words.map((word) => `unexpected argument ${JSON.stringify(word)}`)];
    if (all.length > 0) throw new CommandError(all);
    terminal.stdout.write(`${JSON.stringify(configurationSchema(), undefined, 2)}\n`);
    return 0;
  } catch (error) {
    return reportError(error, terminal);
  }
}
