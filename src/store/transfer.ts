import type { NumberRange } from './state/reserved-ids.ts';
import type { CollectionNumbers } from './state/state.ts';
import type { StoredItem, StoredReceipt } from './store.ts';

/** The first part of a transferred store. */
export interface TransferredStore {
  readonly kind: 'store';
  /** The id of the store, with which its entity tags begin. Undefined if the receiving store keeps its own. */
  readonly storeId: string | undefined;
  /** The highest revision that was ever assigned. */
  readonly revision: number;
  /** Whether unexpired receipts follow the items. */
  readonly hasReceipts: boolean;
}

/** The counters of a collection. They follow the store and precede the items of the collection. */
export interface TransferredCollection extends CollectionNumbers {
  readonly kind: 'collection';
  readonly path: string;
  /** The ids above the counter that clients ever chose, in ascending order. The counter has to skip them. */
  readonly chosen: readonly NumberRange[];
}

/** An item. The items of a collection are in ascending sequence. */
export interface TransferredItem {
  readonly kind: 'item';
  readonly collection: string;
  readonly entry: StoredItem;
}

/** A change with an unexpired receipt. Receipts follow the items. */
export interface TransferredReceipt {
  readonly kind: 'receipt';
  readonly change: StoredReceipt;
}

/** A part of a transferred store. */
export type TransferPart = TransferredStore | TransferredCollection | TransferredItem | TransferredReceipt;

/**
 * The methods of a store whose whole content can be moved to another store and back. Numbers, times and ids are
 * preserved, so that entity tags remain valid and no id is used again. `Store` requires neither method.
 */
export interface Transferable {
  /**
   * Returns the whole content as of one moment, the collections without a path (OAuth grants and tokens) included: the
   * store, then for each collection its counters and its items, then the receipts.
   */
  exportState(): AsyncIterable<TransferPart>;
  /**
   * Replaces the content of an empty store by the parts, as one atomic step. Resolves to false, and changes nothing, if
   * any collection of the store was ever changed. Rejects with StoreError if the content cannot be stored.
   *
   * @param noncesUntil nonces are not transferred, so from now on, claims whose `until` (ms) is at most this time are
   *   refused: the former store may have accepted them
   */
  importState(parts: AsyncIterable<TransferPart>, noncesUntil: number): Promise<boolean>;
}

/** Returns whether the content of a store can be transferred. */
export function isTransferable<T extends object>(store: T): store is T & Transferable {
  return (
    typeof Reflect.get(store, 'exportState') === 'function' &&
    typeof Reflect.get(store, 'importState') === 'function'
  );
}
