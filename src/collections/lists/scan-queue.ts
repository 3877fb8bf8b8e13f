import type { Clock } from '../../clock.ts';
import { Problem } from '../../http/problem.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import { Slots } from '../../pipeline/slots.ts';
import { nextTurn } from '../../timers.ts';

/** The number of items, and of stored bytes, that a step reads: a millisecond at most. */
export const stepItems = 256;
export const stepBytes = 64 * 1024;

/** The number of scans that run at the same time. */
const concurrency = 2;
/** The time (ms) after which a scan lets the event loop take its next turn, and the highest number of steps before that. */
const sliceTime = 2;
const sliceSteps = 4;

/**
 * Runs scans of collections, few at a time and each in slices. Between them, other requests are handled. So many scans at once take
 * no more of a turn of the event loop than few.
 */
export class ScanQueue {
  readonly #clock: Pick<Clock, 'steady'>;
  readonly #slots = new Slots(concurrency);

  constructor(clock: Pick<Clock, 'steady'>) {
    this.#clock = clock;
  }

  /**
   * Takes the steps of a scan when its turn comes, until one returns true. Rejects with a Problem (503) if `isOpen` returns false
   * before, because nobody waits for the result.
   *
   * @param step takes about a millisecond at most
   * @param isOpen returns whether the client can still receive the response
   */
  run(step: () => MaybePromise<boolean>, isOpen: () => boolean): Promise<void> {
    return this.#slots.run(async () => {
      do await nextTurn();
      while (!(await this.#slice(step, isOpen)));
    });
  }

  /** Returns whether the scan is complete. */
  async #slice(step: () => MaybePromise<boolean>, isOpen: () => boolean): Promise<boolean> {
    const end = this.#clock.steady() + sliceTime;
    // The number counts too, because the clock of a test may stand still.
    for (let steps = 0; steps < sliceSteps; steps += 1) {
      if (!isOpen())
        throw new Problem('full', 'The client closed the connection while the list was read.', {
          headers: [['Retry-After', '1']],
          close: true,
        });
      if (await step()) return true;
      if (this.#clock.steady() >= end) return false;
    }
    return false;
  }
}
