import type { StoredNonce } from '../store.ts';
import { Fingerprint } from './fingerprint.ts';
import { type CountedBucket, NonceShares } from './shares.ts';
import { FingerprintTable } from './table.ts';
import { ForgottenSpans, LeastTime } from './time.ts';

/** How many nonces are kept, how finely time is cut to drop them, and what is drawn and measured for that. */
export interface NoncesOptions {
  /** The time (ms) that one bucket covers: at most so much longer than needed a nonce is kept. */
  readonly bucketSpan: number;
  /** The most nonces kept at once, up to 2,147,483,648. */
  readonly max: number;
  /** The most nonces of one user kept at once, up to `max`; default: a tenth of `max`, at least 1. */
  readonly maxPerUser?: number | undefined;
  /** 16 random bytes that nobody else knows. They are copied. */
  readonly key: Uint8Array;
  /** A clock (ms since any moment) that passes steadily and is never set. */
  readonly monotonic: () => number;
}

/** Says that a user has as many nonces as one user may have. */
export interface ShareUsed {
  /** The time (ms) from which on the user has room for another nonce, while the clock does not jump. */
  readonly freeAt: number;
}

/** The result of a claim; only `fresh` keeps the nonce. */
export type Claimed = 'fresh' | 'seen' | 'full' | ShareUsed;

/** Remembers which nonces were used, as long as a request that carries one could be accepted again. */
export interface Nonces {
  /**
   * Claims a user's nonce in one step. Returns `fresh` if nobody had it before, `seen` if that user did or might
   * have, `full` if there is no room for any nonce, and ShareUsed if there is none for another one of this user.
   * `until` is the time (ms) up to which a request carrying it could still be accepted; the nonce is kept until
   * that has passed and, while the clock does not jump, at most one span longer.
   */
  claim(user: string, nonce: string, until: number, now: number): Claimed;
  /**
   * Resolves when all that was claimed so far outlives the process, and with `durably` also a loss of power; undefined
   * when there is nothing to wait for. Rejects with StoreError when it could not be kept; it stays claimed.
   */
  kept(durably: boolean): Promise<void> | undefined;
  /**
   * Takes the latest claim out of what is written: whoever asks sees to it that the claim is kept with what its
   * request changes, or gives it to `release`. Undefined where nothing is written.
   */
  hold(): StoredNonce | undefined;
  /** Has a claim that was held kept like any other; does nothing where it was kept with a change. */
  release(held: StoredNonce, durably: boolean): Promise<void> | undefined;
  /** How many are kept. */
  readonly size: number;
}

/** Nonces in memory, which can be told what was before. */
export interface MemoryNonces extends Nonces {
  /** Takes a nonce that was claimed before, even if there are more than `max` then; says whether it was not known yet. */
  remember(user: string, nonce: string, until: number): boolean;
  /** Takes every nonce for seen whose `until` (ms) is from `from` to before `to`: what was claimed there is not known. */
  forget(from: number, to: number): void;
}

const mostNonces = 2 ** 31;
/** Tags that the table has for buckets. */
const mostTag = 255;
/** For how many spans a clock must keep to a time it jumped to until that is believed: two hours of 150 s. */
const spansOfDoubt = 48;
/** At least so long (ms) from one piece of sweeping to the next, so that few claims are the ones that wait for it. */
const sweepPause = 8;

/** Makes an empty set of nonces in memory. Throws RangeError for options out of range. */
export function createNonces(options: NoncesOptions): MemoryNonces {
  return new NonceBuckets(options);
}

/** The span of a bucket for requests that may be dated this far (ms) from the clock. */
export function bucketSpanFor(window: number): number {
  return Math.max(1000, window / 4);
}

/** For how long (ms) a clock must keep to a time it jumped to until that is believed. */
export function doubtFor(bucketSpan: number): number {
  return spansOfDoubt * bucketSpan;
}

/** Returns the most nonces that one user may have, unless it is set: a tenth of all, at least 1. */
export function defaultShareOf(max: number): number {
  return Math.max(1, Math.floor(max / 10));
}

/** The nonces whose `until` lies in one span of time, from `from` to before `to`. They are dropped together. */
interface Bucket extends CountedBucket {
  from: number;
  to: number;
  readonly tag: number;
}

/**
 * One table of fingerprints for all buckets, in which each entry is tagged with its bucket. A claim then asks one
 * table, however many buckets there are, and dropping a bucket is marking its tag: its entries are taken out later,
 * some thousands at a time.
 *
 * A fingerprint of 64 bits stands for a nonce. One that was kept is always found again, so no replay passes. A
 * fresh one is taken for a replay when its fingerprint is that of one of the n that are kept: with a chance of at
 * most n / 2^64, which for 10 million is 10^7 / 1.845 × 10^19 = 5.4 × 10^-13 a claim (and 10^-12 at 18 million). An
 * entry takes nine bytes, and a segment of the table is between 40 and 80 % full, which makes 16 bytes each.
 *
 * When a nonce may be forgotten: whoever sends a request again sends its date again, and so claims the same `until`.
 * A clock that was ahead and is set back gives old dates a second life. So a bucket is dropped only when its
 * time has passed both by the clock and by the lowest offset to the steady clock that was seen lately: a clock may go
 * ahead and return, or back and return, within `spansOfDoubt`, and nothing was forgotten that could be accepted again.
 * For what is left, a clock set back to a time it had not lately, the spans of dropped buckets are remembered, and
 * a claim whose `until` lies in one is `seen`: it might have been in there. Only dates that come a second
 * time are refused so: a jump back by less than two windows refuses them for less than one, since dates up to a
 * window ahead were not forgotten; after a longer one either these dates are refused or replays of them pass.
 */
class NonceBuckets implements MemoryNonces {
  readonly #span: number;
  readonly #max: number;
  readonly #maxPerUser: number;
  readonly #monotonic: () => number;
  readonly #fingerprint: Fingerprint;
  readonly #table = new FingerprintTable();
  readonly #leastTime: LeastTime;
  readonly #forgotten = new ForgottenSpans();
  readonly #shares = new NonceShares();
  #buckets: Bucket[] = [];
  /** The bucket that was asked for last. */
  #latest: Bucket | undefined;
  #size = 0;
  /** The time of the claim before. */
  #now = Number.NaN;
  /** When the table was swept last, by the steady clock. */
  #swept = Number.NEGATIVE_INFINITY;

  constructor({ bucketSpan, max, maxPerUser = defaultShareOf(max), key, monotonic }: NoncesOptions) {
    if (!(bucketSpan > 0 && bucketSpan < Infinity)) throw new RangeError('bucketSpan must be above 0');
    if (!(max >= 1 && max <= mostNonces)) throw new RangeError(`max must be from 1 to ${mostNonces}`);
    if (!(maxPerUser >= 1 && maxPerUser <= max)) throw new RangeError(`maxPerUser must be from 1 to ${max}`);
    this.#span = bucketSpan;
    this.#max = max;
    this.#maxPerUser = maxPerUser;
    this.#monotonic = monotonic;
    this.#fingerprint = new Fingerprint(key);
    this.#leastTime = new LeastTime(doubtFor(bucketSpan));
  }

  get size(): number {
    return this.#size;
  }

  claim(user: string, nonce: string, until: number, now: number): Claimed {
    // What has no place in time could never be dropped.
    if (!(Number.isFinite(until) && Number.isFinite(now))) return 'seen';
    if (now !== this.#now) this.#timePassed(now);
    const fingerprint = this.#fingerprint;
    fingerprint.take(user, nonce);
    const { low, high } = fingerprint;
    const share = this.#shares.of(user);
    if (this.#size >= this.#max || share.hasAtLeast(this.#maxPerUser)) {
      if (this.#table.find(low, high) !== 0) return 'seen';
      this.#drop(now);
    }
    if (this.#forgotten.has(until)) return 'seen';
    if (this.#size >= this.#max) return this.#table.find(low, high) === 0 ? 'full' : 'seen';
    if (share.hasAtLeast(this.#maxPerUser)) {
      return this.#table.find(low, high) === 0 ? { freeAt: share.freeAt } : 'seen';
    }
    const bucket = this.#bucketFor(until);
    if (!this.#table.add(low, high, bucket.tag)) return 'seen';
    share.add(bucket);
    this.#size += 1;
    return 'fresh';
  }

  kept(): undefined {}

  hold(): undefined {}

  release(): undefined {}

  remember(user: string, nonce: string, until: number): boolean {
    // It is taken for seen as it is.
    if (this.#forgotten.has(until)) return false;
    this.#fingerprint.take(user, nonce);
    const { low, high } = this.#fingerprint;
    const tag = this.#table.find(low, high);
    if (tag === 0) {
      const bucket = this.#bucketFor(until);
      this.#table.add(low, high, bucket.tag);
      this.#shares.of(user).add(bucket);
      this.#size += 1;
      return true;
    }
    const before = this.#buckets.find((bucket) => bucket.tag === tag && bucket.to <= until);
    if (before === undefined) return false;
    // Claimed again when its first time had passed.
    const bucket = this.#bucketFor(until);
    this.#table.retag(low, high, bucket.tag);
    this.#shares.of(user).move(before, bucket);
    return true;
  }

  forget(from: number, to: number): void {
    this.#forgotten.add(from, to);
  }

  /** Drops what has passed, or else takes a piece of what was dropped before out of the table. */
  #timePassed(now: number): void {
    this.#now = now;
    const steady = this.#monotonic();
    if (this.#drop(this.#leastTime.at(now, steady)) || steady - this.#swept < sweepPause) return;
    this.#swept = steady;
    this.#table.sweep();
    this.#shares.sweep();
  }

  /**
   * Drops the buckets whose time has passed at `time`, and says whether there were any. When the set is full, that
   * is the clock's own time: what is kept only in case that the clock comes back makes room.
   */
  #drop(time: number): boolean {
    let dropped = false;
    for (const bucket of this.#buckets) {
      if (bucket.to > time) continue;
      dropped = true;
      bucket.dropped = true;
      this.#size -= this.#table.entriesOf(bucket.tag);
      this.#table.release(bucket.tag);
      this.#forgotten.add(bucket.from, bucket.to);
    }
    if (!dropped) return false;
    this.#buckets = this.#buckets.filter((bucket) => bucket.to > time);
    this.#latest = undefined;
    if (this.#size === 0) this.#table.clear();
    return true;
  }

  #bucketFor(until: number): Bucket {
    const latest = this.#latest;
    if (latest !== undefined && latest.from <= until && until < latest.to) return latest;
    const there = this.#buckets.find(({ from, to }) => from <= until && until < to);
    this.#latest = there ?? this.#newBucket(until);
    return this.#latest;
  }

  #newBucket(until: number): Bucket {
    const from = Math.floor(until / this.#span) * this.#span;
    const to = from + this.#span;
    const tag = this.#freeTag();
    if (tag === 0) return this.#widenedBucket(from, to);
    const bucket = { from, to, tag, dropped: false };
    this.#buckets.push(bucket);
    return bucket;
  }

  /** A tag that neither a bucket has nor an entry which waits to be taken out; 0 when there is none. */
  #freeTag(): number {
    const inUse = new Set(this.#buckets.map(({ tag }) => tag));
    for (let tag = 1; tag <= mostTag; tag += 1) {
      if (!inUse.has(tag) && this.#table.entriesOf(tag) === 0) return tag;
    }
    return 0;
  }

  /** The bucket which ends next after this span, or else the last one, made to cover the span too. */
  #widenedBucket(from: number, to: number): Bucket {
    const [first, ...others] = this.#buckets.toSorted((one, other) => one.to - other.to);
    if (first === undefined) throw new RangeError('no bucket has a tag');
    const bucket = [first, ...others].find((each) => each.to >= to) ?? others.at(-1) ?? first;
    bucket.from = Math.min(bucket.from, from);
    bucket.to = Math.max(bucket.to, to);
    return bucket;
  }
}
