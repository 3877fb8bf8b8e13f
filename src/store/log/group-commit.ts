/**
 * Writes what waits in groups, one at a time: what arrives during a write forms the next group, so that many writers share one write
 * and one sync.
 */
export class GroupCommit<T> {
  /** What is in no group yet, in the order of arrival. */
  waiting: T[] = [];
  readonly #write: () => Promise<void>;
  readonly #gather: () => Promise<void>;
  /** Functions to call between two groups. */
  readonly #tasks: (() => Promise<void>)[] = [];
  #running: Promise<void> | undefined;

  /**
   * @param write takes a group from `waiting`, writes it, and settles it. Must not reject
   * @param gather resolves when the first group may be formed
   */
  constructor(write: () => Promise<void>, gather: () => Promise<void>) {
    this.#write = write;
    this.#gather = gather;
  }

  /** Resolves when nothing waits. */
  get idle(): Promise<void> {
    return this.#running ?? Promise.resolve();
  }

  /** Adds something to the next group. */
  add(entry: T): void {
    this.waiting.push(entry);
    this.#running ??= this.#run();
  }

  /** Calls a function between two groups. */
  between<Result>(task: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#tasks.push(() => task().then(resolve, reject));
      this.#running ??= this.#run();
    });
  }

  async #run(): Promise<void> {
    await this.#gather();
    for (;;) {
      const task = this.#tasks.shift();
      if (task !== undefined) await task();
      else if (this.waiting.length > 0) await this.#write();
      else break;
    }
    this.#running = undefined;
  }
}
