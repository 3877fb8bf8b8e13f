/** Those who wait for something to come. */
export class Arrivals<Entry> {
  readonly #waiters = new Set<{ come(entry: Entry): void; end(): void }>();

  /** The first that fits of those that are there, or to come within `timeout` ms. Rejects with what `late` gives. */
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

  /** Something has come. */
  come(entry: Entry): void {
    for (const waiter of this.#waiters) waiter.come(entry);
  }

  /** Ends all waiting, as if the time were out. */
  end(): void {
    for (const waiter of [...this.#waiters]) waiter.end();
  }
}
