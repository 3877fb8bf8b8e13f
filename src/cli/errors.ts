import { OptionsError } from '../options/error.ts';
import { FilePermissionsError } from '../store/files/file-permissions.ts';
import { exposureLine } from './serve/file-permissions.ts';
import type { Terminal } from './terminal.ts';

/** A command cannot do what it was asked: what is wrong, one line each, and the status to exit with. */
export class CommandError extends Error {
  override readonly name = 'Refusal';
  readonly faults: readonly string[];
  readonly status: 1 | 2;

  constructor(faults: readonly string[], status: 1 | 2 = 2) {
    super(faults.join('\n'));
    this.faults = faults;
    this.status = status;
  }
}

/**
 * Tells on standard error what went wrong, one line each, and gives the status to exit with: 2 when what was asked
 * for cannot be, 1 when it could not be done.
 */
export function reportError(error: unknown, { stderr }: Pick<Terminal, 'stderr'>): 1 | 2 {
  const { faults, status } = refusalOf(error);
  for (const fault of faults) stderr.write(`countersign: ${fault}\n`);
  return status;
}

/** What went wrong, one line each. */
export function messagesOf(error: unknown): readonly string[] {
  return refusalOf(error).faults;
}

function refusalOf(error: unknown): { readonly faults: readonly string[]; readonly status: 1 | 2 } {
  if (error instanceof CommandError) return error;
  if (error instanceof FilePermissionsError) return { faults: [exposureLine(error)], status: 1 };
  if (error instanceof OptionsError)
    return { faults: error.faults, status: error.code === 'unreadable' ? 1 : 2 };
  if (!(error instanceof Error)) return { faults: [String(error)], status: 1 };
  // What has a code was foreseen and says what happened. Anything else is a fault in here: its trace is worth telling.
  const foreseen = 'code' in error && typeof error.code === 'string';
  return {
    faults: [foreseen ? error.message.replaceAll('\n', ' ') : (error.stack ?? error.message)],
    status: 1,
  };
}
