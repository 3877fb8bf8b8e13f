// Copying a store is a walk: a scan finds parts, such as items, and a load makes a state of them. An export, an import, a repair
// and a move to another engine differ only in where the parts come from and go to.
import { counterNumber, type NumberRange, ReservedIds } from './state/reserved-ids.ts';
import { type CollectionNumbers, State } from './state/state.ts';
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

/** Returns the parts of a state. Receipts that have expired at `now` (ms) are left out. */
export function* listParts(storeId: string | undefined, state: State, now: number): Generator<TransferPart> {
  const receipts = state.receipts.unexpired(now);
  yield { kind: 'store', storeId, revision: state.revision, hasReceipts: receipts.length > 0 };
  for (const { entries, count: _, chosen, ...numbers } of state.collections()) {
    yield { kind: 'collection', ...numbers, chosen: [...chosen] };
    for (const entry of entries) yield { kind: 'item', collection: numbers.path, entry };
  }
  for (const change of receipts) yield { kind: 'receipt', change };
}

/** The counters of a collection that was never changed. */
export const noNumbers: CollectionNumbers = { counter: 0, sequence: 0, revision: 0, modified: 0 };

/** The parts of a collection. */
interface LoadedCollection {
  numbers: CollectionNumbers;
  chosen: Iterable<NumberRange>;
  readonly items: Map<string, StoredItem>;
}

/** Makes a state of parts, which can be incomplete and in any order. Of several revisions of an item, the newest is used. */
export class StateLoader {
  readonly #collections = new Map<string, LoadedCollection>();
  readonly #receipts: StoredReceipt[] = [];
  #revision = 0;

  /** Sets the highest assigned revision, unless it is lower than a known one. */
  raiseRevision(revision: number): void {
    this.#revision = Math.max(this.#revision, revision);
  }

  /** Sets the counters of a collection, unless they are lower than known ones. `chosen` are the ids that the counter must skip. */
  raise(path: string, numbers: CollectionNumbers, chosen?: Iterable<NumberRange>): void {
    const collection = this.#collectionAt(path);
    collection.numbers = maxNumbers(collection.numbers, numbers);
    if (chosen !== undefined) collection.chosen = chosen;
    this.raiseRevision(numbers.revision);
  }

  /** Adds an item. If its revision is 0, it becomes the newest one. */
  add(path: string, item: StoredItem): void {
    const { items } = this.#collectionAt(path);
    if ((items.get(item.id)?.revision ?? -1) < item.revision) items.set(item.id, item);
    this.raiseRevision(item.revision);
  }

  /** Removes an item, unless it has a newer revision than the deletion. */
  remove(path: string, id: string, revision: number): void {
    const { items } = this.#collectionAt(path);
    if ((items.get(id)?.revision ?? revision) < revision) items.delete(id);
  }

  addReceipt(change: StoredReceipt): void {
    this.#receipts.push(change);
  }

  /** Returns whether a collection has counters or items. */
  has(path: string): boolean {
    return this.#collections.has(path);
  }

  /** Returns whether a collection has an item with this id. */
  hasItem(path: string, id: string): boolean {
    return this.#collections.get(path)?.items.has(id) ?? false;
  }

  /** Returns the state. The loader must not be used afterwards. */
  load(): State {
    const state = new State(this.#revision);
    for (const [path, { numbers, chosen, items }] of this.#collections) {
      const ordered = this.#order(items.values());
      const all = ordered.reduce((before, item) => maxNumbers(before, { ...item, counter: 0 }), numbers);
      state.restore(path, all, reserveIds(chosen, items.keys(), all.counter), ordered);
    }
    for (const receipt of this.#receipts) state.receipts.restore(receipt);
    return state;
  }

  /** Returns items in ascending sequence. If two have the same sequence, the second one is moved. */
  #order(items: Iterable<StoredItem>): readonly StoredItem[] {
    let last = 0;
    return [...items]
      .sort((one, other) => one.sequence - other.sequence)
      .map((item) => {
        last = Math.max(item.sequence, last + 1);
        if (item.revision > 0 && item.sequence === last) return item;
        if (item.revision === 0) this.#revision += 1;
        return { ...item, sequence: last, revision: item.revision || this.#revision };
      });
  }

  #collectionAt(path: string): LoadedCollection {
    const collection = this.#collections.get(path) ?? {
      numbers: noNumbers,
      chosen: [],
      items: new Map<string, StoredItem>(),
    };
    this.#collections.set(path, collection);
    return collection;
  }
}

function maxNumbers(one: CollectionNumbers, other: CollectionNumbers): CollectionNumbers {
  return {
    counter: Math.max(one.counter, other.counter),
    sequence: Math.max(one.sequence, other.sequence),
    revision: Math.max(one.revision, other.revision),
    modified: Math.max(one.modified, other.modified),
  };
}

/** Returns the ids above the counter: those that were chosen before, and those of the items. */
function reserveIds(chosen: Iterable<NumberRange>, ids: Iterable<string>, counter: number): ReservedIds {
  const reserved = new ReservedIds();
  for (const range of chosen) reserved.append(range);
  for (const id of ids) {
    const number = counterNumber(id);
    if (number !== undefined && number > counter) reserved.add(number);
  }
  return reserved;
}
