import { ChosenIds, counterNumber, type NumberRange } from './chosen-ids.ts';
import { CreationOrder } from './creation-order.ts';
import type { Change, Creation, Deletion, Entry, Page, Replacement } from './store.ts';
import { isRecordValue } from './value.ts';

/** The latest time a date can stand for (ECMAScript §21.4.1.1), in ms before and after 1970. */
const latestTime = 8.64e15;

/** A change that may be made: worked out and its numbers drawn, but not visible yet. */
export interface Prepared {
  readonly kind: 'set' | 'delete';
  readonly collection: string;
  /** The entry as it will be; for a deletion, as it was. */
  readonly entry: Entry;
  /** The change's own revision. */
  readonly revision: number;
  /** When (ms). */
  readonly at: number;
}

/** Where a collection's numbers stand. */
export interface CollectionNumbers {
  /** The highest number drawn as an id. */
  readonly counter: number;
  /** The highest sequence drawn. */
  readonly sequence: number;
  /** The revision and the time (ms) of the last change that is visible; 0 when there is none. */
  readonly revision: number;
  readonly modified: number;
}

/** A collection as it is visible, with the numbers that are drawn already. */
export interface CollectionView extends CollectionNumbers {
  readonly path: string;
  readonly chosen: Iterable<NumberRange>;
  readonly entries: Iterable<Entry>;
}

interface Collection {
  readonly order: CreationOrder;
  readonly byId: Map<string, Entry>;
  readonly chosen: ChosenIds;
  counter: number;
  sequence: number;
  revision: number;
  modified: number;
}

/**
 * The collections and their entries in memory. A change is made in two steps, so that a store can make it
 * safe in between: `prepare` judges it against what is visible, `commit` makes it visible. Numbers that a
 * prepared change drew stay drawn when it is never committed. Between the two no other change to the same
 * item may be prepared; commits follow in the order of preparation.
 */
export class State {
  readonly #collections = new Map<string, Collection>();
  #revision: number;

  /** Starts with the highest revision that was ever drawn. */
  constructor(revision = 0) {
    this.#revision = revision;
  }

  /** The highest revision drawn. */
  get revision(): number {
    return this.#revision;
  }

  /** The item, or undefined. */
  read(collection: string, id: string): Entry | undefined {
    return this.#collections.get(collection)?.byId.get(id);
  }

  /** Up to `limit` items whose sequence is greater than `after`. */
  list(collection: string, after: number, limit: number): Page {
    const found = this.#collections.get(collection);
    if (found === undefined) return { entries: [], more: false, revision: 0, modified: 0 };
    const { entries, more } = found.order.after(after, limit);
    return { entries, more, revision: found.revision, modified: found.modified };
  }

  /**
   * Works a change out, or gives undefined when its expectation does not hold.
   * Throws TypeError for a value that is not plain JSON, RangeError for a time that no date can stand for.
   */
  prepare(change: Change): Prepared | undefined {
    const at = Math.floor(change.at);
    if (!(Math.abs(at) <= latestTime)) throw new RangeError('the time of a change is out of range');
    if (change.kind !== 'delete' && !isRecordValue(change.value)) {
      throw new TypeError('the value of an item must be a record of plain JSON');
    }
    switch (change.kind) {
      case 'create':
        return this.#prepareCreation(change, at);
      case 'put':
        return this.#prepareReplacement(change, at);
      case 'delete':
        return this.#prepareDeletion(change, at);
    }
  }

  /** Makes a prepared change visible. */
  commit(prepared: Prepared): void {
    const { entry } = prepared;
    const collection = this.#collection(prepared.collection);
    const known = collection.byId.has(entry.id);
    if (prepared.kind === 'delete') {
      collection.byId.delete(entry.id);
      collection.order.remove(entry.sequence);
    } else {
      collection.byId.set(entry.id, entry);
      if (known) collection.order.replace(entry);
      else collection.order.append(entry);
    }
    collection.revision = Math.max(collection.revision, prepared.revision);
    collection.modified = Math.max(collection.modified, prepared.at);
  }

  /** Every collection that was ever changed. */
  *collections(): Generator<CollectionView> {
    for (const [path, collection] of this.#collections) {
      const { counter, sequence, revision, modified, chosen, order } = collection;
      yield { path, counter, sequence, revision, modified, chosen, entries: order };
    }
  }

  /** Takes in a collection that was kept elsewhere; entries ascend in sequence, ids differ, numbers hold. */
  restore(path: string, numbers: CollectionNumbers, chosen: ChosenIds, entries: Iterable<Entry>): void {
    const collection: Collection = { order: new CreationOrder(), byId: new Map(), chosen, ...numbers };
    for (const entry of entries) {
      collection.byId.set(entry.id, entry);
      collection.order.append(entry);
    }
    this.#collections.set(path, collection);
  }

  #prepareCreation(change: Creation, at: number): Prepared {
    const collection = this.#collection(change.collection);
    const number = collection.chosen.nextFree(collection.counter + 1);
    collection.counter = number;
    collection.chosen.forgetUpTo(number);
    return this.#set(change, String(number), ++collection.sequence, at);
  }

  #prepareReplacement(change: Replacement, at: number): Prepared | undefined {
    const former = this.read(change.collection, change.id);
    if ((former?.revision ?? 'absent') !== change.expected) return undefined;
    // A clock that was set back must not make the item look older than what a client has.
    if (former !== undefined)
      return this.#set(change, change.id, former.sequence, Math.max(at, former.modified));
    const collection = this.#collection(change.collection);
    const number = counterNumber(change.id);
    if (number !== undefined && number > collection.counter) collection.chosen.add(number);
    return this.#set(change, change.id, ++collection.sequence, at);
  }

  #prepareDeletion(change: Deletion, at: number): Prepared | undefined {
    const entry = this.read(change.collection, change.id);
    if (entry === undefined || entry.revision !== change.expected) return undefined;
    return { kind: 'delete', collection: change.collection, entry, revision: ++this.#revision, at };
  }

  #set(change: Creation | Replacement, id: string, sequence: number, at: number): Prepared {
    const revision = ++this.#revision;
    const entry: Entry = { id, sequence, revision, modified: at, value: change.value };
    return { kind: 'set', collection: change.collection, entry, revision, at };
  }

  #collection(path: string): Collection {
    let collection = this.#collections.get(path);
    if (collection === undefined) {
      const numbers = { counter: 0, sequence: 0, revision: 0, modified: 0 };
      collection = { order: new CreationOrder(), byId: new Map(), chosen: new ChosenIds(), ...numbers };
      this.#collections.set(path, collection);
    }
    return collection;
  }
}
