import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { Store, StoredItem, StoredPage } from '../../store/store.ts';
import type { Key } from '../fields/simple-type.ts';
import { comparePositions, type IndexedField, isSortable, type Position } from './order.ts';
import { type ScanQueue, stepBytes, stepItems } from './scan-queue.ts';

/** The maximum number of places in all indexes of a service. */
const defaultMaxPlaces = 2_000_000;

/** The number of changed items that are collected before the indexes are updated. */
const maxChanged = 128;

/** The indexes of a collection, by the names of the fields. */
export type FieldIndexes = ReadonlyMap<string, FieldIndex>;

/** The parts of a store that an index needs. */
type WatchableStore = Pick<Store, 'list'> & Required<Pick<Store, 'watch'>>;

/**
 * The indexes of a service. They are built when a search first needs them, and follow the changes of the store. The least
 * recently used ones are dropped if there are too many places.
 */
export class ListIndexes {
  readonly #store: WatchableStore;
  readonly #scans: ScanQueue;
  /** The least recently used collection is first. */
  readonly #collections = new Map<string, IndexedCollection>();
  readonly #maxPlaces: number;

  constructor(store: WatchableStore, scans: ScanQueue, maxPlaces = defaultMaxPlaces) {
    this.#store = store;
    this.#scans = scans;
    this.#maxPlaces = maxPlaces;
  }

  /** Returns the indexes of a collection with this revision; undefined if one of the fields has none. */
  find(path: string, revision: number, fields: readonly IndexedField[]): FieldIndexes | undefined {
    const collection = this.#collections.get(path);
    if (collection === undefined) return undefined;
    this.#collections.delete(path);
    // With another revision, the content of the store was replaced.
    if (collection.revision === revision) this.#collections.set(path, collection);
    else collection.end();
    collection.update();
    const complete =
      collection.revision === revision && fields.every(({ name }) => collection.indexes.has(name));
    return complete ? collection.indexes : undefined;
  }

  /**
   * Builds the indexes of fields of a collection with this revision, or waits for those that are being built. Rejects with a
   * Problem (503) if no client waits for them any more.
   * @returns false if the collection cannot be indexed
   */
  async build(
    path: string,
    revision: number,
    fields: readonly IndexedField[],
    isOpen: () => boolean,
  ): Promise<boolean> {
    const collection =
      this.#collections.get(path) ?? new IndexedCollection(this.#store, path, revision, this.#maxPlaces);
    this.#collections.set(path, collection);
    const built = await collection.build(fields, this.#scans, isOpen);
    this.#dropExcess();
    return built && this.#collections.has(path);
  }

  #dropExcess(): void {
    let places = 0;
    for (const collection of this.#collections.values()) places += collection.places;
    for (const [path, collection] of this.#collections) {
      if (places <= this.#maxPlaces) return;
      places -= collection.places;
      this.#collections.delete(path);
      collection.end();
    }
  }
}

/** The indexes of one collection. */
class IndexedCollection {
  readonly indexes = new Map<string, FieldIndex>();
  /** The revision of the collection that the indexes contain. */
  revision: number;
  readonly #store: WatchableStore;
  readonly #path: string;
  readonly #maxPlaces: number;
  readonly #unwatch: () => void;
  /** The names of the fields for whose indexes there is no room. */
  readonly #excluded = new Set<string>();
  /** The items that were changed since the last update, by sequence; undefined if they were deleted. */
  readonly #changed = new Map<number, StoredItem | undefined>();
  /** The indexes that are being built, by the names of the fields. */
  #unfinished = new Map<string, FieldIndex>();
  #building: Promise<boolean> | undefined;
  /** Whether each client is still there that waits for the build. */
  #waiting: (() => boolean)[] = [];

  constructor(store: WatchableStore, path: string, revision: number, maxPlaces: number) {
    this.revision = revision;
    this.#maxPlaces = maxPlaces;
    this.#store = store;
    this.#path = path;
    this.#unwatch = store.watch(path, (sequence, entry, revision) => {
      this.revision = revision;
      this.#changed.set(sequence, entry);
      if (this.#changed.size >= maxChanged) this.update();
    });
  }

  /** Makes the collected changes in all indexes. Together, they take half the time. */
  update(): void {
    for (const index of this.#all()) {
      for (const [sequence, entry] of this.#changed) {
        if (entry === undefined) index.delete(sequence);
        else index.set(entry);
      }
    }
    this.#changed.clear();
  }

  /** The number of places in all indexes. */
  get places(): number {
    let places = 0;
    for (const index of this.#all()) places += index.size;
    return places;
  }

  /** Ends the updates. The indexes must not be used any more. */
  end(): void {
    this.#unwatch();
  }

  /** Builds the missing indexes of these fields: see `ListIndexes.build`. */
  build(fields: readonly IndexedField[], scans: ScanQueue, isOpen: () => boolean): Promise<boolean> {
    this.#waiting.push(isOpen);
    this.#building ??= this.#build(fields, scans).finally(() => {
      this.#building = undefined;
      this.#unfinished = new Map();
      this.#waiting = [];
    });
    return this.#building;
  }

  async #build(fields: readonly IndexedField[], scans: ScanQueue): Promise<boolean> {
    for (const field of fields) {
      if (!this.indexes.has(field.name)) this.#unfinished.set(field.name, new FieldIndex(field));
    }
    if (this.#unfinished.size === 0) return true;
    if (fields.some(({ name }) => this.#excluded.has(name))) return false;
    let [position, valid] = [0, true];
    const take = ({ entries, more, revision }: StoredPage): boolean => {
      this.update();
      valid = this.revision === revision && this.places <= this.#maxPlaces;
      for (const entry of entries) {
        for (const index of this.#unfinished.values()) index.set(entry);
        position = entry.sequence;
      }
      return !valid || !more || entries.length === 0;
    };
    const step = (): MaybePromise<boolean> =>
      andThen(this.#store.list(this.#path, position, stepItems, stepBytes), take);
    await scans.run(step, () => this.#waiting.some((isOpen) => isOpen()));
    const isTooLarge = this.places > this.#maxPlaces;
    if (isTooLarge) for (const name of this.#unfinished.keys()) this.#excluded.add(name);
    if (isTooLarge || !valid) return false;
    for (const [name, index] of this.#unfinished) this.indexes.set(name, index);
    return true;
  }

  *#all(): Generator<FieldIndex> {
    yield* this.indexes.values();
    yield* this.#unfinished.values();
  }
}

/** The maximum number of positions in a chunk. A change moves the positions of one chunk only. */
const maxChunkLength = 256;

/** The keys that a search selects. Undefined: no bound. */
export interface KeyRange {
  readonly min: Key | undefined;
  readonly max: Key | undefined;
}

/** The part of an index that is walked, and its order. */
export interface Walk {
  readonly range: KeyRange;
  readonly descending: boolean;
  readonly after?: Position | undefined;
}

/** Some places in ascending order, and the ranks of their keys: in an array of their own, they are compared faster. */
interface Chunk {
  readonly places: Position[];
  readonly ranks: number[];
}

/** Takes a place. Returns whether to go on. */
type Visit = (place: Position) => boolean;

/** All items, those without a value included. */
export const unbounded: KeyRange = { min: undefined, max: undefined };

/**
 * An ordered index of a collection: the place of each item by the key of one field and, among equal keys, by creation. Items
 * without a key are last. An item takes about a hundred bytes, besides its key if that is a text.
 */
export class FieldIndex {
  readonly #field: IndexedField;
  readonly #order: { compare(one: Key, other: Key): number; readonly descending: boolean };
  /** The places in ascending order. No chunk is empty. */
  readonly #chunks: Chunk[] = [];
  /** The place of each item, by sequence. */
  readonly #places = new Map<number, Position>();
  /** The number of items whose key is too long to sort by. */
  #unsortable = 0;

  constructor(field: IndexedField) {
    this.#field = field;
    this.#order = { compare: field.compare, descending: false };
  }

  /** The number of items. */
  get size(): number {
    return this.#places.size;
  }

  /** Whether a list can be sorted by the index. */
  get sorts(): boolean {
    return this.#unsortable === 0;
  }

  /** Adds an item, or moves it to the place of its new key. */
  set(entry: StoredItem): void {
    const { sequence } = entry;
    const key = this.#field.computeKey(entry);
    const former = this.#places.get(sequence);
    if (former !== undefined) {
      if (former.key === key) return;
      this.#take(former);
    }
    const place = { sequence, key };
    this.#places.set(sequence, place);
    this.#insert(place);
    if (key !== undefined && !isSortable(key)) this.#unsortable += 1;
  }

  /** Removes the item with this sequence, if there is one. */
  delete(sequence: number): void {
    const place = this.#places.get(sequence);
    if (place === undefined) return;
    this.#places.delete(sequence);
    this.#take(place);
  }

  /** Returns the number of items with a key in the range. */
  count(range: KeyRange): number {
    return this.#countBefore(findEnd(range)) - this.#countBefore(findStart(range));
  }

  /**
   * Calls a function with the places of items in the order of a list, after `after`, until it returns false. Items without a key
   * are last, and only in a range without bounds.
   */
  walk({ range, descending, after }: Walk, visit: Visit): void {
    const isTail = after !== undefined && after.key === undefined;
    const isUnbounded = range.min === undefined && range.max === undefined;
    const goesOn =
      isTail || (descending ? this.#walkDown(range, after, visit) : this.#walkUp(range, after, visit));
    if (goesOn && isUnbounded) this.#between(isTail ? following(after) : firstWithoutKey, undefined, visit);
  }

  #walkUp(range: KeyRange, after: Position | undefined, visit: Visit): boolean {
    const start = findStart(range);
    const begins = after === undefined || (start !== undefined && this.#compare(start, after) > 0);
    return this.#between(begins ? start : following(after), findEnd(range), visit);
  }

  /** Equal keys are in the order of creation here too. */
  #walkDown(range: KeyRange, after: Position | undefined, visit: Visit): boolean {
    const start = findStart(range);
    let end = findEnd(range);
    if (after !== undefined && this.#compare(after, end) < 0) {
      end = firstPosition(after.key);
      const isInside = start === undefined || this.#compare(start, end) <= 0;
      if (isInside && !this.#between(following(after), lastPosition(after.key), visit)) return false;
    }
    for (;;) {
      const last = this.#lastBefore(end);
      if (last === undefined || (start !== undefined && this.#compare(last, start) < 0)) return true;
      const first = firstPosition(last.key);
      if (!this.#between(first, end, visit)) return false;
      end = first;
    }
  }

  /** Visits the places from `start` up to `end`, which is excluded. Returns false if `visit` did. */
  #between(start: Position | undefined, end: Position | undefined, visit: Visit): boolean {
    let [index, at] = start === undefined ? [0, 0] : this.#find(start);
    const [lastIndex, lastAt] = end === undefined ? [this.#chunks.length, 0] : this.#find(end);
    for (; index <= lastIndex; index += 1, at = 0) {
      const places = this.#chunks[index]?.places ?? [];
      for (const stop = index < lastIndex ? places.length : lastAt; at < stop; at += 1) {
        const place = places[at];
        if (place !== undefined && !visit(place)) return false;
      }
    }
    return true;
  }

  #lastBefore(end: Position): Position | undefined {
    const [index, at] = this.#find(end);
    return at > 0 ? this.#chunks[index]?.places[at - 1] : this.#chunks[index - 1]?.places.at(-1);
  }

  #insert(place: Position): void {
    const rank = this.#findRank(place);
    const [found, at] = this.#find(place, rank);
    const isLast = found === this.#chunks.length;
    const chunk = this.#chunks[isLast ? found - 1 : found];
    if (chunk === undefined) this.#chunks.push({ places: [place], ranks: [rank] });
    else {
      const { places, ranks } = chunk;
      places.splice(isLast ? places.length : at, 0, place);
      ranks.splice(isLast ? ranks.length : at, 0, rank);
      // Items that are added in ascending order leave full chunks.
      const kept = isLast ? maxChunkLength : maxChunkLength / 2;
      if (places.length > maxChunkLength)
        this.#chunks.splice(isLast ? found : found + 1, 0, {
          places: places.splice(kept),
          ranks: ranks.splice(kept),
        });
    }
  }

  #take(place: Position): void {
    if (place.key !== undefined && !isSortable(place.key)) this.#unsortable -= 1;
    const [index, at] = this.#find(place);
    const chunk = this.#chunks[index];
    chunk?.places.splice(at, 1);
    chunk?.ranks.splice(at, 1);
    if (chunk?.places.length === 0) this.#chunks.splice(index, 1);
  }

  /** Returns the number of places before this one. */
  #countBefore(place: Position | undefined): number {
    if (place === undefined) return 0;
    const [index, at] = this.#find(place);
    let count = at;
    for (let before = 0; before < index; before += 1) count += this.#chunks[before]?.places.length ?? 0;
    return count;
  }

  /** Returns the chunk, and the offset in it, of the first place that is not before this one. */
  #find(place: Position, rank = this.#findRank(place)): [number, number] {
    let [low, high] = [0, this.#chunks.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const chunk = this.#chunks[middle];
      if (chunk !== undefined && this.#isBefore(chunk, chunk.ranks.length - 1, place, rank)) low = middle + 1;
      else high = middle;
    }
    const index = low;
    const chunk = this.#chunks[index];
    if (chunk === undefined) return [index, 0];
    [low, high] = [0, chunk.ranks.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#isBefore(chunk, middle, place, rank)) low = middle + 1;
      else high = middle;
    }
    return [index, low];
  }

  /** Returns whether a place of a chunk is before `place`, whose rank is `rank`. */
  #isBefore({ places, ranks }: Chunk, at: number, place: Position, rank: number): boolean {
    const found = ranks[at] ?? rank;
    if (found !== rank) return found < rank;
    const other = places[at];
    return other !== undefined && this.#compare(other, place) < 0;
  }

  /** Returns the rank of a place. Those without a key are last. */
  #findRank({ key }: Position): number {
    return key === undefined ? Number.POSITIVE_INFINITY : this.#field.computeRank(key);
  }

  #compare(one: Position, other: Position): number {
    return comparePositions(this.#order, one, other);
  }
}

/** The place before all items without a key. */
const firstWithoutKey = firstPosition(undefined);

function findStart({ min }: KeyRange): Position | undefined {
  return min === undefined ? undefined : firstPosition(min);
}

function findEnd({ max }: KeyRange): Position {
  return max === undefined ? firstWithoutKey : lastPosition(max);
}

/** Returns a place before all items with this key. */
function firstPosition(key: Key | undefined): Position {
  return { key, sequence: 0 };
}

/** Returns a place after all items with this key. */
function lastPosition(key: Key | undefined): Position {
  return { key, sequence: Number.POSITIVE_INFINITY };
}

function following({ key, sequence }: Position): Position {
  return { key, sequence: sequence + 1 };
}
