import type { Collection } from '../declaration.ts';
import { stateTag } from '../http/entity-tag.ts';
import type { FieldLine } from '../http/fields.ts';
import { formatLink } from '../http/link.ts';
import { encodeSegment, fillTemplate } from '../http/path.ts';
import { appliedPreference, wantsMinimal } from '../http/prefer.ts';
import { Problem } from '../http/problem.ts';
import { formatOf, formats } from '../representation/formats.ts';
import { type DocumentLimits, readingsOf } from '../representation/readings.ts';
import { action, type Call, type Found, type Outcome, type Resource } from '../resource.ts';
import { type Soon, whenThere } from '../soon.ts';
import type { Page, RecordValue, Store } from '../store/store.ts';

const defaultLimit = 50;
const mostLimit = 500;

/** A part of the collection, and where it begins. */
interface Listed extends Pick<Page, 'entries' | 'more'> {
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
    GET: action(access.GET, (call) => list(collection, call)),
    headAccess: access.HEAD,
    POST: action(access.POST, (call) => create(collection, store, call), {
      reads: readingsOf(shape, { ...documentLimits, partial: false }),
    }),
    produces: formats,
    find: (call) => page(collection, store, call),
    description: { element: shape.element, item: shape.item },
  };
}

/** The part that the query asks for; a method that does not list needs the collection's state alone. */
function page({ form, path }: Collection, store: Store, call: ListCall): Soon<Found<Listed>> {
  const lists = call.method === 'GET' || call.method === 'HEAD';
  const limit = lists ? limitOf(call.query.get('limit')) : 0;
  const after = lists ? afterOf(call.query.get('after')) : 0;
  const foundOf = ({ entries, more, revision, modified }: Page): Found<Listed> => ({
    tag: stateTag(store.lineage, revision, form),
    // A collection in which nothing ever was has no time of its last change.
    modified: revision === 0 ? Number.NaN : modified,
    state: { entries, more, limit },
  });
  const listed = store.list(fillTemplate(path, call.parameters), after, limit);
  return whenThere(listed, foundOf);
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

function list({ shape }: Collection, call: ListCall): Outcome {
  if (call.found === undefined) throw new Problem('not-found', 'Nothing is at this address.');
  const { state } = call.found;
  const format = formatOf(call.variant);
  const entries = state.entries.map(({ id, value }) => ({ href: hrefOf(call.path, id), value }));
  const representation = { type: format.type, content: format.writeList(shape, entries) };
  return { status: 200, representation, shows: call.found, fields: [linkField(call, state)] };
}

function hrefOf(path: string, id: string): string {
  return `${path}/${encodeSegment(id)}`;
}

function linkField(call: ListCall, { entries, more, limit }: Listed): FieldLine {
  const query = call.query.has('limit') ? `limit=${limit}` : '';
  const last = entries.at(-1);
  const links = [{ href: withQuery(call.path, query), rel: 'first' }];
  if (more && last !== undefined) {
    const after = `after=${last.sequence.toString(36)}`;
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
  const shows = { tag: stateTag(store.lineage, revision, form), modified, state: undefined };
  const fields: FieldLine[] = [['Location', href], ...appliedPreference(call.request.fields)];
  if (wantsMinimal(call.request.fields)) return { status: 201, fields, shows };
  fields.push(['Content-Location', href]);
  const format = formatOf(call.variant);
  const representation = { type: format.type, content: format.writeItem(shape, value) };
  return { status: 201, fields, shows, representation };
}
