import type { Requests } from './requests.ts';

/** What is signed is good for ten minutes on either side of its date; it is given for so long (ms). */
const freshFor = 240_000;

/** Requests of one kind, made ahead. Those that may be sent only once are given to each server once, but to all of them. */
export class Supply {
  readonly #requests: Requests;
  #made: string[] = [];
  #since = 0;
  #given = new WeakMap<object, number>();

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /** So many that this server was not given yet; `now` is in ms since 1970-01-01T00:00:00Z. */
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
