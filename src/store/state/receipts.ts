import type { ReceiptCount, ReceiptedChange } from '../store.ts';

/**
 * The changes of requests that their clients may repeat, by the key of the receipt. Expired receipts are deleted in the order
 * in which they were added, when another one is added.
 */
export class Receipts {
  readonly #changes = new Map<string, ReceiptedChange>();
  /** The keys of each user, in the order in which they were added. */
  readonly #keys = new Map<string, Set<string>>();

  /** The number of receipts, expired ones included. */
  get size(): number {
    return this.#changes.size;
  }

  /** Returns the change with an unexpired receipt of this key. */
  find(key: string, now: number): ReceiptedChange | undefined {
    const found = this.#changes.get(key);
    return found !== undefined && isUnexpired(found, now) ? found : undefined;
  }

  /** Adds a receipt, which replaces an earlier one of the same key, and deletes expired ones. */
  add(change: ReceiptedChange, now: number): void {
    for (const [first, { receipt }] of this.#changes) {
      if (receipt.until > now) break;
      this.#delete(first);
    }
    this.restore(change);
  }

  /** Adds a receipt from a copy. */
  restore(change: ReceiptedChange): void {
    const { key, user } = change.receipt;
    this.#delete(key);
    this.#changes.set(key, change);
    if (user === undefined) return;
    const keys = this.#keys.get(user);
    if (keys === undefined) this.#keys.set(user, new Set([key]));
    else keys.add(key);
  }

  /** Counts the unexpired receipts of a user. */
  of(user: string, now: number): ReceiptCount {
    const keys = this.#keys.get(user) ?? new Set();
    for (const key of keys) {
      const change = this.#changes.get(key);
      if (change !== undefined && isUnexpired(change, now))
        return { count: keys.size, freeAt: change.receipt.until };
      this.#delete(key);
    }
    return { count: 0, freeAt: undefined };
  }

  /** Iterates over all receipts, expired ones included, in the order in which they were added. */
  [Symbol.iterator](): Iterator<ReceiptedChange> {
    return this.#changes.values();
  }

  /** Returns all unexpired receipts, in the order in which they were added. */
  unexpired(now: number): ReceiptedChange[] {
    return [...this].filter((change) => isUnexpired(change, now));
  }

  #delete(key: string): void {
    const user = this.#changes.get(key)?.receipt.user;
    this.#changes.delete(key);
    if (user === undefined) return;
    const keys = this.#keys.get(user);
    keys?.delete(key);
    if (keys?.size === 0) this.#keys.delete(user);
  }
}

function isUnexpired({ receipt }: ReceiptedChange, now: number): boolean {
  return receipt.until > now;
}
