import { configurationSchema } from '../../options/configuration-schema.ts';
import { commandTable, parseCommandLine } from '../command-table.ts';
import { CommandError } from '../errors.ts';
import type { Command } from '../terminal.ts';

/** Runs `countersign schema`: prints the JSON Schema of the configuration file. */
export const schema: Command = async (argv, _, { stdout }) => {
  const { words, faults } = parseCommandLine(commandTable.schema, argv);
  const all = [...faults, ...words.map((word) => `unexpected argument ${JSON.stringify(word)}`)];
  if (all.length > 0) throw new CommandError(all);
  stdout.write(`${JSON.stringify(configurationSchema(), undefined, 2)}\n`);
  return 0;
};
