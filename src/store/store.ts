import type { MaybePromise } from '../maybe-promise.ts';
import type { DocumentStore } from './documents.ts';
import type { NonceStore } from './nonces/nonces.ts';

/** The numbers from `first` to `last`, inclusive. */
export interface NumberRange {
  readonly first: number;
  readonly last: number;
}

/** A stored value: plain JSON without null. */
export type StoredValue = string | number | boolean | readonly StoredValue[] | StoredRecord;

/** The fields of an item, by their declared names. */
export interface StoredRecord {
  readonly [name: string]: StoredValue;
}

/** One item of a collection. */
export interface StoredItem {
  /** The id, which is unique in its collection. */
  readonly id: string;
  /** The position of the item in the order of creation within its collection, from 1. */
  readonly sequence: number;
  /** The number of the item's last change. It increases over the whole store and is never used twice, also after a restart. */
  readonly revision: number;
  /** The time of that change, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly modified: number;
  /** The fields of the item. */
  readonly value: StoredRecord;
}

/** Some items of a collection in the order of creation, and the state of the whole collection. */
export interface StoredPage {
  /** The items, in ascending sequence. */
  readonly entries: readonly StoredItem[];
  /** Whether more items follow the last of these. */
  readonly more: boolean;
  /** The revision of the last change to the collection, deletions included; 0 if there was none. */
  readonly revision: number;
  /** The time of that change (ms); 0 if there was none. */
  readonly modified: number;
}

/** Identifies a request that its client may repeat (the Idempotency-Key header field). */
export interface Receipt {
  /** Identifies the principal, the target and the client's key. */
  readonly key: string;
  /** Identifies the content of the request. */
  readonly fingerprint: string;
  /** The time (ms) until which the receipt is stored. */
  readonly until: number;
  /** The principal whose receipts are counted together. Default: the receipt is not counted. */
  readonly user?: string;
}

/** A change that was made for a receipt. */
export interface StoredReceipt {
  /** The receipt, which identifies the request. */
  readonly receipt: Receipt;
  /** What the change did to the item. */
  readonly kind: StoreChange['kind'];
  /** Whether the change added an item. */
  readonly created: boolean;
  /** The path of the collection. */
  readonly collection: string;
  /** The item after the change; for a deletion: before it. */
  readonly entry: StoredItem;
}

/** The unexpired receipts of a user. */
export interface ReceiptCount {
  /** The number of receipts. */
  readonly count: number;
  /** The length of the items in them, as JSON. Stores without this member limit only the number. */
  readonly size?: number;
  /** The time (ms) at which the oldest of them expires; undefined if there are none. */
  readonly freeAt: number | undefined;
}

/** Lists of fields. No two items of a collection have the same values in all fields of a list; an item without one of them differs. */
export type UniqueRules = readonly (readonly string[])[];

/** An item with values that another one may not have. */
export interface UniqueConflict {
  /** The fields of the rule. */
  readonly fields: readonly string[];
  /** The id of the item that has the values. */
  readonly id: string;
}

/** A field whose value is the id of an item of a collection. */
export interface ReferenceRule {
  /** The path template of the collections whose items have the field: `/users/{name}/orders`. */
  readonly from: string;
  /** The name of the field, whose value is text. An item without it refers to nothing. */
  readonly field: string;
  /** The path of the collection that has the item: `/products`. */
  readonly to: string;
}

/** All references between the collections of a service. */
export type ReferenceRules = readonly ReferenceRule[];

/** An item to which a field refers. */
export interface ReferenceTarget {
  /** The name of the field that refers to it. */
  readonly field: string;
  /** The path of its collection. */
  readonly collection: string;
  /** Its id. */
  readonly id: string;
}

/** An item that refers to another one. */
export interface Referrer {
  /** The path of its collection. */
  readonly collection: string;
  /** The item. */
  readonly item: StoredItem;
}

/** The members that all changes have. */
interface Changing {
  /** The path of the collection: `/articles`. */
  readonly collection: string;
  /** The time of the change, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly at: number;
  /**
   * Stored together with the change. If an unexpired receipt with this key is stored, the change is not applied. Only for
   * stores with `receipt`.
   */
  readonly receipt?: Receipt | undefined;
  /**
   * The rules of the collection, which all its changes have. A change that would break one is not applied, and the result has the
   * conflict. Only for stores with `checksUnique`. Default: none.
   */
  readonly unique?: UniqueRules | undefined;
  /**
   * The references between collections. An item that would refer to a missing one, other than itself, is not stored, and the result
   * names that one. An item to which others refer is not deleted, unless the same step deletes or replaces these. Only for stores
   * with `referrers`. Default: not checked.
   */
  readonly references?: ReferenceRules | undefined;
}

/** Adds an item under an id that the store assigns. */
export interface Creation extends Changing {
  /** Adds an item. */
  readonly kind: 'create';
  /** The fields of the item. */
  readonly value: StoredRecord;
}

/** Creates or replaces the item with an id that the client chose, if the item is in the expected state. */
export interface Replacement extends Changing {
  /** Creates or replaces an item. */
  readonly kind: 'put';
  /** The id that the client chose. */
  readonly id: string;
  /** The expected revision; `absent` if no item may exist; `present` if an item of any revision must exist. */
  readonly expected: number | 'absent' | 'present';
  /** The fields of the item. */
  readonly value: StoredRecord;
}

/** Deletes an item if it has the expected revision. */
export interface Deletion extends Changing {
  /** Deletes an item. */
  readonly kind: 'delete';
  /** The id of the item. */
  readonly id: string;
  /** The expected revision. */
  readonly expected: number;
  /**
   * Changes of other items, with the revisions that they expect, which are made in the same atomic step: all of them, or none. They have
   * no receipts. Only with `references`. Default: none.
   */
  readonly also?: readonly (Deletion | Replacement)[] | undefined;
}

/** A change to the store. */
export type StoreChange = Creation | Replacement | Deletion;

/**
 * Called when a change becomes visible.
 * @param sequence the sequence of the item
 * @param entry the item after the change; undefined if it was deleted
 * @param revision the revision of the collection after the change
 */
export type ChangeListener = (sequence: number, entry: StoredItem | undefined, revision: number) => void;

/** The result of a change: the item after it (for a deletion: before it), or why it was not made. */
export type StoreResult =
  | {
      /** Whether the change was made. */
      readonly applied: true;
      /** The item after the change; for a deletion: before it. */
      readonly entry: StoredItem;
    }
  | NotApplied;

/** The result of a change that was not made. */
export interface NotApplied {
  /** Whether the change was made. */
  readonly applied: false;
  /** The unique values that another item has. Default: the item was not in the expected state, or the receipt was stored already. */
  readonly conflict?: UniqueConflict;
  /** The missing item to which the item would refer. Default: as for `conflict`. */
  readonly missing?: ReferenceTarget;
}

/** The first part of a transferred store. */
export interface TransferredStore {
  /** The first part. */
  readonly kind: 'store';
  /** The id of the store, with which its entity tags begin. Undefined if the receiving store keeps its own. */
  readonly storeId: string | undefined;
  /** The highest revision that was ever assigned. */
  readonly revision: number;
}

/** The counters of a collection. */
export interface CollectionNumbers {
  /** The highest number assigned as an id. */
  readonly counter: number;
  /** The highest assigned sequence. */
  readonly sequence: number;
  /** The revision and the time (ms) of the last visible change; 0 if there is none. */
  readonly revision: number;
  /** The time (ms) of the last visible change; 0 if there is none. */
  readonly modified: number;
}

/** The counters of a collection. They follow the store and precede the items of the collection. */
export interface TransferredCollection extends CollectionNumbers {
  /** The counters of a collection. */
  readonly kind: 'collection';
  /** The path of the collection: `/articles`. */
  readonly path: string;
  /** The ids above the counter that clients ever chose, in ascending order. The counter has to skip them. */
  readonly chosen: readonly NumberRange[];
}

/** An item. The items of a collection are in ascending sequence. */
export interface TransferredItem {
  /** An item. */
  readonly kind: 'item';
  /** The path of its collection. */
  readonly collection: string;
  /** The item. */
  readonly entry: StoredItem;
}

/** A change with an unexpired receipt. Receipts follow the items. */
export interface TransferredReceipt {
  /** A receipt. */
  readonly kind: 'receipt';
  /** The change with its receipt. */
  readonly change: StoredReceipt;
}

/** A part of a transferred store. */
export type TransferPart = TransferredStore | TransferredCollection | TransferredItem | TransferredReceipt;

/**
 * Stores items in collections. A collection is identified by its path and needs not be created. The ids that the
 * store assigns count up from 1 per collection, are never reused, and skip all ids that clients ever chose there.
 * The interface is asynchronous, so that an implementation can use a database on another host.
 */
export interface Store {
  /** A few characters that identify this store. They are part of every entity tag. */
  readonly storeId: string;
  /** Returns the item, or undefined if it does not exist. */
  read(collection: string, id: string): MaybePromise<StoredItem | undefined>;
  /**
   * Returns up to `limit` items whose sequence is greater than `after`.
   * @param bytes the number of stored bytes after which a store may end the page early, with at least one item. `more`
   *   is then true. Default: no such limit.
   */
  list(collection: string, after: number, limit: number, bytes?: number): MaybePromise<StoredPage>;
  /**
   * Makes a change if the item is in the expected state, as one atomic step (compare-and-set). When the promise
   * resolves with `applied: true`, the change has the durability that the store offers; no read returns it earlier.
   * Concurrent changes that expect `present` do not wait for each other.
   * Rejects with StoreError if the change could not be stored; then it was not made, unless the error is `uncertain`.
   */
  apply(change: StoreChange): Promise<StoreResult>;
  /** Whether `apply` checks the unique rules of changes. Collections with such rules require it. Default: false. */
  readonly checksUnique?: boolean;
  /**
   * Returns items that refer to an item. Stores with this method check the references of changes, and make the changes of `also` in one
   * step. Collections with references require it.
   * @param most the maximum number of items; if there are more, any of them are returned
   */
  referrers?(
    references: ReferenceRules,
    collection: string,
    id: string,
    most: number,
  ): MaybePromise<readonly Referrer[]>;
  /**
   * Calls a function with each change of a collection, in the turn in which it becomes visible. Lists that are filtered or
   * sorted use it to keep an index. Only for stores whose items are in the memory of this process and change nowhere else;
   * stores without this method are read to the end for such a list.
   * @returns a function that ends the calls
   */
  watch?(collection: string, listener: ChangeListener): () => void;
  /** Returns the change with an unexpired receipt of this key. Stores without this method do not store receipts. */
  receipt?(key: string, now: number): MaybePromise<StoredReceipt | undefined>;
  /** Returns the unexpired receipts of a user. Stores without this method do not limit them. */
  receiptsOf?(user: string, now: number): MaybePromise<ReceiptCount>;
  /** The nonces of signed requests. Default: in memory, or those that the service has. */
  readonly nonces?: NonceStore;
  /** The accounts and the master key of OAuth 1.0a, which several hosts share. Default: accounts come from the configuration only. */
  readonly documents?: DocumentStore;
  /**
   * Returns the whole content as of one moment, the collections without a path (OAuth grants and tokens) included: the
   * store, then for each collection its counters and its items, then the receipts.
   */
  exportState?(): AsyncIterable<TransferPart>;
  /**
   * Replaces the content of an empty store by the parts, as one atomic step. Resolves to false, and changes nothing, if
   * any collection of the store was ever changed. Rejects with StoreError if the content cannot be stored.
   *
   * @param noncesUntil nonces are not transferred, so from now on, claims whose `until` (ms) is at most this time are
   *   refused: the former store may have accepted them
   */
  importState?(parts: AsyncIterable<TransferPart>, noncesUntil: number): Promise<boolean>;
  /** Finishes pending changes and releases all resources. No other method may be called afterwards. */
  close(): Promise<void>;
}

/** A change of an item that was made, with all its numbers. */
export interface MadeChange extends Omit<StoredItem, 'value'> {
  /** `create` if the store assigned the id. */
  readonly kind: 'create' | 'put' | 'delete';
  readonly collection: string;
  /** Undefined for a deletion. */
  readonly value?: StoredRecord;
}
