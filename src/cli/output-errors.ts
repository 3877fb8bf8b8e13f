import type { EventEmitter } from 'node:events';
import { errorCode } from '../store/files/error-code.ts';
import { setTimeout } from '../timers.ts';
import { type Outlet, printMessage } from './terminal.ts';

/** The exit status of a program that SIGPIPE ends, as a shell reports it: 128 + 13. */
const brokenPipeStatus = 141;

/** The parts of `process` that are used here. */
interface OutputProcess {
  readonly stdout: EventEmitter;
  readonly stderr: EventEmitter & Outlet;
  exitCode?: number | string | null | undefined;
}

/**
 * Runs a command and handles errors of its output streams. A closed pipe (`countersign export | head`) ends the command
 * without a message. Any other error of standard output is reported. Errors of standard error are ignored, because there
 * is no stream to report them on.
 *
 * @returns the exit status: 141 for a closed pipe, 1 for another error of standard output, else that of the command
 */
export async function withOutputErrors(
  output: OutputProcess,
  run: () => Promise<number | undefined>,
): Promise<number | undefined> {
  let failure: number | undefined;
  output.stdout.on('error', (error: Error) => {
    if (failure !== undefined) return;
    failure = isBrokenPipe(error) ? brokenPipeStatus : 1;
    if (failure === 1) printMessage(outputFault(error), output.stderr);
    output.exitCode = failure; // The error can be emitted after the command has ended.
  });
  output.stderr.on('error', () => {});
  const status = await run();
  return failure ?? status;
}

// On Windows, writing to a closed pipe fails with EOF.
function isBrokenPipe(error: unknown): boolean {
  return ['EPIPE', 'EOF'].includes(errorCode(error) ?? '');
}

function outputFault(error: unknown): string {
  return `standard output cannot be written (${errorCode(error) ?? 'unknown'})`;
}

/** The time (ms) until a process whose command has ended is ended. */
const grace = 200;

/**
 * Ends this process, whose command has ended, when its output is written. Without that, open connections of a module, such as
 * those of a pool, would keep it running. Most processes end earlier by themselves.
 */
export function endSoon(): void {
  const end = (): void => {
    if (process.stdout.writableLength + process.stderr.writableLength > 0) endSoon();
    else process.exit(process.exitCode);
  };
  setTimeout(end, grace).unref();
}
