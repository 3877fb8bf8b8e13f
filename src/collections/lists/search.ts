// Reads a filtered or sorted list in steps. If one step is not enough, the search waits in a queue of the service, where two run
// at a time, each for two milliseconds of a turn of the event loop. It ends when the client is gone. A client that has closed
// its sending side counts as gone: it cannot be told apart from one that has left.
import { createHash } from 'node:crypto';
import { pageBytes } from '../../formats/page.ts';
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { Store, StoredItem, StoredPage, StoredValue } from '../../store/store.ts';
import { comparePositions, type ItemOrder, type Position } from './order.ts';
import type { Search } from './query.ts';
import type { ScanQueue } from './scan-queue.ts';

/** The number of items, and of stored bytes, that are read in one step: a millisecond at most. */
const stepItems = 256;
const stepBytes = 64 * 1024;

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

/** The store that is searched, and the queue of all its scans. */
export interface SearchedStore {
  readonly store: Store;
  readonly scans: ScanQueue;
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

/**
 * Reads a collection in steps, and returns the first items of the search. All steps after the first one wait in `scans`. Other
 * requests are handled meanwhile, so the collection may change. Every item is in a state that it had during the search.
 */
export function searchItems(
  { store, scans }: SearchedStore,
  collection: string,
  wanted: Wanted,
): MaybePromise<Matches> {
  const scan = new Scan(wanted);
  const step = (): MaybePromise<boolean> =>
    andThen(store.list(collection, scan.position, stepItems, stepBytes), (page) => scan.take(page));
  const finish = async (): Promise<Matches> => {
    await scans.run(step, wanted.isOpen);
    return scan.matches;
  };
  return andThen(step(), (complete) => (complete ? scan.matches : finish()));
}

class Scan {
  /** The sequence of the last item that was read. */
  position: number;
  readonly #wanted: Wanted;
  readonly #selection: Selection;
  #first: StoredPage | undefined;

  constructor(wanted: Wanted) {
    const { search, after, limit } = wanted;
    this.#wanted = wanted;
    this.#selection = new Selection(search.order, limit);
    this.position = search.order === undefined ? (after?.sequence ?? 0) : 0;
  }

  get matches(): Matches {
    const { revision = 0, modified = 0 } = this.#first ?? {};
    const { items, more } = this.#selection;
    return { search: this.#wanted.search, items, more, revision, modified };
  }

  /** Takes the result of a step. Returns whether the search is complete. */
  take(page: StoredPage): boolean {
    const { matches, order } = this.#wanted.search;
    this.#first ??= page;
    for (const entry of page.entries) {
      this.position = entry.sequence;
      if (!matches(entry)) continue;
      this.#offer({ sequence: entry.sequence, key: order?.computeKey(entry), entry });
      if (order === undefined && this.#selection.more) return true;
    }
    return !page.more || page.entries.length === 0;
  }

  #offer(candidate: Candidate): void {
    const { after, search } = this.#wanted;
    if (after === undefined || comparePositions(search.order, candidate, after) > 0)
      this.#selection.offer(candidate);
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
  readonly #order: ItemOrder | undefined;
  readonly #limit: number;
  readonly #items: Sized[] = [];
  #size = 0;
  /** The first item that was offered and has no room. */
  #bound: Candidate | undefined;

  /** @param order undefined for the order of creation */
  constructor(order: ItemOrder | undefined, limit: number) {
    this.#order = order;
    this.#limit = limit;
  }

  /** The items, in order. */
  get items(): readonly Candidate[] {
    return this.#items;
  }

  /** Whether an item was offered that has no room. */
  get more(): boolean {
    return this.#bound !== undefined;
  }

  /** Adds an item if it is one of the first. */
  offer(candidate: Candidate): void {
    if (this.#bound !== undefined && comparePositions(this.#order, this.#bound, candidate) < 0) return;
    this.#removeFormer(candidate.entry.id);
    const size = computeMinSize(candidate.entry.value);
    this.#items.splice(this.#indexFor(candidate), 0, { ...candidate, size });
    this.#size += size;
    while (this.#items.length > this.#limit || (this.#items.length > 1 && this.#size > pageBytes))
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

  #indexFor(candidate: Candidate): number {
    let [low, high] = [0, this.#items.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const item = this.#items[middle];
      if (item !== undefined && comparePositions(this.#order, item, candidate) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
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
