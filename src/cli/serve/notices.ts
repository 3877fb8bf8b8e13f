// Writes everything on standard error that is no entry of the access log, in the format of the log.

import type { EventEmitter } from 'node:events';
import type { Clock } from '../../clock.ts';
import { describeError } from '../errors.ts';
import { type Outlet, printLines, printMessage } from '../terminal.ts';

/** The format of standard error: lines of JSON, or text. */
export type NoticeFormat = 'json' | 'text';

/** What a server writes to standard error beside the access log. */
export interface Notices {
  readonly format: NoticeFormat;
  /** Writes a warning. */
  warn(message: string): void;
  /** Writes an error that ends the process. Returns the exit status. */
  error(error: unknown): 1 | 2;
  /** Writes an internal error with its stack. */
  fault(error: unknown): void;
  /** Writes the lines of a text; as JSON, `message` and `members` instead. */
  info(text: string, message: string, members: Readonly<Record<string, unknown>>): void;
}

/** Creates notices. As JSON, each is an object on one line with `time`, `level` and `message`; an internal error has `fault`. */
export function createNotices(
  format: NoticeFormat,
  { stderr, clock }: { readonly stderr: Outlet; readonly clock: Clock },
): Notices {
  const write = (level: string, members: Readonly<Record<string, unknown>>): void => {
    const time = new Date(clock.now()).toISOString();
    printLines([JSON.stringify({ time, level, ...members })], stderr);
  };
  const say = (level: string, message: string): void => {
    if (format === 'json') write(level, { message });
    else printMessage(message, stderr);
  };
  return {
    format,
    warn: (message) => say('warn', message),
    error(error) {
      const { faults, status } = describeError(error);
      for (const message of faults) say('error', message);
      return status;
    },
    fault(error) {
      const fault = error instanceof Error ? (error.stack ?? error.message) : String(error);
      if (format === 'json') write('error', { fault });
      else say('error', fault);
    },
    info(text, message, members) {
      if (format === 'json') write('info', { message, ...members });
      else printLines(text.split('\n'), stderr);
    },
  };
}

/** Writes process warnings, such as those of a store, as notices, and no longer in the format of Node.js. */
export function redirectWarnings(notices: Pick<Notices, 'warn'>, source: EventEmitter): void {
  source.removeAllListeners('warning');
  source.on('warning', ({ name, message }) =>
    notices.warn(name === 'CountersignWarning' ? message : `${name}: ${message}`),
  );
}
