import { setTimeout } from '../timers.ts';

/** The time (ms) until a process whose command has ended is ended. */
const grace = 200;

/** The members of a process that are used here. */
interface Ending {
  readonly stdout: { readonly writableLength: number };
  readonly stderr: { readonly writableLength: number };
  exit(): void;
}

/**
 * Ends a process whose command has ended, when its output is written. Without that, open connections of a module, such as
 * those of a pool, would keep it running. Most processes end earlier by themselves.
 */
export function endSoon(process: Ending): void {
  setTimeout(() => {
    if (process.stdout.writableLength + process.stderr.writableLength > 0) endSoon(process);
    else process.exit();
  }, grace).unref();
}
