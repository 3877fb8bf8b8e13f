// Reads a filtered or sorted list in steps. If one step is not enough, the search waits in a queue of the service, where two run
// at a time, each for two milliseconds of a turn of the event loop. It ends when the client is gone. A client that has closed
// its sending side counts as gone: nothing distinguishes it from one that has left.

import { createHash } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { andThen, isPromiseLike, type MaybePromise } from '../../maybe-promise.ts';
import { countWhile } from '../../store/state/ordered-items.ts';
import type { Store, StoredItem, StoredPage, StoredValue } from '../../store/store.ts';
import { pageBytes } from '../formats/page.ts';
import {
  type FieldIndex,
  type FieldIndexes,
  type KeyRange,
  ListIndexes,
  unbounded,
  type Walk,
} from './indexes.ts';
import { comparePositions, type IndexedField, type ItemOrder, type Position } from './order.ts';
import type { Condition, Search } from './query.ts';
import { ScanQueue, stepBytes, stepItems } from './scan-queue.ts';

/** The page of a list that a search selects. */
export interface Matches {
  readonly search: Search;
  readonly items: readonly Candidate[];
  /** Whether more items follow the last of these. */
  readonly more: boolean;
  /** The revision and time (ms) of the last change to the collection, as of the beginning of the search. */
  readonly revision: number;
  readonly modified: number;
}

/** The page to search for. */
interface Wanted {
  readonly search: Search;
  /** The place after which the page begins; undefined for the first page. */
  readonly after: Position | undefined;
  readonly limit: number;
  /** Returns whether the client can still receive the response. */
  isOpen(): boolean;
}

type Found = Matches | Promise<Matches>;

/**
 * A store whose collections are searched. Other requests are handled during a long search, so the collection may change. Every
 * item is in a state that it had during the search.
 */
export class SearchedStore {
  readonly store: Store;
  readonly #scans: ScanQueue;
  /** Undefined if the store cannot be indexed. */
  readonly #indexes: ListIndexes | undefined;

  constructor(store: Store, clock: Pick<Clock, 'steady'>) {
    this.store = store;
    this.#scans = new ScanQueue(clock);
    const { watch } = store;
    if (watch === undefined) return;
    const list: Store['list'] = (...wanted) => store.list(...wanted);
    this.#indexes = new ListIndexes({ list, watch: watch.bind(store) }, this.#scans);
  }

  /**
   * Returns the first items of a search. It reads them by the indexes of the fields, if the store can be indexed and has more
   * items than one step reads. All steps after the first one wait for their turn.
   */
  search(collection: string, wanted: Wanted): Found {
    const indexes = this.#indexes;
    if (indexes === undefined) return this.#scan(collection, wanted);
    const fields = findIndexedFields(wanted.search);
    return andThen(this.store.list(collection, 0, 0), (state): Found => {
      const build = async (): Promise<Matches> => {
        const built = await indexes.build(collection, state.revision, fields, wanted.isOpen);
        const found =
          built && this.#readIndexed(indexes, collection, wanted, await this.store.list(collection, 0, 0));
        return found || this.#scan(collection, wanted);
      };
      return this.#readIndexed(indexes, collection, wanted, state) ?? this.#scan(collection, wanted, build);
    });
  }

  /** Reads the items of a search by indexes. Returns undefined if there are none that can be used. */
  #readIndexed(
    indexes: ListIndexes,
    collection: string,
    wanted: Wanted,
    state: StoredPage,
  ): Found | undefined {
    const { search, after, limit } = wanted;
    const found = indexes.find(collection, state.revision, findIndexedFields(search));
    const candidates = found && findCandidates(found, search, after, limit);
    return candidates && this.#read(collection, wanted, state, candidates);
  }

  /** Reads a collection. If one step is not enough, `further` may answer instead. */
  #scan(collection: string, wanted: Wanted, further?: () => Promise<Matches>): Found {
    const scan = new Scan(wanted);
    const step = (): MaybePromise<boolean> =>
      andThen(this.store.list(collection, scan.position, stepItems, stepBytes), (page) => scan.take(page));
    const finish = async (): Promise<Matches> => {
      await this.#scans.run(step, wanted.isOpen);
      return scan.matches;
    };
    return andThen(step(), (complete) => (complete ? scan.matches : (further ?? finish)()));
  }

  /** Reads the items that were found in an index. */
  #read(collection: string, wanted: Wanted, state: StoredPage, candidates: Candidates): Found {
    const reading = new CandidateScan(wanted, state, candidates);
    const step = (): MaybePromise<boolean> =>
      reading.take((sequence) => this.store.list(collection, sequence - 1, 1));
    const conclude = (): Found => (reading.isExhausted ? this.#scan(collection, wanted) : reading.matches);
    const finish = async (): Promise<Matches> => {
      await this.#scans.run(step, wanted.isOpen);
      return conclude();
    };
    return andThen(step(), (complete) => (complete ? conclude() : finish()));
  }
}

/** Reads the items of a page that were found in an index. */
class CandidateScan {
  readonly #wanted: Wanted;
  readonly #state: StoredPage;
  readonly #candidates: Candidates;
  readonly #selection: Selection;
  #next = 0;

  constructor(wanted: Wanted, state: StoredPage, candidates: Candidates) {
    this.#wanted = wanted;
    this.#state = state;
    this.#candidates = candidates;
    this.#selection = new Selection(wanted);
  }

  get matches(): Matches {
    return this.#selection.matchesAt(this.#state);
  }

  /** Whether all candidates were read, and more are needed. */
  get isExhausted(): boolean {
    return !this.#candidates.complete && !this.#isFull(this.#candidates.places.length - 1);
  }

  /** Reads the items of a step. Returns whether no more have to be read. */
  take(read: (sequence: number) => MaybePromise<StoredPage>): MaybePromise<boolean> {
    const { places } = this.#candidates;
    for (let [count, size] = [0, 0]; count < stepItems && size < stepBytes; count += 1) {
      const sequence = places[this.#next]?.sequence;
      if (sequence === undefined) return true;
      const taken = andThen(read(sequence), ({ entries: [entry] }) => this.#offer(entry, sequence));
      if (isPromiseLike(taken)) return taken.then(() => this.#advance());
      size += taken;
      if (this.#advance()) return true;
    }
    return false;
  }

  /** Offers an item if it still exists and is selected. Returns the least number of its bytes. */
  #offer(entry: StoredItem | undefined, sequence: number): number {
    if (entry?.sequence !== sequence) return 0;
    const { matches, order } = this.#wanted.search;
    if (matches(entry)) this.#selection.offer({ sequence, key: order?.computeKey(entry), entry });
    return computeMinSize(entry.value);
  }

  #advance(): boolean {
    this.#next += 1;
    return this.#next >= this.#candidates.places.length || this.#isFull(this.#next - 1);
  }

  /** Returns whether the page is full, and no item after this candidate can be on it. */
  #isFull(at: number): boolean {
    const { places, inOrder } = this.#candidates;
    const [last, place] = [this.#selection.items.at(-1), places[at]];
    if (!inOrder || !this.#selection.more || last === undefined || place === undefined) return false;
    // An item may have moved since its place was taken.
    return comparePositions(this.#wanted.search.order, last, place) <= 0;
  }
}

class Scan {
  /** The sequence of the last item that was read. */
  position: number;
  readonly #wanted: Wanted;
  readonly #selection: Selection;
  #first: StoredPage | undefined;

  constructor(wanted: Wanted) {
    const { search, after } = wanted;
    this.#wanted = wanted;
    this.#selection = new Selection(wanted);
    this.position = search.order === undefined ? (after?.sequence ?? 0) : 0;
  }

  get matches(): Matches {
    return this.#selection.matchesAt(this.#first ?? { revision: 0, modified: 0 });
  }

  /** Takes the result of a step. Returns whether the search is complete. */
  take(page: StoredPage): boolean {
    const { matches, order } = this.#wanted.search;
    this.#first ??= page;
    for (const entry of page.entries) {
      this.position = entry.sequence;
      if (!matches(entry)) continue;
      this.#selection.offer({ sequence: entry.sequence, key: order?.computeKey(entry), entry });
      if (order === undefined && this.#selection.more) return true;
    }
    return !page.more || page.entries.length === 0;
  }
}

/**
 * Returns the base of the entity tags of a page: a hash of the items' revisions, and of everything else that its content depends
 * on.
 * @param address the path, and what else distinguishes the page from those of other lists
 */
export function tagOfMatches({ search, items, more }: Matches, ...address: readonly string[]): string {
  const revisions = items.map(({ entry: { id, revision } }) => [id, revision]);
  const content = JSON.stringify([...address, search.query, more, revisions]);
  return createHash('sha256').update(content).digest('base64url').slice(0, 22);
}

/** An item with its place in the list. */
interface Candidate extends Position {
  readonly entry: StoredItem;
}

interface Sized extends Candidate {
  /** The least number of bytes that the item takes on a page. */
  readonly size: number;
}

/** Keeps the first of the items that are offered, in the order of the list: as many as one page can have. */
class Selection {
  readonly #wanted: Wanted;
  readonly #items: Sized[] = [];
  #size = 0;
  /** The first item that was offered and has no room. */
  #bound: Candidate | undefined;

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
  }

  /** The items, in order. */
  get items(): readonly Candidate[] {
    return this.#items;
  }

  /** Returns the selected items of a collection in a state. */
  matchesAt({ revision, modified }: Pick<StoredPage, 'revision' | 'modified'>): Matches {
    const { items, more } = this;
    return { search: this.#wanted.search, items, more, revision, modified };
  }

  /** Whether an item was offered that has no room. */
  get more(): boolean {
    return this.#bound !== undefined;
  }

  /** Adds an item if it is one of the first on the page. */
  offer(candidate: Candidate): void {
    const { search, after, limit } = this.#wanted;
    const { order } = search;
    if (after !== undefined && comparePositions(order, candidate, after) <= 0) return;
    if (this.#bound !== undefined && comparePositions(order, this.#bound, candidate) < 0) return;
    this.#removeFormer(candidate.entry.id);
    const size = computeMinSize(candidate.entry.value);
    const at = countWhile(this.#items, (item) => comparePositions(order, item, candidate) < 0);
    this.#items.splice(at, 0, { ...candidate, size });
    this.#size += size;
    while (this.#items.length > limit || (this.#items.length > 1 && this.#size > pageBytes))
      this.#removeLast();
  }

  /** Removes an item that was deleted and created again while the list was read. */
  #removeFormer(id: string): void {
    const at = this.#items.findIndex(({ entry }) => entry.id === id);
    if (at < 0) return;
    this.#size -= this.#items[at]?.size ?? 0;
    this.#items.splice(at, 1);
  }

  #removeLast(): void {
    const last = this.#items.pop();
    this.#size -= last?.size ?? 0;
    this.#bound = last;
  }
}

/** Returns a lower bound of the bytes of a value on a page. */
function computeMinSize(value: StoredValue): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object') return 1;
  let size = 0;
  for (const part of Object.values(value)) size += computeMinSize(part);
  return size;
}

// Chooses how a search is answered from the indexes of its fields: by the order of the list, or by the condition that selects the
// fewest items. All places are taken in one turn of the event loop. The items are read afterwards, perhaps in several turns.

/** The items to read for a page. */
interface Candidates {
  readonly places: readonly Position[];
  /** Whether the places are in the order of the list. */
  readonly inOrder: boolean;
  /** Whether the other items of the collection are not on the page. If not, the page may need more than these. */
  readonly complete: boolean;
}

/** The conditions of one field. */
interface Selected {
  readonly index: FieldIndex;
  readonly range: KeyRange;
  /** The number of items in the range. */
  readonly count: number;
}

/** Returns the fields whose indexes a search uses. */
function findIndexedFields({ order, conditions }: Search): readonly IndexedField[] {
  const fields = new Map(conditions.map(({ field }) => [field.name, field]));
  if (order !== undefined) fields.set(order.field.name, order.field);
  return [...fields.values()];
}

/**
 * Returns the items to read for the page of up to `limit` items after a place. Returns undefined if the indexes cannot be used.
 * @param indexes has the indexes of all fields of the search
 */
function findCandidates(
  indexes: FieldIndexes,
  { order, conditions }: Search,
  after: Position | undefined,
  limit: number,
): Candidates | undefined {
  const selected = selectRanges(indexes, conditions);
  if (order !== undefined) return candidatesInOrder(indexes, order, selected, after, limit);
  const [fewest, ...others] = [...selected.values()].sort((one, other) => one.count - other.count);
  if (fewest === undefined) return undefined;
  const max = estimateReads(limit, fewest.index.size, others);
  const places = firstCreated(fewest, after?.sequence ?? 0, max);
  return { places, inOrder: true, complete: places.length < max };
}

function candidatesInOrder(
  indexes: FieldIndexes,
  order: ItemOrder,
  selected: ReadonlyMap<string, Selected>,
  after: Position | undefined,
  limit: number,
): Candidates | undefined {
  const { name } = order.field;
  const index = indexes.get(name);
  if (index === undefined) return undefined;
  const others = [...selected].filter(([field]) => field !== name).map(([, each]) => each);
  const max = estimateReads(limit, index.size, others);
  const fewest = others.find(({ count }) => others.every((other) => count <= other.count));
  if (fewest !== undefined && fewest.count <= max) {
    const places = takeFirst(fewest.index, { range: fewest.range, descending: false }, fewest.count);
    return { places, inOrder: false, complete: true };
  }
  if (!index.sorts) return undefined;
  const range = selected.get(name)?.range ?? unbounded;
  const places = takeFirst(index, { range, descending: order.descending, after }, max);
  return { places, inOrder: true, complete: places.length < max };
}

/** Returns the range of each field that has conditions. */
function selectRanges(
  indexes: FieldIndexes,
  conditions: readonly Condition[],
): ReadonlyMap<string, Selected> {
  const selected = new Map<string, Selected>();
  for (const { field, comparison, key } of conditions) {
    const index = indexes.get(field.name);
    if (index === undefined) continue;
    let { min, max } = selected.get(field.name)?.range ?? unbounded;
    if (comparison !== 'max' && (min === undefined || field.compare(key, min) > 0)) min = key;
    if (comparison !== 'min' && (max === undefined || field.compare(key, max) < 0)) max = key;
    const range = { min, max };
    selected.set(field.name, { index, range, count: index.count(range) });
  }
  return selected;
}

/** Returns how many items have to be read for a page and for the first item after it, if other conditions select some of them. */
function estimateReads(limit: number, size: number, others: readonly Selected[]): number {
  const share = others.reduce((product, { count }) => product * (count / Math.max(1, size)), 1);
  // Four times as many, because the conditions may depend on each other.
  return others.length === 0 ? limit + 1 : Math.ceil(Math.min(size, (4 * (limit + 1)) / share)) + 1;
}

/** Returns the first places in the order of creation after a sequence. */
function firstCreated({ index, range }: Selected, after: number, max: number): readonly Position[] {
  const { min, max: highest } = range;
  // Items with equal keys are in the order of creation already.
  if (min !== undefined && min === highest)
    return takeFirst(index, { range, descending: false, after: { key: min, sequence: after } }, max);
  let first: Position[] = [];
  let bound = Number.POSITIVE_INFINITY;
  index.walk({ range, descending: false }, (place) => {
    if (place.sequence <= after || place.sequence >= bound) return true;
    if (first.push(place) < 2 * max) return true;
    first = first.sort(compareSequences).slice(0, max);
    bound = first.at(-1)?.sequence ?? bound;
    return true;
  });
  return first.sort(compareSequences).slice(0, max);
}

function compareSequences(one: Position, other: Position): number {
  return one.sequence - other.sequence;
}

function takeFirst(index: FieldIndex, walk: Walk, max: number): readonly Position[] {
  const first: Position[] = [];
  index.walk(walk, (place) => first.push(place) < max);
  return first;
}
