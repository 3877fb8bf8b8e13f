import { clearTimeout, setTimeout } from '../../timers.ts';

/** Waits for entries, existing or future ones. */
export class Waiters<Entry> {
  readonly #waiters = new Set<{ notify(entry: Entry): void; end(): void }>();

  /**
   * Resolves to the first matching entry of `existing`, or to the next matching entry within `timeout` ms of the host's
   * time. Otherwise rejects with the error that `onTimeout` returns.
   */
  waitFor(
    existing: readonly Entry[],
    fits: (entry: Entry) => boolean,
    timeout: number,
    onTimeout: () => Error,
  ): Promise<Entry> {
    const found = existing.find(fits);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
      };
      const waiter = {
        notify: (entry: Entry): void => {
          if (!fits(entry)) return;
          leave();
          resolve(entry);
        },
        end: (): void => {
          leave();
          reject(onTimeout());
        },
      };
      const timer = setTimeout(waiter.end, timeout);
      this.#waiters.add(waiter);
    });
  }

  /** Resolves every wait that this entry matches. */
  notify(entry: Entry): void {
    for (const waiter of this.#waiters) waiter.notify(entry);
  }

  /** Ends all waits as if they had timed out. */
  end(): void {
    for (const waiter of [...this.#waiters]) waiter.end();
  }
}
