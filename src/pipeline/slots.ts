/** Runs asynchronous work, a limited number at a time; further work waits in a queue. */
export class Slots {
  readonly #count: number;
  readonly #waiting: (() => void)[] = [];
  #used = 0;

  /** @param count the highest number of concurrent works */
  constructor(count: number) {
    this.#count = count;
  }

  /** The number of works that wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Runs work when its turn comes. Settles as the work does. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#used >= this.#count) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#used += 1;
    try {
      return await work();
    } finally {
      // The next work takes this slot, so the number of used ones stays the same.
      const next = this.#waiting.shift();
      if (next === undefined) this.#used -= 1;
      else next();
    }
  }
}
