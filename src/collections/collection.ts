import { bodyReadersOf, type DocumentLimits } from '../formats/body-readers.ts';
import { formatOf, formats } from '../formats/index.ts';
import { ownContent, PageWriter, pageBytes } from '../formats/page.ts';
import type { FieldLine } from '../http/fields.ts';
import { revisionTag } from '../http/headers/entity-tag.ts';
import { formatLink } from '../http/headers/link.ts';
import { appliedPreference, wantsMinimal } from '../http/headers/prefer.ts';
import { encodeSegment, fillTemplate } from '../http/path.ts';
import { Problem } from '../http/problem.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import {
  action,
  type Call,
  changedMeanwhile,
  type Found,
  type Outcome,
  type Resource,
} from '../pipeline/resource.ts';
import type { Page, RecordValue, Store } from '../store/store.ts';
import type { Collection } from './declaration.ts';

const defaultLimit = 50;
const mostLimit = 500;

/** A part of the collection: its items, or the first of them. */
interface Listed extends Pick<Page, 'entries' | 'more' | 'revision'> {
  /** The most items of the part. */
  readonly limit: number;
}

type ListCall = Call<Listed, RecordValue>;

/** The collection itself: GET lists its items in creation order, POST adds one under an id that the store picks. */
export function collectionResource(
  collection: Collection,
  store: Store,
  documentLimits: DocumentLimits,
): Resource<Listed, RecordValue> {
  const { access, shape } = collection;
  return {
    GET: action(access.GET, (call) => list(collection, store, call)),
    headAccess: access.HEAD,
    POST: action(access.POST, (call) => create(collection, store, call), {
      reads: bodyReadersOf(shape, { ...documentLimits, partial: false }),
    }),
    produces: formats,
    find: (call) => page(collection, store, call),
    description: { element: shape.element, item: shape.item },
  };
}

/** The part that the query asks for; a method that does not list needs the collection's state alone. */
function page({ form, path }: Collection, store: Store, call: ListCall): MaybePromise<Found<Listed>> {
  const lists = call.method === 'GET' || call.method === 'HEAD';
  const limit = lists ? limitOf(call.query.get('limit')) : 0;
  const after = lists ? afterOf(call.query.get('after')) : 0;
  const foundOf = ({ entries, more, revision, modified }: Page): Found<Listed> => ({
    tag: revisionTag(store.storeId, revision, form),
    // A collection in which nothing ever was has no time of its last change.
    modified: revision === 0 ? Number.NaN : modified,
    state: { entries, more, revision, limit },
  });
  const listed = store.list(fillTemplate(path, call.parameters), after, limit, pageBytes);
  return andThen(listed, foundOf);
}

function limitOf(text: string | null): number {
  if (text === null) return defaultLimit;
  if (!/^[0-9]{1,9}$/.test(text) || Number(text) === 0)
    throw malformedQuery('limit', 'a whole number from 1 on');
  return Math.min(Number(text), mostLimit);
}

// The place in creation order, as the links of earlier pages have it.
function afterOf(text: string | null): number {
  if (text === null) return 0;
  const after = /^[0-9a-z]{1,10}$/.test(text) ? Number.parseInt(text, 36) : Number.NaN;
  if (!Number.isSafeInteger(after))
    throw malformedQuery('after', 'what a Link field of this collection gave');
  return after;
}

function malformedQuery(parameter: string, form: string): Problem {
  return new Problem('malformed-query', `The query parameter ${parameter} must be ${form}.`, {
    members: { parameter },
  });
}

type Listing = Outcome | typeof changedMeanwhile | Promise<Outcome | typeof changedMeanwhile>;

/** Writes the part of the collection that was found, up to what a page holds. */
function list({ path, shape }: Collection, store: Store, call: ListCall): Listing {
  const { found } = call;
  if (found === undefined) throw new Problem('not-found', 'Nothing is at this address.');
  const { limit, revision } = found.state;
  const format = formatOf(call.variant);
  const page = new PageWriter(format, shape);
  const outcome = (next: number | undefined): Outcome => ({
    status: 200,
    representation: { type: format.type, content: page.end() },
    shows: found,
    fields: [linkField(call, limit, next)],
  });
  const write = ({ entries, more }: Pick<Page, 'entries' | 'more'>, after: number | undefined): Listing => {
    let last = after;
    for (const { id, sequence, value } of entries) {
      if (!page.add({ href: hrefOf(call.path, id), value })) return outcome(last);
      last = sequence;
    }
    if (!more || last === undefined || entries.length === 0) return outcome(undefined);
    if (page.count >= limit) return outcome(last);
    // Where a store reads a part in pieces, a page must not depend on how these are cut: its entity tag does not.
    const further = store.list(fillTemplate(path, call.parameters), last, limit - page.count, pageBytes);
    return andThen(further, (piece) => (piece.revision === revision ? write(piece, last) : changedMeanwhile));
  };
  return write(found.state, undefined);
}

function hrefOf(path: string, id: string): string {
  return `${path}/${encodeSegment(id)}`;
}

/** Returns the links to the first part and, after the item with the sequence `last`, to the next one. */
function linkField(call: ListCall, limit: number, last: number | undefined): FieldLine {
  const query = call.query.has('limit') ? `limit=${limit}` : '';
  const links = [{ href: withQuery(call.path, query), rel: 'first' }];
  if (last !== undefined) {
    const after = `after=${last.toString(36)}`;
    links.unshift({ href: withQuery(call.path, query === '' ? after : `${query}&${after}`), rel: 'next' });
  }
  return ['Link', formatLink(links)];
}

function withQuery(path: string, query: string): string {
  return query === '' ? path : `${path}?${query}`;
}

async function create({ form, path, shape }: Collection, store: Store, call: ListCall): Promise<Outcome> {
  if (call.content === undefined) throw new Problem('content-missing', 'An item is expected.');
  const name = fillTemplate(path, call.parameters);
  const applied = await store.apply({
    kind: 'create',
    collection: name,
    value: call.content,
    at: call.now,
    nonce: call.principal?.nonce,
  });
  if (!applied.applied) throw new Error('the store refused to create an item');
  const { id, modified, revision, value } = applied.entry;
  const href = hrefOf(call.path, id);
  const shows = { tag: revisionTag(store.storeId, revision, form), modified, state: undefined };
  const fields: FieldLine[] = [['Location', href], ...appliedPreference(call.request.fields)];
  if (wantsMinimal(call.request.fields)) return { status: 201, fields, shows };
  fields.push(['Content-Location', href]);
  const format = formatOf(call.variant);
  const representation = { type: format.type, content: ownContent(format.writeItem(shape, value)) };
  return { status: 201, fields, shows, representation };
}
