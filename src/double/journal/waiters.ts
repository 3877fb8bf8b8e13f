import { clearTimeout, setTimeout } from '../../timers.ts';

/** Waits for entries that are there already, or that come within a time. */
export class Waiters<Entry> {
  readonly #waiters = new Set<{ come(entry: Entry): void; end(): void }>();

  /**
   * The first entry that fits: one of `there`, else the next to come within `timeout` ms of the host's time. Rejects with what
   * `late` gives.
   */
  waitFor(
    there: readonly Entry[],
    fits: (entry: Entry) => boolean,
    timeout: number,
    late: () => Error,
  ): Promise<Entry> {
    const found = there.find(fits);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
      };
      const waiter = {
        come: (entry: Entry): void => {
          if (!fits(entry)) return;
          leave();
          resolve(entry);
        },
        end: (): void => {
          leave();
          reject(late());
        },
      };
      const timer = setTimeout(waiter.end, timeout);
      this.#waiters.add(waiter);
    });
  }

  /** Resolves every wait that this entry fits. */
  come(entry: Entry): void {
    for (const waiter of this.#waiters) waiter.come(entry);
  }

  /** Ends every wait as if its time had run out. */
  end(): void {
    for (const waiter of [...this.#waiters]) waiter.end();
  }
}
