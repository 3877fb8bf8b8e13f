import { clearTimeout, setTimeout } from '../timers.ts';

/** Waits in the host's time, until all of them are ended. */
export class Delays {
  readonly #ends = new Set<() => void>();

  /** Resolves after so many ms, or when all are ended. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#ends.delete(end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.#ends.add(end);
    });
  }

  /** Ends them all now. */
  end(): void {
    for (const end of [...this.#ends]) end();
  }
}
