import { nextTurn } from '../timers.ts';

/** A call that waits for its query. */
interface Call<Input, Output> {
  readonly input: Input;
  resolve(output: Output): void;
  reject(error: unknown): void;
}

/** Collects the calls of one turn of the event loop, so that they share one query. */
export class Coalesced<Input, Output> {
  readonly #run: (inputs: readonly Input[]) => Promise<(index: number) => Output>;
  readonly #running = new Set<Promise<void>>();
  #waiting: Call<Input, Output>[] = [];

  /** @param run executes the query, and returns a function for the output of each input */
  constructor(run: (inputs: readonly Input[]) => Promise<(index: number) => Output>) {
    this.#run = run;
  }

  /** Returns the output for an input. */
  call(input: Input): Promise<Output> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ input, resolve, reject });
      if (this.#waiting.length > 1) return;
      const running = this.#start().finally(() => this.#running.delete(running));
      this.#running.add(running);
    });
  }

  /** Resolves when all calls have finished. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async #start(): Promise<void> {
    await nextTurn();
    const calls = this.#waiting;
    this.#waiting = [];
    try {
      const findOutput = await this.#run(calls.map(({ input }) => input));
      for (const [index, { resolve }] of calls.entries()) resolve(findOutput(index));
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
  }
}
