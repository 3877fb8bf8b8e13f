import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { Store, StoredItem, StoredPage } from '../../store/store.ts';
import { FieldIndex } from './field-index.ts';
import type { IndexedField } from './order.ts';
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
