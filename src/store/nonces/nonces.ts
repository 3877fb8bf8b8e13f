// Stores a nonce as a keyed fingerprint of 64 bits.
import type { MaybePromise } from '../../maybe-promise.ts';
import { Fingerprint } from './fingerprint.ts';
import { FingerprintSet } from './fingerprint-set.ts';
import { ForgottenSpans, lostUntil, MinTime, type NoncesLost, type Span } from './time.ts';

/** The options of a set of nonces. */
interface NoncesOptions {
  /** The time (ms) that one bucket covers. A nonce is stored at most this much longer than necessary. */
  readonly bucketSpan: number;
  /** The maximum number of nonces, up to 2,147,483,648. */
  readonly max: number;
  /** The maximum number of nonces of one user, up to `max`. Default: a tenth of `max`, at least 1. */
  readonly maxPerUser?: number | undefined;
  /** 16 secret random bytes. They are copied. */
  readonly key: Uint8Array;
  /** A monotonic clock (ms). */
  readonly monotonic: () => number;
}

/** The result of a claim if the user has the maximum number of nonces. */
interface ShareUsed {
  /** The time (ms) when the first nonces of the user expire, if the clock does not jump. */
  readonly freeAt: number;
}

/** The result of a claim. The nonce is stored only if it is `fresh`. */
export type NonceResult = 'fresh' | 'seen' | 'full' | ShareUsed | NoncesLost;

/**
 * Stores the nonces that were used, as long as a request with such a nonce could be accepted again. Only a claim that is
 * `fresh` admits its request: if an engine cannot be reached, the claim rejects with StoreError, and the request gets the
 * status 503.
 */
export interface NonceStore {
  /**
   * Claims a nonce of a user, as one atomic step. Returns `fresh` if the user has not used it before, `seen` if the user
   * has or may have, NoncesLost if the nonces with this `until` were lost, `full` if there are `max` nonces, and ShareUsed
   * if the user has `maxPerUser` nonces. An engine in memory returns synchronously; one that has to wait returns a promise.
   * A request acts only after its nonce is `fresh`, so a fresh nonce must be stored when the claim resolves.
   * @param until the last time (ms) at which a request with this nonce could be accepted. The nonce is stored until then
   *   and, if the clock does not jump, at most one bucket span longer.
   */
  claim(user: string, nonce: string, until: number, now: number): MaybePromise<NonceResult>;
  /** The number of nonces. Default: not known. */
  readonly size?: number;
  /** The longest window of dates for which the nonces are stored, in seconds. Default: any. */
  readonly window?: number;
  /**
   * The limits for which the engine itself returns `full` and ShareUsed. Default: it has none. Each service then counts the nonces that
   * it claimed, and applies `maxNonces` and `maxNoncesPerUser` to them.
   */
  readonly limits?: NonceLimits;
}

/** A nonce that was claimed. */
export interface NonceClaim {
  /** The name of the user. */
  readonly user: string;
  readonly nonce: string;
  /** The time (ms) until which a request with this nonce could be accepted. */
  readonly until: number;
}

/** The limits of the nonces in an engine. */
export interface NonceLimits {
  /** The maximum number of nonces. */
  readonly max: number;
  /** The maximum number of nonces of one user. */
  readonly maxPerUser: number;
}

/** Nonces in memory, to which earlier claims can be added. */
export interface MemoryNonces extends NonceStore {
  readonly size: number;
  readonly limits: NonceLimits;
  claim(user: string, nonce: string, until: number, now: number): NonceResult;
  /** Adds an earlier claim, even if there are then more than `max`. Returns whether it is new. */
  remember(user: string, nonce: string, until: number): boolean;
  /** Refuses all nonces whose `until` (ms) is at least `from` and below `to`, because the claims of that time are unknown. */
  forget(from: number, to: number): void;
  /** The spans of time whose claims are unknown. */
  readonly forgotten: readonly Span[];
  /** Returns whether a claim with `until` (ms) in this range, both ends included, may still be stored. */
  keeps(from: number, to: number): boolean;
}

const maxNonces = 2 ** 31;
/**
 * The maximum number of buckets, each of which a claim searches. Dates within the window need nine; after a jump of the clock,
 * there are as many as `spansUntilTrusted` more.
 */
const maxBuckets = 255;
/** The number of bucket spans after a jump of the clock until the new time is trusted: two hours for spans of 150 s. */
const spansUntilTrusted = 48;

/** Creates an empty set of nonces in memory. Throws RangeError for options out of range. */
export function createNonces(options: NoncesOptions): MemoryNonces {
  return new NonceBuckets(options);
}

/** Returns the span (ms) of a bucket for dates that may differ from the clock by `window` ms. */
export function bucketSpanFor(window: number): number {
  return Math.max(1000, window / 4);
}

/** Throws RangeError if these are not limits of a set of nonces. */
export function checkNonceLimits(max: number, maxPerUser: number): void {
  if (!(max >= 1 && max <= maxNonces)) throw new RangeError(`max must be from 1 to ${maxNonces}`);
  if (!(maxPerUser >= 1 && maxPerUser <= max)) throw new RangeError(`maxPerUser must be from 1 to ${max}`);
}

/** Returns the default of `maxPerUser`: a tenth of all, at least 1. */
export function computeDefaultShare(max: number): number {
  return Math.max(1, Math.floor(max / 10));
}

/** The nonces that expire in one span of time, by user. */
export interface NonceCounts {
  /** The end of the span (ms). */
  readonly to: number;
  /** The number of nonces of each user. */
  readonly shares: Map<string, number>;
}

/** Counts a nonce of a user. */
export function countNonce({ shares }: NonceCounts, user: string): void {
  shares.set(user, (shares.get(user) ?? 0) + 1);
}

/** Returns the number of nonces of a user. */
export function countOf(buckets: Iterable<NonceCounts>, user: string): number {
  let count = 0;
  for (const { shares } of buckets) count += shares.get(user) ?? 0;
  return count;
}

/** Returns the time (ms) when the first nonces of a user expire. */
export function findFreeAt(buckets: Iterable<NonceCounts>, user: string): number {
  let freeAt = Number.POSITIVE_INFINITY;
  for (const { to, shares } of buckets) if (to < freeAt && shares.has(user)) freeAt = to;
  return freeAt;
}

/** The nonces whose `until` is at least `from` and below `to`. They are dropped together. */
interface Bucket extends NonceCounts {
  from: number;
  to: number;
  readonly fingerprints: FingerprintSet;
}

/**
 * One set of fingerprints for each span of time. A claim searches all of them, and a set is dropped whole when its time is over.
 *
 * A nonce is represented by a fingerprint of 64 bits. A stored nonce is always found, so no replay is accepted. A fresh
 * nonce is mistaken for a replay if one of n stored nonces has the same fingerprint: with a probability of at most
 * n / 2^64, which for 10 million is 10^7 / 1.845 × 10^19 = 5.4 × 10^-13 per claim (and 10^-12 for 18 million). A set is between
 * 35 and 70 % full, which makes 11 to 23 bytes per nonce.
 *
 * A replayed request has the same date, and so the same `until`. If a clock that was ahead is set back, old dates become
 * acceptable again. So a bucket is dropped only when its time has passed both by the clock and by the lowest recent
 * offset to the monotonic clock. A clock may jump and return within `spansUntilTrusted`: no nonce is forgotten that
 * could be accepted again. For the remaining case, a clock that is set back to a time which it did not have recently,
 * the spans of dropped buckets are stored, and a claim with `until` in such a span is refused. This only rejects dates
 * that occur a second time. After a jump back by less than two windows, they are rejected for less than one window,
 * because dates up to one window ahead were not forgotten. After a longer jump, the alternative would be to accept replays.
 */
class NonceBuckets implements MemoryNonces {
  readonly limits: NonceLimits;
  readonly #span: number;
  readonly #monotonic: () => number;
  readonly #fingerprint: Fingerprint;
  readonly #minTime: MinTime;
  readonly #forgotten = new ForgottenSpans();
  #buckets: Bucket[] = [];
  /** The bucket that was used last. */
  #latest: Bucket | undefined;
  #size = 0;
  /** The time of the previous claim. */
  #now = Number.NaN;

  constructor({ bucketSpan, max, maxPerUser = computeDefaultShare(max), key, monotonic }: NoncesOptions) {
    if (!(bucketSpan > 0 && bucketSpan < Infinity)) throw new RangeError('bucketSpan must be above 0');
    checkNonceLimits(max, maxPerUser);
    this.#span = bucketSpan;
    this.limits = { max, maxPerUser };
    this.#monotonic = monotonic;
    this.#fingerprint = new Fingerprint(key);
    this.#minTime = new MinTime(spansUntilTrusted * bucketSpan);
  }

  get size(): number {
    return this.#size;
  }

  claim(user: string, nonce: string, until: number, now: number): NonceResult {
    // A nonce without a valid time could never be dropped.
    if (!(Number.isFinite(until) && Number.isFinite(now))) return 'seen';
    if (now !== this.#now) this.#advanceTo(now);
    this.#fingerprint.take(user, nonce);
    const isKnown = this.#find() !== undefined;
    if (this.#size >= this.limits.max || this.#hasShare(user)) {
      if (isKnown) return 'seen';
      this.#drop(now);
    }
    const end = this.#forgotten.endAfter(until);
    if (end !== undefined) return until < now ? 'seen' : lostUntil(end, until, now);
    if (isKnown) return 'seen';
    if (this.#size >= this.limits.max) return 'full';
    if (this.#hasShare(user)) return { freeAt: findFreeAt(this.#buckets, user) };
    this.#add(user, until);
    return 'fresh';
  }

  remember(user: string, nonce: string, until: number): boolean {
    // It is refused anyway.
    if (this.#forgotten.endAfter(until) !== undefined) return false;
    this.#fingerprint.take(user, nonce);
    // One that was claimed again after it had expired is in two buckets, until the first is dropped.
    if ((this.#find()?.to ?? Number.NEGATIVE_INFINITY) > until) return false;
    return this.#add(user, until);
  }

  forget(from: number, to: number): void {
    this.#forgotten.add(from, to);
  }

  get forgotten(): readonly Span[] {
    return this.#forgotten.list();
  }

  keeps(from: number, to: number): boolean {
    return this.#buckets.some((bucket) => bucket.from <= to && from < bucket.to);
  }

  /** Returns the bucket with the last fingerprint; undefined if none has it. */
  #find(): Bucket | undefined {
    const { low, high } = this.#fingerprint;
    for (const bucket of this.#buckets) if (bucket.fingerprints.has(low, high)) return bucket;
    return undefined;
  }

  /** Adds the last fingerprint. Returns false if its bucket has it. */
  #add(user: string, until: number): boolean {
    const bucket = this.#bucketFor(until);
    const { low, high } = this.#fingerprint;
    if (!bucket.fingerprints.add(low, high)) return false;
    countNonce(bucket, user);
    this.#size += 1;
    return true;
  }

  /** Returns whether a user has the maximum number of nonces. */
  #hasShare(user: string): boolean {
    const { maxPerUser } = this.limits;
    return this.#size >= maxPerUser && countOf(this.#buckets, user) >= maxPerUser;
  }

  #advanceTo(now: number): void {
    this.#now = now;
    this.#drop(this.#minTime.at(now, this.#monotonic()));
  }

  /**
   * Drops the buckets that have expired at `time`. If the set is full, `time` is that of the clock: nonces that are only stored
   * because the clock might be set back are dropped.
   */
  #drop(time: number): void {
    if (!this.#buckets.some(({ to }) => to <= time)) return;
    for (const { from, to, fingerprints } of this.#buckets) {
      if (to > time) continue;
      this.#size -= fingerprints.size;
      this.#forgotten.add(from, to);
    }
    this.#buckets = this.#buckets.filter(({ to }) => to > time);
    this.#latest = undefined;
  }

  #bucketFor(until: number): Bucket {
    const latest = this.#latest;
    if (latest !== undefined && latest.from <= until && until < latest.to) return latest;
    const existing = this.#buckets.find(({ from, to }) => from <= until && until < to);
    this.#latest = existing ?? this.#newBucket(until);
    return this.#latest;
  }

  #newBucket(until: number): Bucket {
    const from = Math.floor(until / this.#span) * this.#span;
    const to = from + this.#span;
    if (this.#buckets.length >= maxBuckets) return this.#widenedBucket(from, to);
    // The next span probably has as many nonces as the last one.
    const expected = this.#buckets.at(-1)?.fingerprints.size ?? 0;
    const bucket = {
      from,
      to,
      fingerprints: new FingerprintSet(expected),
      shares: new Map<string, number>(),
    };
    this.#buckets.push(bucket);
    return bucket;
  }

  /** Extends the next bucket that ends after this span, or the last one, so that it covers the span. Returns it. */
  #widenedBucket(from: number, to: number): Bucket {
    const [first, ...others] = this.#buckets.toSorted((one, other) => one.to - other.to);
    if (first === undefined) throw new RangeError('there is no bucket');
    const bucket = [first, ...others].find((each) => each.to >= to) ?? others.at(-1) ?? first;
    bucket.from = Math.min(bucket.from, from);
    bucket.to = Math.max(bucket.to, to);
    return bucket;
  }
}
