// Nonces on another host have no limits of their own, because a count that all hosts share would cost each claim a write of one row
// or key. So each service counts what it claimed there: by user, and by the time of expiry, not by nonce.
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import {
  checkNonceLimits,
  computeDefaultShare,
  countNonce,
  countOf,
  findFreeAt,
  type NonceCounts,
  type NonceResult,
  type NonceStore,
} from './nonces.ts';

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
interface Bucket extends NonceCounts {
  /** The number of nonces. */
  count: number;
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
    if (this.#hasShare(user)) return { freeAt: findFreeAt(this.#buckets.values(), user) };
    return andThen(this.#nonces.claim(user, nonce, until, now), (result) => {
      if (result === 'fresh') this.#add(user, until);
      return result;
    });
  }

  #add(user: string, until: number): void {
    const to = (Math.floor(until / this.#span) + 1) * this.#span;
    const bucket = this.#buckets.get(to) ?? { to, count: 0, shares: new Map() };
    this.#buckets.set(to, bucket);
    bucket.count += 1;
    this.#count += 1;
    countNonce(bucket, user);
  }

  /** Returns whether a user has the maximum number of nonces. */
  #hasShare(user: string): boolean {
    return this.#count >= this.#maxPerUser && countOf(this.#buckets.values(), user) >= this.#maxPerUser;
  }

  #drop(now: number): void {
    for (const [to, { count }] of this.#buckets) {
      if (to > now) continue;
      this.#count -= count;
      this.#buckets.delete(to);
    }
  }
}
