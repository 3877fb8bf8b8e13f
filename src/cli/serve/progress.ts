import type { Clock } from '../../clock.ts';
import type { OnProgress } from '../../store/scan.ts';
import type { Outlet } from '../terminal.ts';

/** The time before progress is shown, in milliseconds. */
const initialDelay = 1000;
/** The minimum time between two updates, in milliseconds. */
const interval = 100;
/** Erases the line (ECMA-48 §8.3.41). */
const clear = '\r\u001b[K';

/** Shows the progress of loading on a terminal once it takes longer than a second. `end` erases the line. */
export function showProgress(
  outlet: Outlet | undefined,
  clock: Clock,
): { readonly loading: OnProgress; end(): void } {
  if (outlet?.isTTY !== true) return { loading() {}, end() {} };
  const begun = clock.steady();
  let next = begun + initialDelay;
  let shown = false;
  return {
    loading(file, done, size, count) {
      const now = clock.steady();
      if (now < next) return;
      next = now + interval;
      shown = true;
      const share = size === 0 ? '' : `, ${Math.min(Math.floor((done / size) * 100), 100)} %`;
      const what = file.startsWith('journal') ? 'changes' : 'items';
      outlet.write(`${clear}loading ${file}: ${count.toLocaleString('en')} ${what}${share}`);
    },
    end() {
      if (shown) outlet.write(clear);
    },
  };
}
