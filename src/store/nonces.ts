/** The most a JavaScript Set takes, and one bucket may come to hold all. */
const mostLive = 16_000_000;

/** How many nonces are kept, and how finely time is cut to drop them. */
export interface NoncesOptions {
  /**
   * The time (ms) that one bucket covers. A claim asks each bucket that is alive, so choose it for a handful
   * between now and the latest `until`: a shorter span gives memory back sooner, a longer one claims faster.
   */
  readonly bucketSpan: number;
  /** The most nonces kept at once, up to 16,000,000. */
  readonly max: number;
}

/** Remembers which nonces were used, as long as a request that carries one could be accepted again. */
export interface Nonces {
  /**
   * Takes a user's nonce in one step: `fresh` when nobody had it before, `seen` when that user did or might
   * have, `full` when there is no room (nothing is taken then). `until` is the time (ms) up to which a request
   * carrying it could still be accepted; the nonce is kept until that has passed and at most one span longer.
   */
  claim(user: string, nonce: string, until: number, now: number): 'fresh' | 'seen' | 'full';
  /** How many are kept. */
  readonly size: number;
}

/** Makes an empty set of nonces in memory. Throws RangeError for options out of range. */
export function createNonces(options: NoncesOptions): Nonces {
  return new NonceBuckets(options);
}

/** Each bucket holds the nonces whose `until` lies in one span of time, and is dropped as a whole. */
class NonceBuckets implements Nonces {
  readonly #span: number;
  readonly #max: number;
  /** By the number of the span, counted from 1970. */
  readonly #buckets = new Map<number, Set<string>>();
  #size = 0;
  /** The first span that is still kept. Follows the latest time ever seen, and so never goes back. */
  #floor = Number.NEGATIVE_INFINITY;

  constructor({ bucketSpan, max }: NoncesOptions) {
    if (!(bucketSpan > 0 && bucketSpan < Infinity)) throw new RangeError('bucketSpan must be above 0');
    if (!(max >= 1 && max <= mostLive)) throw new RangeError(`max must be from 1 to ${mostLive}`);
    this.#span = bucketSpan;
    this.#max = max;
  }

  get size(): number {
    return this.#size;
  }

  claim(user: string, nonce: string, until: number, now: number): 'fresh' | 'seen' | 'full' {
    this.#dropBefore(Math.floor(now / this.#span));
    const span = Math.floor(until / this.#span);
    // Its bucket is gone, and it may have been in there. Asked so that NaN does not pass.
    if (!(span >= this.#floor)) return 'seen';
    const key = nonceKey(user, nonce);
    for (const bucket of this.#buckets.values()) if (bucket.has(key)) return 'seen';
    if (this.#size >= this.#max) return 'full';
    this.#put(span, key);
    return 'fresh';
  }

  #put(span: number, key: string): void {
    const bucket = this.#buckets.get(span);
    if (bucket === undefined) this.#buckets.set(span, new Set([key]));
    else bucket.add(key);
    this.#size += 1;
  }

  /** A span that lies before the one of the present has passed to its end. */
  #dropBefore(present: number): void {
    if (!(present > this.#floor)) return;
    this.#floor = present;
    for (const [span, bucket] of this.#buckets) {
      if (span >= present) continue;
      this.#size -= bucket.size;
      this.#buckets.delete(span);
    }
  }
}

/** The length before the name shows where it ends, whatever characters it has. */
function nonceKey(user: string, nonce: string): string {
  return `${user.length}:${user}${nonce}`;
}
