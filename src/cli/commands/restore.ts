import { type CopyCommand, runCopyCommand } from '../backup/copy-command.ts';
import { CommandError } from '../errors.ts';
import type { Terminal } from '../terminal.ts';

const command: CopyCommand = {
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
  return runCopyCommand(command, argv, environment, terminal);
}
