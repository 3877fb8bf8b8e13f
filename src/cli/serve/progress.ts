import { type Clock, systemClock } from '../../clock.ts';
import type { OnProgress } from '../../store/scan.ts';
import type { Outlet } from '../terminal.ts';

/** The time before progress is shown, in milliseconds. */
const initialDelay = 1000;
/** The minimum time between two updates, in milliseconds. */
const interval = 100;
/** Erases the line (ECMA-48 §8.3.41). */
const clear = '\r\u001b[K';

/** Runs a task, and shows the progress of loading on a terminal once that takes longer than a second. Its line is erased at the end. */
export async function withProgress<T>(
  outlet: Outlet | undefined,
  task: (onProgress: OnProgress) => Promise<T>,
  clock: Clock = systemClock,
): Promise<T> {
  if (outlet?.isTTY !== true) return task(() => {});
  let next = clock.steady() + initialDelay;
  let shown = false;
  try {
    return await task((file, done, size, count) => {
      const now = clock.steady();
      if (now < next) return;
      next = now + interval;
      shown = true;
      const share = size === 0 ? '' : `, ${Math.min(Math.floor((done / size) * 100), 100)} %`;
      const what = file.startsWith('journal') ? 'changes' : 'items';
      outlet.write(`${clear}loading ${file}: ${count.toLocaleString('en')} ${what}${share}`);
    });
  } finally {
    if (shown) outlet.write(clear);
  }
}
