/** The list of a collection if the query selects or sorts its items. */

import { fillTemplate } from '../../http/syntax/percent.ts';
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { ActionResponse, Call, ResourceState } from '../../pipeline/resource.ts';
import type { Shape } from '../fields/schema.ts';
import { selectFormat } from '../formats/index.ts';
import { PageWriter } from '../formats/page.ts';
import type { ItemOrder, Position } from './order.ts';
import { addShown, linkField, toListItem } from './page-links.ts';
import { malformedQuery, type Search } from './query.ts';
import { type Matches, type SearchedStore, tagOfMatches } from './search.ts';

/** The state of a GET of a searched list. */
export interface Searched {
  readonly matches: Matches;
  /** The parameters of all pages, for links. */
  readonly query: string;
}

/** The collection that is searched. */
interface Subject {
  readonly form: string;
  readonly path: string;
  readonly shape: Shape;
  readonly showId: boolean;
}

/** Returns the page that the query selects. Throws a Problem (400) if `after` is malformed. */
export function findSearched(
  { form, path }: Subject,
  searched: SearchedStore,
  call: Call,
  search: Search,
  limit: number,
): MaybePromise<ResourceState<Searched>> {
  const after = parseCursor(search.order, call.query.get('after'));
  const size = call.query.has('limit') ? [`limit=${limit}`] : [];
  const query = [...(search.query === '' ? [] : [search.query]), ...size].join('&');
  const { connection } = call.incoming;
  const isOpen = (): boolean => connection.isOpen?.() ?? true;
  const wanted = { search, after, limit, isOpen };
  const found = searched.search(fillTemplate(path, call.parameters), wanted);
  return andThen(found, (matches) => ({
    tag: tagOfMatches(matches, searched.store.storeId, form, call.path, query),
    modified: matches.revision === 0 ? Number.NaN : matches.modified,
    value: { matches, query },
  }));
}

/** Writes the page, up to its maximum size. */
export function listSearched(subject: Subject, call: Call, found: ResourceState<Searched>): ActionResponse {
  const { matches, query } = found.value;
  const { search, items, more } = matches;
  const format = selectFormat(call.variant);
  const page = new PageWriter(format, subject.shape);
  let written = 0;
  for (const { entry } of items) {
    if (!addShown(page, toListItem(subject, call.path, entry))) break;
    written += 1;
  }
  const last = more || written < items.length ? items[written - 1] : undefined;
  const next = last === undefined ? undefined : formatCursor(search.order, last);
  return {
    status: 200,
    representation: { type: format.type, body: page.end() },
    state: found,
    headers: [linkField(call.path, query, next)],
  };
}

/**
 * Formats the place after which a page begins. Without an order: the sequence in base 36. With one: also the key, so that the
 * place stays the same if the item is changed or deleted.
 */
function formatCursor(order: ItemOrder | undefined, { sequence, key }: Position): string {
  const number = sequence.toString(36);
  if (order === undefined) return number;
  return key === undefined ? `${number}-` : `${number}.${Buffer.from(String(key)).toString('base64url')}`;
}

/** Parses a cursor of a list with this order; undefined if there is none. Throws a Problem (400) if it is malformed. */
export function parseCursor(order: ItemOrder | undefined, text: string | null): Position | undefined {
  if (text === null) return undefined;
  const parts = /^([0-9a-z]{1,10})(?:(-)|\.([\w-]*))?$/.exec(text);
  const sequence = Number.parseInt(parts?.[1] ?? '', 36);
  if (!Number.isSafeInteger(sequence)) throw malformedCursor();
  const [absent, encoded] = [parts?.[2] !== undefined, parts?.[3]];
  const isSorted = absent || encoded !== undefined;
  if (isSorted !== (order !== undefined)) throw malformedCursor();
  if (encoded === undefined || order === undefined) return { sequence, key: undefined };
  const key = order.parseKey(Buffer.from(encoded, 'base64url').toString());
  if (key === undefined) throw malformedCursor();
  return { sequence, key };
}

function malformedCursor(): Error {
  return malformedQuery('after', 'a value from a Link field of this collection');
}
