import { formatCompletion } from '../completion.ts';
import { CommandError, reportError } from '../errors.ts';
import type { Terminal } from '../terminal.ts';

/** Runs `countersign completion SHELL`: prints the script with which a shell completes the command. Returns the exit status. */
export function completion([shell, ...more]: readonly string[], terminal: Terminal): number {
  try {
    if (more.length > 0) throw new CommandError(['completion requires one shell']);
    terminal.stdout.write(formatCompletion(shell));
    return 0;
  } catch (error) {
    return reportError(error, terminal);
  }
}
