import { clearTimeout, setTimeout } from '../../timers.ts';

interface Delay {
  readonly timer: NodeJS.Timeout;
  readonly end: () => void;
}

/**
 * Delays in the host's time, which can all be ended early. They keep the process alive only while a caller in this process
 * waits for a response (`awaited`): a client on a socket keeps its own process alive.
 */
export class Delays {
  readonly #delays = new Set<Delay>();
  #callers = 0;

  /** Resolves after `ms`, or when all delays are ended. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(delay.timer);
        this.#delays.delete(delay);
        resolve();
      };
      const delay = { timer: setTimeout(end, ms), end };
      if (this.#callers === 0) delay.timer.unref();
      this.#delays.add(delay);
    });
  }

  /** Keeps the process alive for the delays until `response` is settled. Returns `response`. */
  async awaited<T>(response: Promise<T>): Promise<T> {
    this.#callers += 1;
    if (this.#callers === 1) for (const { timer } of this.#delays) timer.ref();
    try {
      return await response;
    } finally {
      this.#callers -= 1;
      if (this.#callers === 0) for (const { timer } of this.#delays) timer.unref();
    }
  }

  /** Ends all delays now. */
  end(): void {
    for (const { end } of [...this.#delays]) end();
  }
}
