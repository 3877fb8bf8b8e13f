import { clearTimeout, setTimeout } from '../../timers.ts';

/** Why no entry matched: the timeout elapsed, or the waits were ended. */
export type WaitEnd = 'timeout' | 'closed';

/** Waits for entries, existing or future ones. */
export class Waiters<Entry> {
  readonly #waiters = new Set<{ notify(entry: Entry): void; end(why: WaitEnd): void }>();
  #closed = false;

  /**
   * Resolves to the first matching entry of `existing`, or to the next matching entry within `timeout` ms of the host's
   * time. Otherwise rejects with the error that `onEnd` returns. If `fits` throws, rejects with that error.
   */
  waitFor(
    existing: readonly Entry[],
    fits: (entry: Entry) => boolean,
    timeout: number,
    onEnd: (why: WaitEnd) => Error,
  ): Promise<Entry> {
    const waiting: Promise<Entry> = new Promise((resolve, reject) => {
      const found = existing.find(fits);
      if (found !== undefined) return resolve(found);
      if (this.#closed) return reject(onEnd('closed'));
      const leave = (): void => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
      };
      const waiter = {
        notify: (entry: Entry): void => {
          try {
            if (!fits(entry)) return;
            resolve(entry);
          } catch (error) {
            reject(error);
          }
          leave();
        },
        end: (why: WaitEnd): void => {
          leave();
          if (why === 'closed') markHandled(waiting);
          reject(onEnd(why));
        },
      };
      const timer = setTimeout(() => waiter.end('timeout'), timeout);
      this.#waiters.add(waiter);
    });
    if (this.#closed) markHandled(waiting);
    return waiting;
  }

  /** Resolves every wait that this entry matches. Rejects those whose function throws; the others are not affected. */
  notify(entry: Entry): void {
    for (const waiter of [...this.#waiters]) waiter.notify(entry);
  }

  /** Rejects all waits. Further ones only resolve to existing entries. */
  end(): void {
    this.#closed = true;
    for (const waiter of [...this.#waiters]) waiter.end('closed');
  }
}

/**
 * Prevents that a rejection ends the process if nothing awaits the promise: a test that failed before it awaited its wait still
 * closes its double. The promise rejects as before.
 */
function markHandled(promise: Promise<unknown>): void {
  promise.catch(() => undefined);
}
