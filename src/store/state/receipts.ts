import type { ReceiptCount, StoredReceipt } from '../store.ts';

/**
 * The changes of requests that their clients may repeat, by the key of the receipt. Expired receipts are deleted in the order
 * in which they were added, when another one is added.
 */
export class Receipts {
  readonly #changes = new Map<string, StoredReceipt>();
  readonly #owned = new Map<string, OwnedReceipts>();

  /** Returns the change with an unexpired receipt of this key. */
  find(key: string, now: number): StoredReceipt | undefined {
    const found = this.#changes.get(key);
    return found !== undefined && isUnexpired(found, now) ? found : undefined;
  }

  /** Adds a receipt, which replaces an earlier one of the same key, and deletes expired ones. */
  add(change: StoredReceipt, now: number): void {
    for (const [first, { receipt }] of this.#changes) {
      if (receipt.until > now) break;
      this.#delete(first);
    }
    this.restore(change);
  }

  /** Adds a receipt from a copy. */
  restore(change: StoredReceipt): void {
    const { key, user } = change.receipt;
    this.#delete(key);
    this.#changes.set(key, change);
    if (user === undefined) return;
    const owned = this.#owned.get(user) ?? { sizes: new Map(), size: 0 };
    const size = JSON.stringify(change.entry.value).length;
    owned.sizes.set(key, size);
    owned.size += size;
    this.#owned.set(user, owned);
  }

  /** Counts the unexpired receipts of a user. */
  of(user: string, now: number): ReceiptCount {
    const owned = this.#owned.get(user);
    for (const key of owned?.sizes.keys() ?? []) {
      const change = this.#changes.get(key);
      if (change !== undefined && isUnexpired(change, now))
        return { count: owned?.sizes.size ?? 0, size: owned?.size ?? 0, freeAt: change.receipt.until };
      this.#delete(key);
    }
    return { count: 0, size: 0, freeAt: undefined };
  }

  /** Iterates over all receipts, expired ones included, in the order in which they were added. */
  [Symbol.iterator](): Iterator<StoredReceipt> {
    return this.#changes.values();
  }

  /** Returns all unexpired receipts, in the order in which they were added. */
  unexpired(now: number): StoredReceipt[] {
    return [...this].filter((change) => isUnexpired(change, now));
  }

  #delete(key: string): void {
    const user = this.#changes.get(key)?.receipt.user;
    this.#changes.delete(key);
    if (user === undefined) return;
    const owned = this.#owned.get(user);
    if (owned === undefined) return;
    owned.size -= owned.sizes.get(key) ?? 0;
    owned.sizes.delete(key);
    if (owned.sizes.size === 0) this.#owned.delete(user);
  }
}

/** The receipts of a user. */
interface OwnedReceipts {
  /** The lengths of the items, as JSON, by the keys of the receipts, in the order in which they were added. */
  readonly sizes: Map<string, number>;
  /** The sum of the lengths. */
  size: number;
}

function isUnexpired({ receipt }: StoredReceipt, now: number): boolean {
  return receipt.until > now;
}
