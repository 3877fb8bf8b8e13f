// Nonces on another host have no limits of their own, because a count that all hosts share would cost each claim a write of one row
// or key. So each service counts what it claimed there: by user, and by the time of expiry, not by nonce.
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { checkNonceLimits, computeDefaultShare, type NonceResult, type NonceStore } from './nonces.ts';

/** The limits of the nonces that one service claims. */
interface NonceLimits {
  /** The time (ms) that one bucket covers. A nonce is counted at most this much longer than it is stored. */
  readonly bucketSpan: number;
  /** The maximum number of nonces. */
  readonly max: number;
  /** The maximum number of nonces of one user. Default: a tenth of `max`, at least 1. */
  readonly maxPerUser?: number | undefined;
}

/**
 * Applies limits to nonces that have none. A replay is not counted.
 *
 * @throws RangeError for limits out of range
 */
export function limitNonces(nonces: NonceStore, limits: NonceLimits): NonceStore {
  return new LimitedNonces(nonces, limits);
}

/** The nonces that expire in one span of time. */
interface Bucket {
  /** The end of the span (ms). */
  readonly to: number;
  /** The number of nonces. */
  count: number;
  /** The number of nonces of each user. */
  readonly shares: Map<string, number>;
}

class LimitedNonces implements NonceStore {
  readonly #nonces: NonceStore;
  readonly #span: number;
  readonly #max: number;
  readonly #maxPerUser: number;
  /** The buckets by the end of their span. There are a few: `until` is at most two windows from now. */
  readonly #buckets = new Map<number, Bucket>();
  #count = 0;

  constructor(nonces: NonceStore, { bucketSpan, max, maxPerUser = computeDefaultShare(max) }: NonceLimits) {
    checkNonceLimits(max, maxPerUser);
    this.#nonces = nonces;
    this.#span = bucketSpan;
    this.#max = max;
    this.#maxPerUser = maxPerUser;
  }

  get size(): number {
    return this.#nonces.size ?? 0;
  }

  claim(user: string, nonce: string, until: number, now: number): MaybePromise<NonceResult> {
    this.#drop(now);
    if (this.#count >= this.#max) return 'full';
    if (this.#hasShare(user)) return { freeAt: this.#freeAt(user) };
    return andThen(this.#nonces.claim(user, nonce, until, now), (result) => {
      if (result === 'fresh') this.#add(user, until);
      return result;
    });
  }

  #add(user: string, until: number): void {
    const to = this.#endFor(until);
    const bucket = this.#buckets.get(to) ?? { to, count: 0, shares: new Map() };
    this.#buckets.set(to, bucket);
    bucket.count += 1;
    this.#count += 1;
    bucket.shares.set(user, (bucket.shares.get(user) ?? 0) + 1);
  }

  /** Returns whether a user has the maximum number of nonces. */
  #hasShare(user: string): boolean {
    if (this.#count < this.#maxPerUser) return false;
    let count = 0;
    for (const { shares } of this.#buckets.values()) count += shares.get(user) ?? 0;
    return count >= this.#maxPerUser;
  }

  /** Returns the time (ms) when the first nonces of a user expire. */
  #freeAt(user: string): number {
    const own = [...this.#buckets.values()].filter(({ shares }) => shares.has(user));
    return Math.min(...own.map(({ to }) => to));
  }

  #endFor(until: number): number {
    return (Math.floor(until / this.#span) + 1) * this.#span;
  }

  #drop(now: number): void {
    for (const [to, { count }] of this.#buckets) {
      if (to > now) continue;
      this.#count -= count;
      this.#buckets.delete(to);
    }
  }
}
