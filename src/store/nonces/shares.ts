/** The members of a bucket that the counts of nonces depend on. */
export interface CountedBucket {
  /** When its nonces expire (ms). */
  readonly to: number;
  /** Whether its nonces have expired: they are then no longer counted. */
  dropped: boolean;
}

/** The number of a user's nonces in one bucket. */
interface Part {
  readonly bucket: CountedBucket;
  count: number;
}

function isLive({ bucket, count }: Part): boolean {
  return !bucket.dropped && count > 0;
}

/** Counts the nonces of one user, by bucket. */
class NonceShare {
  /** The sum of all parts; that of a dropped bucket is included until it is removed. */
  #total = 0;
  /** The bucket counted last is at the end. */
  #parts: Part[] = [];

  /** Returns whether the user has at least so many nonces. */
  hasAtLeast(count: number): boolean {
    if (this.#total < count) return false;
    this.removeDropped();
    return this.#total >= count;
  }

  /** The time when the first nonces expire (ms); Infinity if there are none. */
  get freeAt(): number {
    return Math.min(...this.#parts.filter(isLive).map(({ bucket }) => bucket.to));
  }

  /** Counts another nonce in this bucket. */
  add(bucket: CountedBucket): void {
    const last = this.#parts.at(-1);
    if (last?.bucket === bucket) last.count += 1;
    else this.#addElsewhere(bucket);
    this.#total += 1;
  }

  /** Counts a nonce in another bucket than before. */
  move(from: CountedBucket, to: CountedBucket): void {
    const part = this.#parts.find(({ bucket }) => bucket === from);
    if (part === undefined) return;
    part.count -= 1;
    this.#total -= 1;
    this.add(to);
  }

  /** Removes the parts whose nonces have expired or were moved. Returns how many nonces are left. */
  removeDropped(): number {
    if (this.#parts.every(isLive)) return this.#total;
    this.#parts = this.#parts.filter(isLive);
    this.#total = this.#parts.reduce((total, { count }) => total + count, 0);
    return this.#total;
  }

  /** Counts a nonce in a bucket that is not at the end, and puts that there. */
  #addElsewhere(bucket: CountedBucket): void {
    const at = this.#parts.findIndex((part) => part.bucket === bucket);
    const [part = { bucket, count: 0 }] = at < 0 ? [] : this.#parts.splice(at, 1);
    this.removeDropped();
    part.count += 1;
    this.#parts.push(part);
  }
}

/** The number of users that one sweep checks. */
const usersPerSweep = 16;

/**
 * Counts the nonces of each user. Dropping a bucket marks it and touches no user: the count of a user is corrected
 * when it seems to be used up, when the user's nonces begin a bucket, and when a sweep passes. So a claim costs one
 * look-up, and a drop costs the same however many users there are.
 */
export class NonceShares {
  readonly #shares = new Map<string, NonceShare>();
  #sweeping: Iterator<[string, NonceShare]> = this.#shares.entries();

  /** Returns the count of a user's nonces. It is valid for one claim only. */
  of(user: string): NonceShare {
    const existing = this.#shares.get(user);
    if (existing !== undefined) return existing;
    const share = new NonceShare();
    this.#shares.set(user, share);
    return share;
  }

  /** Corrects the counts of some users, and removes those that have no nonce left. */
  sweep(): void {
    for (let looked = 0; looked < usersPerSweep; looked += 1) {
      const next = this.#sweeping.next();
      if (next.done === true) {
        this.#sweeping = this.#shares.entries();
        return;
      }
      const [user, share] = next.value;
      if (share.removeDropped() === 0) this.#shares.delete(user);
    }
  }
}
