// Makes a change in two steps: `prepare` checks it and assigns its numbers, `commit` makes it visible. In between, a durable
// store writes it to the journal, so a read never shows a change that a crash could undo.
import { latest } from '../nonces/time.ts';
import type { Record } from '../record.ts';
import type {
  ChangeListener,
  CollectionNumbers,
  Creation,
  Deletion,
  MadeChange,
  NotApplied,
  NumberRange,
  ReferenceRules,
  Referrer,
  Replacement,
  StoreChange,
  StoredItem,
  StoredPage,
  StoredReceipt,
  TransferPart,
  TransferredCollection,
  UniqueRules,
} from '../store.ts';
import { isRecordValue } from '../value.ts';
import { OrderedItems } from './ordered-items.ts';
import { Receipts } from './receipts.ts';
import { itemKey, ReferenceIndex } from './references.ts';
import { counterNumber, ReservedIds } from './reserved-ids.ts';
import { UniqueKeys } from './unique-keys.ts';

/** Returns the revision of a change: greater than `highest`, the highest revision before it. */
export type AssignRevision = (highest: number, change: StoreChange) => number;

const countUp: AssignRevision = (highest) => highest + 1;

const notApplied: NotApplied = { applied: false };

/** A change that was checked and has its numbers, but is not visible yet. */
export interface Prepared {
  readonly kind: 'set' | 'delete';
  readonly collection: string;
  /** The entry after the change; for a deletion: before it. */
  readonly entry: StoredItem;
  /** The revision of the change. */
  readonly revision: number;
  /** The time of the change (ms). */
  readonly at: number;
  /** The change with its receipt, if it has one. */
  readonly receipted?: StoredReceipt;
  /** The changes of other items that are made in the same step. */
  readonly also?: readonly Prepared[];
}

/** The visible state of a collection, with its counters. */
export interface CollectionView extends CollectionNumbers {
  readonly path: string;
  /** The ids that clients chose and that the counter has to skip. */
  readonly chosen: Iterable<NumberRange>;
  readonly entries: Iterable<StoredItem>;
  /** The number of entries. */
  readonly count: number;
}

interface Collection {
  readonly order: OrderedItems;
  readonly items: Map<string, StoredItem>;
  /** Since the first change with unique rules. */
  unique?: UniqueKeys;
  chosen: ReservedIds;
  counter: number;
  sequence: number;
  revision: number;
  modified: number;
}

/**
 * The collections and their entries in memory. A change is made in two steps, so that a store can write it in between:
 * `prepare` checks it against the visible state, and `commit` makes it visible. The numbers of a prepared change are not
 * reused if it is never committed. Before a change is committed, another change of the same item may only be prepared
 * on top of it. Changes must be committed in the order in which they were prepared, without gaps.
 */
export class State {
  /** The receipts of visible changes. */
  readonly receipts = new Receipts();
  readonly #collections = new Map<string, Collection>();
  /** The listeners of each watched collection. */
  readonly #listeners = new Map<string, Set<ChangeListener>>();
  /** Since the first change with references. */
  #references: ReferenceIndex | undefined;
  #revision: number;

  readonly #assign: AssignRevision;

  /**
   * @param revision the highest assigned revision
   * @param assign Default: each revision is the next number.
   */
  constructor(revision = 0, assign = countUp) {
    this.#revision = revision;
    this.#assign = assign;
  }

  /** The highest assigned revision. */
  get revision(): number {
    return this.#revision;
  }

  /** Returns the item, or undefined. */
  read(collection: string, id: string): StoredItem | undefined {
    return this.#collections.get(collection)?.items.get(id);
  }

  /** Returns up to `limit` items whose sequence is greater than `after`: see Store.list. */
  list(collection: string, after: number, limit: number): StoredPage {
    const found = this.#collections.get(collection);
    if (found === undefined) return { entries: [], more: false, revision: 0, modified: 0 };
    const { entries, more } = found.order.after(after, limit);
    return { entries, more, revision: found.revision, modified: found.modified };
  }

  /** Returns items that refer to an item: see Store.referrers. */
  referrers(rules: ReferenceRules, collection: string, id: string, most: number): readonly Referrer[] {
    return Array.from(this.#indexOf(rules).referrersOf({ collection, id }))
      .slice(0, most)
      .flatMap((place) => {
        const item = this.read(place.collection, place.id);
        return item === undefined ? [] : [{ collection: place.collection, item }];
      });
  }

  /** Returns whether the visible item is in the state that a change expects. */
  expectationHolds(change: StoreChange): boolean {
    return change.kind === 'create' || isExpected(this.read(change.collection, change.id), change.expected);
  }

  /**
   * Prepares a change. Returns why it is not made if the item is not in the expected state, if its receipt is stored already, if
   * another visible item has its unique values, or if references would be broken.
   * Throws TypeError if the value is not plain JSON, RangeError if the time is out of range.
   * @param before a prepared change of the same item that is not committed yet, after which the change is checked
   */
  prepare(change: StoreChange, before?: Prepared): Prepared | NotApplied {
    const at = Math.floor(change.at);
    if (!(Math.abs(at) <= latest)) throw new RangeError('the time of a change is out of range');
    if (change.kind !== 'delete' && !isRecordValue(change.value)) {
      throw new TypeError('the value of an item must be a record of plain JSON');
    }
    if (change.receipt !== undefined) return this.#prepareReceipted(change, at, before);
    return this.#prepareUnique(change, at, before);
  }

  /** Makes a prepared change visible. */
  commit(prepared: Prepared): void {
    this.#commitItem(prepared);
    for (const other of prepared.also ?? []) this.#commitItem(other);
  }

  #commitItem(prepared: Prepared): void {
    const { entry, revision, at } = prepared;
    const collection = this.#collection(prepared.collection);
    const former = collection.items.get(entry.id);
    if (former !== undefined) {
      collection.unique?.remove(former);
      this.#references?.remove(prepared.collection, former);
    }
    if (prepared.kind === 'set') {
      collection.unique?.add(entry);
      this.#references?.add(prepared.collection, entry);
      place(collection, entry, former);
    } else {
      collection.items.delete(entry.id);
      collection.order.remove(entry.sequence);
    }
    collection.revision = Math.max(collection.revision, revision);
    collection.modified = Math.max(collection.modified, at);
    if (prepared.receipted !== undefined) this.receipts.add(prepared.receipted, at);
    if (this.#listeners.size > 0) this.#notify(prepared, collection.revision);
  }

  /** Calls a function with each change that is committed: see Store.watch. */
  watch(path: string, listener: ChangeListener): () => void {
    const listeners = this.#listeners.get(path) ?? new Set();
    this.#listeners.set(path, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(path) === listeners) this.#listeners.delete(path);
    };
  }

  /** Iterates over all collections that were ever changed. */
  *collections(): Generator<CollectionView> {
    for (const [path, collection] of this.#collections) yield buildView(path, collection);
  }

  /** Returns a collection, or undefined if it was never changed. */
  collection(path: string): CollectionView | undefined {
    const collection = this.#collections.get(path);
    return collection === undefined ? undefined : buildView(path, collection);
  }

  /**
   * Returns the content as records: the store, each collection with its items, then the receipts that have not expired.
   * @param storeId undefined if the receiving store keeps its own
   * @param now the time (ms) of expiry. Default: expired receipts are included.
   */
  *records(storeId: string | undefined, now = Number.NEGATIVE_INFINITY): Generator<TransferPart> {
    const receipts = this.receipts.unexpired(now);
    yield { kind: 'store', storeId, revision: this.#revision };
    for (const [collection, { counter, sequence, revision, modified, chosen, order }] of this.#collections) {
      const numbers = { counter, sequence, revision, modified, chosen: [...chosen] };
      yield { kind: 'collection', path: collection, ...numbers };
      for (const entry of order) yield { kind: 'item', collection, entry };
    }
    for (const change of receipts) yield { kind: 'receipt', change };
  }

  /**
   * Adds a record that was stored. Changes must be added in their original order. An item of the same or a newer revision is not
   * changed: a snapshot that was copied during changes may contain this change and later ones. Numbers never decrease.
   */
  take(record: Record): void {
    switch (record.kind) {
      case 'head':
      case 'store':
        this.#revision = Math.max(this.#revision, record.revision);
        break;
      case 'collection':
        this.#takeNumbers(record);
        break;
      case 'item':
        this.#takeItem(record.collection, record.entry);
        break;
      case 'change':
        this.#takeChange(record.change);
        for (const other of record.also ?? []) this.#takeChange(other);
        if (record.receipted !== undefined) this.receipts.add(record.receipted, record.change.modified);
        break;
      case 'receipt':
        this.receipts.restore(record.change);
        break;
      default:
        break; // it is not part of the state
    }
  }

  #takeNumbers(numbers: TransferredCollection): void {
    const collection = this.#collection(numbers.path);
    // Later counters of a collection also have all earlier ids that are still above the counter.
    if (numbers.revision >= collection.revision) {
      collection.chosen = new ReservedIds();
      for (const range of numbers.chosen) collection.chosen.append(range);
    }
    collection.counter = Math.max(collection.counter, numbers.counter);
    this.#raise(collection, numbers);
  }

  #takeItem(path: string, entry: StoredItem): void {
    const collection = this.#collection(path);
    this.#raise(collection, entry);
    reserveId(collection, 'put', entry.id);
    const present = collection.items.get(entry.id);
    if (present === undefined || present.revision < entry.revision) place(collection, entry, present);
  }

  #takeChange(change: MadeChange): void {
    const { kind, id, sequence, revision, modified, value = {} } = change;
    const collection = this.#collection(change.collection);
    this.#raise(collection, change);
    reserveId(collection, kind, id);
    const present = collection.items.get(id);
    if (present !== undefined && present.revision >= revision) return;
    if (kind !== 'delete') place(collection, { id, sequence, revision, modified, value }, present);
    else if (present !== undefined) {
      collection.items.delete(id);
      collection.order.remove(present.sequence);
    }
  }

  /** Raises the numbers of a collection, and the highest revision, to those of a record. */
  #raise(collection: Collection, { sequence, revision, modified }: Omit<CollectionNumbers, 'counter'>): void {
    if (sequence > collection.sequence) collection.sequence = sequence;
    if (revision > collection.revision) collection.revision = revision;
    if (modified > collection.modified) collection.modified = modified;
    if (revision > this.#revision) this.#revision = revision;
  }

  #notify({ kind, collection, entry }: Prepared, revision: number): void {
    for (const listener of this.#listeners.get(collection) ?? [])
      listener(entry.sequence, kind === 'set' ? entry : undefined, revision);
  }

  #prepareUnique(change: StoreChange, at: number, before: Prepared | undefined): Prepared | NotApplied {
    const { unique } = change;
    if (unique !== undefined && change.kind !== 'delete') {
      const id = change.kind === 'create' ? undefined : change.id;
      const conflict = this.#keysOf(change.collection, unique).findConflict(change.value, id);
      if (conflict !== undefined) return { applied: false, conflict };
    }
    return this.#prepareReferring(change, at, before);
  }

  #prepareReferring(change: StoreChange, at: number, before: Prepared | undefined): Prepared | NotApplied {
    if (change.references !== undefined) {
      const index = this.#indexOf(change.references);
      if (change.kind === 'delete') return this.#prepareTogether(change, at, before, index) ?? notApplied;
      const { collection, value } = change;
      const own = change.kind === 'create' ? undefined : itemKey(change);
      const missing = index
        .targetsOf(collection, value)
        .find((target) => itemKey(target) !== own && this.read(target.collection, target.id) === undefined);
      if (missing !== undefined) return { applied: false, missing };
    }
    return this.#prepareExpected(change, at, before) ?? notApplied;
  }

  /** Prepares a deletion with the changes that are made in the same step. Returns undefined if one of them does not apply, or if other items refer to a deleted one. */
  #prepareTogether(
    change: Deletion,
    at: number,
    before: Prepared | undefined,
    index: ReferenceIndex,
  ): Prepared | undefined {
    const { also = [] } = change;
    const after = new Map([change, ...also].map((each) => [itemKey(each), each]));
    const breaks = (place: { readonly collection: string; readonly id: string }): boolean => {
      const other = after.get(itemKey(place));
      if (other === undefined) return true;
      if (other.kind === 'delete') return false;
      return index
        .targetsOf(other.collection, other.value)
        .some((target) => after.get(itemKey(target))?.kind === 'delete');
    };
    for (const each of after.values())
      if (each.kind === 'delete' && Array.from(index.referrersOf(each)).some(breaks)) return undefined;
    const prepared = this.#prepareDeletion(change, at, before);
    if (prepared === undefined || also.length === 0) return prepared;
    const others = also.map((each) => this.#prepareExpected(each, at, undefined));
    const made = others.filter((each) => each !== undefined);
    return made.length < others.length ? undefined : { ...prepared, also: made };
  }

  /** Returns the references between items. They are collected when the first change has these rules. */
  #indexOf(rules: ReferenceRules): ReferenceIndex {
    if (this.#references?.follows(rules) !== true)
      this.#references = new ReferenceIndex(rules, this.collections());
    return this.#references;
  }

  /** Returns the unique keys of a collection. They are collected when its first change has these rules. */
  #keysOf(path: string, rules: UniqueRules): UniqueKeys {
    const collection = this.#collection(path);
    if (collection.unique?.follows(rules) !== true)
      collection.unique = new UniqueKeys(rules, collection.items.values());
    return collection.unique;
  }

  #prepareExpected(change: StoreChange, at: number, before: Prepared | undefined): Prepared | undefined {
    switch (change.kind) {
      case 'create':
        return this.#prepareCreation(change, at);
      case 'put':
        return this.#prepareReplacement(change, at, this.#findFormer(change, before));
      case 'delete':
        return this.#prepareDeletion(change, at, before);
    }
  }

  #prepareReceipted(change: StoreChange, at: number, before: Prepared | undefined): Prepared | NotApplied {
    const { receipt, kind, collection } = change;
    if (receipt === undefined || this.receipts.find(receipt.key, at) !== undefined) return notApplied;
    const created = kind === 'create' || (kind === 'put' && this.#findFormer(change, before) === undefined);
    const prepared = this.#prepareUnique(change, at, before);
    if ('applied' in prepared) return prepared;
    return { ...prepared, receipted: { receipt, kind, created, collection, entry: prepared.entry } };
  }

  #prepareCreation(change: Creation, at: number): Prepared {
    const collection = this.#collection(change.collection);
    const number = collection.chosen.nextFree(collection.counter + 1);
    collection.counter = number;
    collection.chosen.removeUpTo(number);
    return this.#set(change, String(number), ++collection.sequence, at);
  }

  #findFormer(change: Replacement | Deletion, before: Prepared | undefined): StoredItem | undefined {
    if (before === undefined) return this.read(change.collection, change.id);
    return before.kind === 'set' ? before.entry : undefined;
  }

  #prepareReplacement(change: Replacement, at: number, former: StoredItem | undefined): Prepared | undefined {
    if (!isExpected(former, change.expected)) return undefined;
    // If the clock was set back, the item must not become older than the copy of a client.
    if (former !== undefined)
      return this.#set(change, change.id, former.sequence, Math.max(at, former.modified));
    const collection = this.#collection(change.collection);
    const number = counterNumber(change.id);
    if (number !== undefined && number > collection.counter) collection.chosen.add(number);
    return this.#set(change, change.id, ++collection.sequence, at);
  }

  #prepareDeletion(change: Deletion, at: number, before: Prepared | undefined): Prepared | undefined {
    if (this.#findFormer(change, before)?.revision !== change.expected) return undefined;
    const { collection, id } = change;
    const entry = before?.entry ?? this.read(collection, id);
    if (entry === undefined) return undefined;
    return { kind: 'delete', collection, entry, revision: this.#nextRevision(change), at };
  }

  #set(change: Creation | Replacement, id: string, sequence: number, at: number): Prepared {
    const revision = this.#nextRevision(change);
    const entry: StoredItem = { id, sequence, revision, modified: at, value: change.value };
    return { kind: 'set', collection: change.collection, entry, revision, at };
  }

  #nextRevision(change: StoreChange): number {
    this.#revision = this.#assign(this.#revision, change);
    return this.#revision;
  }

  #collection(path: string): Collection {
    const found = this.#collections.get(path);
    if (found !== undefined) return found;
    const collection: Collection = {
      order: new OrderedItems(),
      items: new Map(),
      chosen: new ReservedIds(),
      counter: 0,
      sequence: 0,
      revision: 0,
      modified: 0,
    };
    this.#collections.set(path, collection);
    return collection;
  }
}

function buildView(path: string, collection: Collection): CollectionView {
  const { counter, sequence, revision, modified, chosen, order, items } = collection;
  return { path, counter, sequence, revision, modified, chosen, entries: order, count: items.size };
}

function isExpected(former: StoredItem | undefined, expected: Replacement['expected']): boolean {
  return expected === 'present' ? former !== undefined : (former?.revision ?? 'absent') === expected;
}

/** Updates the counter, or the ids that it has to skip, for an id that was used. */
function reserveId(collection: Collection, kind: MadeChange['kind'], id: string): void {
  // Most ids are below the counter, or no numbers.
  if (!(Number(id) > collection.counter)) return;
  const number = counterNumber(id);
  if (number === undefined) return;
  if (kind === 'put') collection.chosen.add(number);
  if (kind !== 'create') return;
  collection.counter = number;
  collection.chosen.removeUpTo(number);
}

/** Adds an item, or replaces an earlier version of it. In damaged data, another item may have its sequence: then it is moved to the end. */
function place(collection: Collection, entry: StoredItem, present: StoredItem | undefined): void {
  const { order, items } = collection;
  if (present?.sequence === entry.sequence) {
    order.replace(entry);
    items.set(entry.id, entry);
    return;
  }
  if (present !== undefined) order.remove(present.sequence);
  const isTaken = entry.sequence < 1 || (entry.sequence <= order.last && order.has(entry.sequence));
  if (isTaken) collection.sequence += 1;
  const placed = isTaken ? { ...entry, sequence: collection.sequence } : entry;
  order.insert(placed);
  items.set(placed.id, placed);
}
