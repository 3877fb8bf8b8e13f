import type { Requests } from './requests.ts';

/**
 * The time (ms) for which prepared requests are used. Their signatures are valid for ten minutes before and after their
 * date.
 */
const freshFor = 240_000;

/** Prepared requests of one kind. A request that may be sent only once is sent to each server once. */
export class Supply {
  readonly #requests: Requests;
  #made: string[] = [];
  #since = 0;
  #given = new WeakMap<object, number>();

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /** Returns `count` requests that this server has not received; `now` is in milliseconds since the epoch. */
  take(count: number, server: object, now: number): readonly string[] {
    if (!this.#requests.once) return this.#requests.make(count, now);
    if (now - this.#since > freshFor) this.#begin(now);
    const from = this.#given.get(server) ?? 0;
    const missing = from + count - this.#made.length;
    if (missing > 0) this.#made = this.#made.concat(this.#requests.make(missing, now));
    this.#given.set(server, from + count);
    return this.#made.slice(from, from + count);
  }

  #begin(now: number): void {
    this.#made = [];
    this.#since = now;
    this.#given = new WeakMap();
  }
}
