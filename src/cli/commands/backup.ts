import { existsSync } from 'node:fs';
import { checkPermissions } from '../../store/files/file-permissions.ts';
import { type CopyCommand, runCopyCommand } from '../backup/copy-command.ts';
import { CommandError } from '../errors.ts';
import type { Terminal } from '../terminal.ts';

const command: CopyCommand = {
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
  return runCopyCommand(command, argv, environment, terminal);
}
