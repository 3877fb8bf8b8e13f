import { OptionsError } from '../options/error.ts';
import { isStoreError } from '../store/errors.ts';
import type { FilePermissionsError } from '../store/files/file-permissions.ts';
import { exposureLine } from './exposure.ts';
import { printMessage, type Terminal } from './terminal.ts';

/** An error of a command, to be reported without a stack trace. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  /** The messages, one line each. */
  readonly faults: readonly string[];
  /** The exit status: 2 for invalid arguments, 1 for any other error. */
  readonly status: 1 | 2;

  constructor(faults: readonly string[], status: 1 | 2 = 2) {
    super(faults.join('\n'));
    this.faults = faults;
    this.status = status;
  }
}

/** Returns what `make` returns, and throws a CommandError for a RangeError, whose message follows `prefix`. */
export function rethrowAsCommandError<Value>(make: () => Value, status: 1 | 2 = 2, prefix = ''): Value {
  try {
    return make();
  } catch (error) {
    if (error instanceof RangeError) throw new CommandError([prefix + error.message], status);
    throw error;
  }
}

/**
 * Prints the messages of an error on standard error, one line each. Returns the exit status: 2 for invalid arguments or
 * options, 1 for any other error.
 */
export function reportError(error: unknown, { stderr }: Pick<Terminal, 'stderr'>): 1 | 2 {
  const { faults, status } = describeError(error);
  for (const fault of faults) printMessage(fault, stderr);
  return status;
}

/** Returns the messages of an error, one line each. */
export function listMessages(error: unknown): readonly string[] {
  return describeError(error).faults;
}

/** Returns the messages of an error, one line each, and the exit status. */
export function describeError(error: unknown): {
  readonly faults: readonly string[];
  readonly status: 1 | 2;
} {
  if (error instanceof CommandError) return error;
  if (isExposure(error)) return { faults: [exposureLine(error)], status: 1 };
  if (error instanceof OptionsError)
    return { faults: error.faults, status: error.code === 'unreadable' ? 1 : 2 };
  if (!(error instanceof Error)) return { faults: [String(error)], status: 1 };
  // An error with a code is an expected one. Any other is a bug, and its stack trace is needed.
  const expected = 'code' in error && typeof error.code === 'string';
  const message = expected ? error.message.replaceAll('\n', ' ') : (error.stack ?? error.message);
  return { faults: [message], status: 1 };
}

/** Returns whether other users can access a file. The code decides, so that most commands need not load what checks files. */
function isExposure(error: unknown): error is FilePermissionsError {
  return isStoreError(error, 'exposed') && 'first' in error;
}
