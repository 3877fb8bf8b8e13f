import { createHash } from 'node:crypto';
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { Page, Store } from '../../store/store.ts';
import { nextTurn } from '../../timers.ts';
import { comparePositions, type Position } from './order.ts';
import type { Search } from './query.ts';
import { type Candidate, Selection } from './selection.ts';

/** The number of items, and of stored bytes, that are read in one turn of the event loop: about a millisecond. */
const sliceItems = 256;
const sliceBytes = 64 * 1024;

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
}

/**
 * Reads a collection in slices, and returns the first items of the search. Other requests are handled between the slices, so the
 * collection may change meanwhile. Every item is in a state that it had during the search.
 */
export function searchItems(store: Store, collection: string, wanted: Wanted): MaybePromise<Matches> {
  const scan = new Scan(wanted);
  const slice = (): MaybePromise<Page> => store.list(collection, scan.position, sliceItems, sliceBytes);
  const finish = async (): Promise<Matches> => {
    for (;;) {
      await nextTurn();
      if (scan.take(await slice())) return scan.matches;
    }
  };
  return andThen(slice(), (page) => (scan.take(page) ? scan.matches : finish()));
}

class Scan {
  /** The sequence of the last item that was read. */
  position: number;
  readonly #wanted: Wanted;
  readonly #selection: Selection;
  #first: Page | undefined;

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

  /** Takes a slice. Returns whether the search is complete. */
  take(page: Page): boolean {
    const { matches, order } = this.#wanted.search;
    this.#first ??= page;
    for (const entry of page.entries) {
      this.position = entry.sequence;
      if (!matches(entry)) continue;
      this.#offer({ sequence: entry.sequence, key: order?.keyOf(entry), entry });
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
