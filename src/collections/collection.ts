import { findClosestMatch } from '../did-you-mean.ts';
import type { FieldLine } from '../http/fields.ts';
import { revisionTag } from '../http/headers/entity-tag.ts';
import { formatAppliedPreference, wantsMinimal } from '../http/headers/prefer.ts';
import { Problem } from '../http/problem.ts';
import { toPrintable } from '../http/syntax/characters.ts';
import { fillTemplate } from '../http/syntax/percent.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import {
  type ActionResponse,
  action,
  type Call,
  type Resource,
  type ResourceState,
  retryAction,
} from '../pipeline/resource.ts';
import type { Receipt, Store, StoredItem, StoredPage, StoredRecord } from '../store/store.ts';
import { retryOrThrow } from './conflict.ts';
import type { Collection } from './declaration.ts';
import { createBodyReaders } from './formats/body-readers.ts';
import { formatsFor, selectFormat } from './formats/index.ts';
import { copyContent, PageWriter, pageBytes } from './formats/page.ts';
import { addShown, formatHref, linkField, toListItem } from './lists/page-links.ts';
import { addOwnerCondition, malformedQuery, readSearch, type Search } from './lists/query.ts';
import { compileListRules, type ListRules } from './lists/rules.ts';
import { findSearched, listSearched, parseCursor, type Searched } from './lists/searched-list.ts';
import { changeMembers, findOwnFields, prepareValue, requireStorablePath, type Served } from './served.ts';
import { showValues } from './server-values.ts';

const defaultLimit = 50;
const maxLimit = 500;

/** The state of a GET: the first items of the requested page. */
interface Listed extends Pick<StoredPage, 'entries' | 'more' | 'revision'> {
  /** The maximum number of items of the page. */
  readonly limit: number;
}

/** The state of a collection: of a list that the query searches, or of any other one. */
type State = Listed | Searched;

type ListCall = Call<State, StoredRecord>;

/**
 * Returns the resource of a collection. GET lists its items in creation order; POST creates an item with an
 * assigned id.
 */
export function collectionResource(served: Served): Resource<State, StoredRecord> {
  const { collection, store, documentLimits, repetition, defaultFormat, isCredential, searched } = served;
  const { access, cors, filter, shape, schemes, sort } = collection;
  const rules = compileListRules(collection);
  const checkQuery = isCredential && createQueryCheck(listParameters(rules), isCredential);
  const post = repetition.once<State, StoredRecord>(
    (call, receipt) => create(served, call, receipt),
    (call, { entry }) => buildCreatedOutcome(served, call, entry),
    (value) => value,
  );
  return {
    GET: action(access.GET, (call) => list(collection, store, call)),
    headAccess: access.HEAD,
    schemes,
    cors,
    ...(collection.idempotency !== 'off' && { requestHeaders: ['Idempotency-Key'] }),
    POST: action(access.POST, (call) => post(call), {
      reads: createBodyReaders(shape, { ...documentLimits, partial: false }),
      ...repetition.checks,
    }),
    produces: formatsFor(collection.defaultFormat ?? defaultFormat),
    ...(collection.defaultFormat && { defaultFormat: collection.defaultFormat }),
    find: repetition.find(
      (call) => {
        checkQuery?.(call);
        const search = lists(call)
          ? limitToOwn(collection, call, rules && readSearch(rules, call, isCredential !== undefined))
          : undefined;
        if (search === undefined) return page(collection, store, call);
        return findSearched(collection, searched, call, search, parseLimit(call.query.get('limit')));
      },
      (_, found) => found,
    ),
    description: {
      element: shape.element,
      item: shape.item,
      ...(filter.length > 0 && { filter }),
      ...(sort.length > 0 && { sort }),
      ...repetition.description,
    },
  };
}

/** Returns the query parameters of a list. */
function listParameters(rules: ListRules | undefined): readonly string[] {
  if (rules === undefined) return ['limit', 'after'];
  return [...rules.parameters.keys(), ...(rules.orders.size > 0 ? ['sort'] : []), 'limit', 'after'];
}

/** Returns a search that selects only items of the principal, unless it may read all; then the search itself. */
function limitToOwn({ access }: Collection, call: ListCall, search: Search | undefined): Search | undefined {
  const fields = findOwnFields(call.method === 'HEAD' ? access.HEAD : access.GET, call);
  return fields.length === 0 ? search : addOwnerCondition(fields, call.principal?.name ?? '', search);
}

/** Returns whether the response to a call is the list. */
function lists({ method }: ListCall): boolean {
  return method === 'GET' || method === 'HEAD';
}

/**
 * Reads the page that the query selects. A method other than GET and HEAD needs only the state of the
 * collection.
 */
function page({ form, path }: Collection, store: Store, call: ListCall): MaybePromise<ResourceState<Listed>> {
  const isListed = lists(call);
  const limit = isListed ? parseLimit(call.query.get('limit')) : 0;
  const cursor = isListed ? call.query.get('after') : null;
  const after = cursor === null ? 0 : (parseCursor(undefined, cursor)?.sequence ?? 0);
  const toState = ({ entries, more, revision, modified }: StoredPage): ResourceState<Listed> => ({
    tag: revisionTag(store.storeId, revision, form),
    // A collection that has never had an item has no modification time.
    modified: revision === 0 ? Number.NaN : modified,
    value: { entries, more, revision, limit },
  });
  const listed = store.list(fillTemplate(path, call.parameters), after, limit, pageBytes);
  return andThen(listed, toState);
}

function parseLimit(text: string | null): number {
  if (text === null) return defaultLimit;
  if (!/^[0-9]{1,9}$/.test(text) || Number(text) === 0)
    throw malformedQuery('limit', 'a whole number of at least 1');
  return Math.min(Number(text), maxLimit);
}

type Listing = ActionResponse | typeof retryAction | Promise<ActionResponse | typeof retryAction>;

/** Writes the page, up to its maximum size. */
function list(collection: Collection, store: Store, call: ListCall): Listing {
  const { state: found } = call;
  if (found === undefined) throw new Problem('not-found', 'Nothing is at this address.');
  const { value: state } = found;
  if ('matches' in state) return listSearched(collection, call, { ...found, value: state });
  const { path, shape } = collection;
  const { limit, revision } = state;
  const format = selectFormat(call.variant);
  const page = new PageWriter(format, shape);
  const outcome = (next: number | undefined): ActionResponse => ({
    status: 200,
    representation: { type: format.type, body: page.end() },
    state: found,
    headers: [linkField(call.path, call.query.has('limit') ? `limit=${limit}` : '', next?.toString(36))],
  });
  const write = (
    { entries, more }: Pick<StoredPage, 'entries' | 'more'>,
    after: number | undefined,
  ): Listing => {
    let last = after;
    for (const entry of entries) {
      const { sequence } = entry;
      if (!addShown(page, toListItem(collection, call.path, entry))) return outcome(last);
      last = sequence;
    }
    if (!more || last === undefined || entries.length === 0) return outcome(undefined);
    if (page.count >= limit) return outcome(last);
    // The store may return a page in several pieces. The page must not depend on them, since its entity tag
    // does not.
    const further = store.list(fillTemplate(path, call.parameters), last, limit - page.count, pageBytes);
    return andThen(further, (piece) => (piece.revision === revision ? write(piece, last) : retryAction));
  };
  return write(state, undefined);
}

async function create(
  served: Served,
  call: ListCall,
  receipt?: Receipt,
): Promise<ActionResponse | typeof retryAction> {
  if (call.body === undefined) throw new Problem('content-missing', 'An item is expected.');
  const { collection, store } = served;
  const members = changeMembers(served, call);
  requireStorablePath(members.collection);
  const value = await prepareValue(served, call, collection.access.POST, call.body, undefined);
  const applied = await store.apply({ kind: 'create', ...members, value, receipt });
  if (applied.applied) return buildCreatedOutcome(served, call, applied.entry);
  const retry: typeof retryAction = retryOrThrow(applied, collection, call);
  // Another request with the same receipt was performed meanwhile.
  if (receipt !== undefined) return retry;
  throw new Error('the store refused to create an item');
}

/** Returns the response to the creation of an item. */
function buildCreatedOutcome(
  { collection: { form, shape, showId }, store }: Served,
  call: ListCall,
  entry: StoredItem,
): ActionResponse {
  const { id, modified, revision } = entry;
  const href = formatHref(call.path, id);
  const state = { tag: revisionTag(store.storeId, revision, form), modified, value: undefined };
  const fields: FieldLine[] = [['Location', href], ...formatAppliedPreference(call.incoming.headers)];
  if (wantsMinimal(call.incoming.headers)) return { status: 201, headers: fields, state };
  fields.push(['Content-Location', href]);
  const format = selectFormat(call.variant);
  const document = format.writeItem(shape, showValues(shape, entry), showId ? { id, href } : undefined);
  const representation = { type: format.type, body: copyContent(document) };
  return { status: 201, headers: fields, state, representation };
}

// The check of a query before it is read, apart from what reads it: a service that starts must not load that.

/** Rejects unknown and repeated query parameters of a list. */
type QueryCheck = (call: Pick<Call, 'method' | 'query'>) => void;

/**
 * Returns a function that throws a Problem (400) for the first parameter of a query that is unknown or occurs twice.
 * @param known the parameters of the list. Other methods than GET and HEAD have none, so that they ignore all.
 * @param isCredential returns whether a parameter belongs to the credentials of a scheme
 */
function createQueryCheck(
  known: readonly string[],
  isCredential: (parameter: string) => boolean,
): QueryCheck {
  return ({ method, query }) => {
    if (method !== 'GET' && method !== 'HEAD') return;
    const seen = new Set<string>();
    for (const name of query.keys()) {
      if (isCredential(name)) continue;
      if (!known.includes(name)) throw unknownParameter(name, known);
      if (seen.has(name))
        throw new Problem('repeated-query-parameter', `The query parameter ${name} occurs more than once.`, {
          members: { parameter: name },
        });
      seen.add(name);
    }
  };
}

function unknownParameter(name: string, known: readonly string[]): Problem {
  const nearest = findClosestMatch(name, known);
  const parameter = toPrintable(name);
  const detail = `This list has no query parameter ${parameter === '' ? 'without a name' : parameter}.`;
  const hint = nearest === undefined ? `It has ${known.join(', ')}.` : `Did you mean ${nearest}?`;
  return new Problem('unknown-query-parameter', `${detail} ${hint}`, {
    members: { parameter, ...(nearest === undefined ? {} : { nearest }) },
  });
}
