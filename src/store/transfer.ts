// Copying a store is a walk: a scan finds parts, such as items, and a load makes a state of them. An export, an import, a repair
// and a move to another engine differ only in where the parts come from and go to.
import { counterNumber, type NumberRange, ReservedIds } from './state/reserved-ids.ts';
import { State } from './state/state.ts';
import type { CollectionNumbers, Store, StoredItem, StoredReceipt, TransferPart } from './store.ts';

/**
 * The methods of a store whose whole content can be moved to another store and back. Numbers, times and ids are preserved, so that
 * entity tags remain valid and no id is used again.
 */
export type Transferable = Required<Pick<Store, 'exportState' | 'importState'>>;

/** Returns whether the content of a store can be transferred. */
export function isTransferable<T extends Store>(store: T): store is T & Transferable {
  return typeof store.exportState === 'function' && typeof store.importState === 'function';
}

/** Returns the parts of a state. Receipts that have expired at `now` (ms) are left out. */
export function* listParts(storeId: string | undefined, state: State, now: number): Generator<TransferPart> {
  const receipts = state.receipts.unexpired(now);
  yield { kind: 'store', storeId, revision: state.revision };
  for (const { entries, count: _, chosen, ...numbers } of state.collections()) {
    yield { kind: 'collection', ...numbers, chosen: [...chosen] };
    for (const entry of entries) yield { kind: 'item', collection: numbers.path, entry };
  }
  for (const change of receipts) yield { kind: 'receipt', change };
}

/** The counters of a collection that was never changed. */
const noNumbers: CollectionNumbers = { counter: 0, sequence: 0, revision: 0, modified: 0 };

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
