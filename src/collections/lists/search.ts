// Reads a filtered or sorted list in steps. If one step is not enough, the search waits in a queue of the service, where two run
// at a time, each for two milliseconds of a turn of the event loop. It ends when the client is gone. A client that has closed
// its sending side counts as gone: it cannot be told apart from one that has left.
import { createHash } from 'node:crypto';
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { Store, StoredPage } from '../../store/store.ts';
import { comparePositions, type Position } from './order.ts';
import type { Search } from './query.ts';
import type { ScanQueue } from './scan-queue.ts';
import { type Candidate, Selection } from './selection.ts';

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
