import type { Change, Creation, Deletion, Entry, Page, RecordValue, Replacement } from '../store.ts';
import { isRecordValue } from '../value.ts';
import { type EncodedLines, type EntryHead, scanLines } from './encoded/lines.ts';
import { IdIndex } from './id-index.ts';
import { OrderedIndex } from './ordered-index.ts';
import { counterNumber, type NumberRange, ReservedIds } from './reserved-ids.ts';

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
  /** How many entries there are. */
  readonly count: number;
}

/** A change as it was made visible once, with every number it drew. */
export interface MadeChange {
  /** `create`: the store picked the id. */
  readonly kind: 'create' | 'put' | 'delete';
  readonly collection: string;
  readonly id: string;
  /** That of the item. */
  readonly sequence: number;
  /** The change's own. */
  readonly revision: number;
  /** When (ms). */
  readonly modified: number;
  /** None for a deletion. */
  readonly value?: RecordValue;
}

interface Collection {
  readonly order: OrderedIndex;
  /** The sequence of each item. */
  readonly ids: IdIndex;
  chosen: ReservedIds;
  counter: number;
  sequence: number;
  revision: number;
  modified: number;
}

/**
 * The collections and their entries in memory. A change is made in two steps, so that a store can make it
 * safe in between: `prepare` judges it against what is visible, `commit` makes it visible. Numbers that a
 * prepared change drew stay drawn when it is never committed. Between the two another change to the same item
 * may be prepared only on top of it; commits follow in the order of preparation, or none does from some change on.
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
    return entryIn(this.#collections.get(collection), id);
  }

  /** Returns up to `limit` items whose sequence is greater than `after`, or fewer as Store.list says. */
  list(collection: string, after: number, limit: number, bytes?: number): Page {
    const found = this.#collections.get(collection);
    if (found === undefined) return { entries: [], more: false, revision: 0, modified: 0 };
    const { entries, more } = found.order.after(after, limit, bytes);
    return { entries, more, revision: found.revision, modified: found.modified };
  }

  /** Whether what a change expects is visible now. */
  expectationHolds(change: Change): boolean {
    return change.kind === 'create' || isExpected(this.#headOf(change), change.expected);
  }

  /**
   * Works a change out, or gives undefined when its expectation does not hold. It is judged against what is visible, or
   * against what a change to the same item that is prepared already, `before`, makes of it.
   * Throws TypeError for a value that is not plain JSON, RangeError for a time that no date can stand for.
   */
  prepare(change: Change, before?: Prepared): Prepared | undefined {
    const at = Math.floor(change.at);
    if (!(Math.abs(at) <= latestTime)) throw new RangeError('the time of a change is out of range');
    if (change.kind !== 'delete' && !isRecordValue(change.value)) {
      throw new TypeError('the value of an item must be a record of plain JSON');
    }
    switch (change.kind) {
      case 'create':
        return this.#prepareCreation(change, at);
      case 'put':
        return this.#prepareReplacement(change, at, this.#formerOf(change, before));
      case 'delete':
        return this.#prepareDeletion(change, at, before);
    }
  }

  /** Makes a prepared change visible. */
  commit(prepared: Prepared): void {
    const { entry } = prepared;
    const collection = this.#collection(prepared.collection);
    if (prepared.kind === 'delete') {
      collection.ids.delete(entry.id);
      collection.order.remove(entry.sequence);
    } else if (collection.ids.get(entry.id) !== undefined) {
      collection.order.replace(entry);
    } else {
      collection.order.append(entry);
      collection.ids.set(entry.id, entry.sequence);
    }
    collection.revision = Math.max(collection.revision, prepared.revision);
    collection.modified = Math.max(collection.modified, prepared.at);
  }

  /** Every collection that was ever changed. */
  *collections(): Generator<CollectionView> {
    for (const [path, collection] of this.#collections) yield viewOf(path, collection);
  }

  /** One collection, or undefined when it was never changed. */
  collection(path: string): CollectionView | undefined {
    const collection = this.#collections.get(path);
    return collection === undefined ? undefined : viewOf(path, collection);
  }

  /** What to copy next of a collection after this sequence: see OrderedIndex.next. */
  next(path: string, sequence: number, limit: number, end: number): EncodedLines[] {
    return this.#collections.get(path)?.order.next(sequence, limit, end) ?? [];
  }

  /** Takes in a collection that was kept elsewhere; entries ascend in sequence, ids differ, numbers hold. */
  restore(path: string, numbers: CollectionNumbers, chosen: ReservedIds, entries: Iterable<Entry>): void {
    const collection = this.#begin(path, numbers, chosen);
    this.#revision = Math.max(this.#revision, numbers.revision);
    for (const entry of entries) {
      collection.order.append(entry);
      collection.ids.set(entry.id, entry.sequence);
    }
  }

  /** Takes in the numbers of a collection as a part of a snapshot has them; those of a later part count. */
  restoreNumbers(path: string, numbers: CollectionNumbers, chosen: ReservedIds): void {
    const collection = this.#collections.get(path);
    if (collection === undefined) this.#begin(path, numbers, chosen);
    else Object.assign(collection, numbers, { chosen });
    this.#revision = Math.max(this.#revision, numbers.revision);
  }

  /**
   * Takes in items of a collection whose numbers are there, as the lines that a snapshot has of them, at least one; the
   * bytes are copied. An item is read when somebody asks for it. Gives how many these are, or undefined when the lines
   * are not those of items, do not ascend from the items before or have an id that is there already.
   */
  restoreLines(path: string, bytes: Buffer): number | undefined {
    const { ids, order, sequence } = this.#collection(path);
    const lines = scanLines(bytes, (id, its) => ids.add(id, its));
    const [first, last] = [lines?.sequences[0] ?? 0, lines?.sequences.at(-1) ?? 0];
    if (lines === undefined || !(first > order.last && last <= sequence)) return undefined;
    order.appendLines(lines);
    return lines.sequences.length;
  }

  /**
   * Makes a change again that was made before, in the order in which they were made. What is here already, or newer,
   * stays: a snapshot that was copied while changes went on may have this one, and later ones.
   */
  replay(change: MadeChange): void {
    const { kind, id, sequence, revision, modified } = change;
    const collection = this.#collection(change.collection);
    this.#revision = Math.max(this.#revision, revision);
    collection.sequence = Math.max(collection.sequence, sequence);
    collection.revision = Math.max(collection.revision, revision);
    collection.modified = Math.max(collection.modified, modified);
    replayId(collection, kind, id);
    const present = headIn(collection, id);
    if (present !== undefined && present.revision >= revision) return;
    if (present !== undefined && (kind === 'delete' || present.sequence !== sequence)) {
      collection.ids.delete(id);
      collection.order.remove(present.sequence);
    }
    if (kind === 'delete') return;
    const entry: Entry = { id, sequence, revision, modified, value: change.value ?? {} };
    collection.ids.set(id, sequence);
    if (present?.sequence === sequence) collection.order.replace(entry);
    else collection.order.insert(entry);
  }

  #prepareCreation(change: Creation, at: number): Prepared {
    const collection = this.#collection(change.collection);
    const number = collection.chosen.nextFree(collection.counter + 1);
    collection.counter = number;
    collection.chosen.forgetUpTo(number);
    return this.#set(change, String(number), ++collection.sequence, at);
  }

  #formerOf(change: Replacement | Deletion, before: Prepared | undefined): EntryHead | undefined {
    if (before === undefined) return this.#headOf(change);
    return before.kind === 'set' ? before.entry : undefined;
  }

  #headOf({ collection, id }: Replacement | Deletion): EntryHead | undefined {
    return headIn(this.#collections.get(collection), id);
  }

  #prepareReplacement(change: Replacement, at: number, former: EntryHead | undefined): Prepared | undefined {
    if (!isExpected(former, change.expected)) return undefined;
    // A clock that was set back must not make the item look older than what a client has.
    if (former !== undefined)
      return this.#set(change, change.id, former.sequence, Math.max(at, former.modified));
    const collection = this.#collection(change.collection);
    const number = counterNumber(change.id);
    if (number !== undefined && number > collection.counter) collection.chosen.add(number);
    return this.#set(change, change.id, ++collection.sequence, at);
  }

  #prepareDeletion(change: Deletion, at: number, before: Prepared | undefined): Prepared | undefined {
    if (this.#formerOf(change, before)?.revision !== change.expected) return undefined;
    const { collection, id } = change;
    const entry = before?.entry ?? this.read(collection, id);
    if (entry === undefined) return undefined;
    return { kind: 'delete', collection, entry, revision: ++this.#revision, at };
  }

  #set(change: Creation | Replacement, id: string, sequence: number, at: number): Prepared {
    const revision = ++this.#revision;
    const entry: Entry = { id, sequence, revision, modified: at, value: change.value };
    return { kind: 'set', collection: change.collection, entry, revision, at };
  }

  #collection(path: string): Collection {
    const numbers = { counter: 0, sequence: 0, revision: 0, modified: 0 };
    return this.#collections.get(path) ?? this.#begin(path, numbers, new ReservedIds());
  }

  #begin(path: string, numbers: CollectionNumbers, chosen: ReservedIds): Collection {
    const kept = { order: new OrderedIndex(), ids: new IdIndex() };
    const collection = { ...kept, chosen, ...numbers };
    this.#collections.set(path, collection);
    return collection;
  }
}

function viewOf(path: string, collection: Collection): CollectionView {
  const { counter, sequence, revision, modified, chosen, order, ids } = collection;
  return { path, counter, sequence, revision, modified, chosen, entries: order, count: ids.size };
}

function entryIn(collection: Collection | undefined, id: string): Entry | undefined {
  const sequence = collection?.ids.get(id);
  return sequence === undefined ? undefined : collection?.order.find(sequence);
}

function headIn(collection: Collection | undefined, id: string): EntryHead | undefined {
  const sequence = collection?.ids.get(id);
  return sequence === undefined ? undefined : collection?.order.head(sequence);
}

function isExpected(former: EntryHead | undefined, expected: Replacement['expected']): boolean {
  return expected === 'present' ? former !== undefined : (former?.revision ?? 'absent') === expected;
}

/** Moves the counter, or what it has to step over, as the change did that took the id. */
function replayId(collection: Collection, kind: MadeChange['kind'], id: string): void {
  const number = counterNumber(id);
  if (number === undefined || number <= collection.counter) return;
  if (kind === 'put') collection.chosen.add(number);
  if (kind !== 'create') return;
  collection.counter = number;
  collection.chosen.forgetUpTo(number);
}
