import type { Clock } from '../../clock.ts';
import type { OnProgress } from '../../store/recovery/recovery.ts';
import type { Outlet } from '../terminal.ts';

/** Loading that takes no longer than this (ms) is not worth a word. */
const patience = 1000;
/** Milliseconds from one look of the line to the next. */
const interval = 100;
/** Takes the line away (ECMA-48 §8.3.41). */
const clear = '\r\u001b[K';

/** Shows on a terminal how far loading is, once it takes longer than a second; `end` takes the line away. */
export function showProgress(outlet: Outlet, clock: Clock): { readonly loading: OnProgress; end(): void } {
  if (outlet.isTTY !== true) return { loading() {}, end() {} };
  const begun = clock.steady();
  let next = begun + patience;
  let shown = false;
  return {
    loading(file, done, size, count) {
      const now = clock.steady();
      if (now < next) return;
      next = now + interval;
      shown = true;
      const share = size === 0 ? 100 : Math.floor((done / size) * 100);
      const what = file.startsWith('journal') ? 'changes' : 'items';
      outlet.write(
        `${clear}loading ${file}: ${count.toLocaleString('en')} ${what}, ${Math.min(share, 100)} %`,
      );
    },
    end() {
      if (shown) outlet.write(clear);
    },
  };
}
