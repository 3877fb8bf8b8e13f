import { setTimeout } from '../timers.ts';

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
