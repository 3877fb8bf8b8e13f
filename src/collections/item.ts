import { createBodyReaders, type DocumentLimits, type ItemReading } from '../formats/body-readers.ts';
import { formatsFor, selectFormat } from '../formats/index.ts';
import {
  applyMergePatch,
  type MergePatch,
  mergePatchDecoder,
  mergePatchType,
} from '../formats/json/merge-patch.ts';
import { type ItemAddress, StoredValueError } from '../formats/list-item.ts';
import { copyContent } from '../formats/page.ts';
import type { FieldLine } from '../http/fields.ts';
import { parseContentCoding } from '../http/headers/content-coding.ts';
import { revisionTag } from '../http/headers/entity-tag.ts';
import { isConditional } from '../http/headers/precondition.ts';
import { formatAppliedPreference, wantsMinimal } from '../http/headers/prefer.ts';
import { Problem } from '../http/problem.ts';
import { hasControlCharacter } from '../http/syntax/control-character.ts';
import { fillTemplate } from '../http/syntax/percent.ts';
import { andThen } from '../maybe-promise.ts';
import type { Decoder } from '../pipeline/decoder.ts';
import {
  type ActionResponse,
  action,
  type Call,
  type ContentReader,
  type Representation,
  type Resource,
  type ResourceState,
  type retryAction,
} from '../pipeline/resource.ts';
import { merge } from '../schema/merge.ts';
import type { Receipt, Replacement, Store, StoredItem, StoredRecord } from '../store/store.ts';
import { retryOrThrow } from './conflict.ts';
import type { Collection } from './declaration.ts';
import { noRepetition, type Repetition } from './idempotency.ts';
import { checksItem, requireOwn } from './ownership.ts';
import { CollectionReferences } from './references.ts';
import { addServerValues, showValues } from './server-values.ts';
import { requireStorablePath, type Serving } from './serving.ts';

type ItemCall = Call<StoredItem, SentItem>;

/** Returns the path template of a collection's items. */
export function itemTemplate({ path }: Collection): string {
  return `${path}/{${idParameter(path)}}`;
}

// `id`, or a longer name if the collection's template already has that parameter.
function idParameter(path: string): string {
  let name = 'id';
  while (path.includes(`{${name}}`)) name += 'x';
  return name;
}

/**
 * Returns the resource of an item. GET reads it, PUT replaces or creates it, POST changes some fields, DELETE
 * removes it.
 */
export function itemResource(
  collection: Collection,
  store: Store,
  documentLimits: DocumentLimits,
  repetition: Repetition = noRepetition,
  { defaultFormat, references }: Serving = {},
): Resource<StoredItem, SentItem> {
  const { access, path, schemes, cors, shape, requirePrecondition, hide } = collection;
  const links = references && new CollectionReferences(references, collection, store);
  const parameter = idParameter(path);
  const readId = (call: ItemCall): string => call.parameters[parameter] ?? '';
  const formatPath = (call: ItemCall): string => fillTemplate(path, call.parameters);
  const findAddress = showAddress(collection, readId);
  const mergeSent = (before: StoredRecord, sent: SentItem): StoredRecord => merge(shape, before, sent.value);
  const put = repetition.once<StoredItem, SentItem>(
    (call, receipt) => replace(collection, store, links, call, formatPath(call), readId(call), receipt),
    (call, { entry, created }) => buildReplacedOutcome(collection, store, call, entry, created),
    ({ value }) => value,
  );
  const post = repetition.once<StoredItem, SentItem>(
    (call, receipt) => change(collection, store, links, call, formatPath(call), mergeSent, receipt),
    (call, { entry }) => buildMergedOutcome(collection, store, call, entry),
    ({ value }) => value,
  );
  const deletes = repetition.once<StoredItem, SentItem>(
    (call, receipt) => remove(collection, store, links, call, formatPath(call), receipt),
    () => ({ status: 204 }),
    ({ value }) => value,
  );

  return {
    GET: action(
      access.GET,
      (call) => {
        const found = requireExisting(call);
        return {
          status: 200,
          representation: writeRepresentation(collection, call, found.value),
          state: found,
        };
      },
      checksItem([access.GET, access.HEAD], ({ method }) => (method === 'HEAD' ? access.HEAD : access.GET)),
    ),
    headAccess: access.HEAD,
    checksParameters: true,
    schemes,
    cors,
    ...(collection.idempotency !== 'off' && { requestHeaders: ['Idempotency-Key'] }),
    PUT: action(access.PUT, (call) => put(call), {
      reads: createBodyReaders(shape, { ...documentLimits, partial: false }, findAddress).map(keepingContent),
      ...checksItem([access.putExisting, access.putNew], ({ state }) =>
        state === undefined ? access.putNew : access.putExisting,
      ),
      mayCreate: (call) => collection.createWithPut && checkAddress(formatPath(call), readId(call)),
      ...repetition.checks,
    }),
    POST: action(access.change, (call) => post(call), {
      reads: createBodyReaders(shape, { ...documentLimits, partial: true }, findAddress).map(keepingContent),
      ...checksItem([access.change], () => access.change),
      ...repetition.checks,
    }),
    ...(collection.patch && {
      PATCH: patchAction(collection, store, links, documentLimits, repetition, formatPath, findAddress),
    }),
    DELETE: action(access.DELETE, (call) => deletes(call), {
      ...checksItem([access.DELETE], () => access.DELETE),
      ...repetition.checks,
    }),
    produces: formatsFor(collection.defaultFormat ?? defaultFormat),
    ...(collection.defaultFormat && { defaultFormat: collection.defaultFormat }),
    find: repetition.find(
      (call) => {
        const entry = store.read(formatPath(call), readId(call));
        return andThen(entry, (found) => toState(collection, store, found));
      },
      ({ entry }) => toState(collection, store, entry),
    ),
    ...(requirePrecondition ? { requirePrecondition } : {}),
    ...(hide ? { hide } : {}),
    description: {
      item: shape.item,
      ...repetition.description,
      ...(requirePrecondition ? { requirePrecondition: 'true' } : {}),
    },
  };
}

/** Returns how the id and path are found that JSON shows; undefined if it shows none. */
function showAddress({ showId }: Collection, readId: (call: ItemCall) => string) {
  return showId ? (call: ItemCall): ItemAddress => ({ id: readId(call), href: call.path }) : undefined;
}

function toState(
  { form }: Collection,
  store: Store,
  entry: StoredItem | undefined,
): ResourceState<StoredItem> | undefined {
  if (entry === undefined) return undefined;
  return { tag: revisionTag(store.storeId, entry.revision, form), modified: entry.modified, value: entry };
}

function requireExisting({ state: found }: ItemCall): ResourceState<StoredItem> {
  if (found === undefined) throw new Problem('not-found', 'Nothing is at this address.');
  return found;
}

function requireContent({ body: content }: ItemCall): SentItem {
  if (content === undefined) throw new Problem('content-missing', 'An item is expected.');
  return content;
}

function checkAddress(path: string, id: string): boolean {
  const reason = findInvalidIdReason(id);
  if (reason !== undefined) throw new Problem('invalid-id', `The id ${reason}.`);
  requireStorablePath(path);
  return true;
}

/**
 * Returns the reason why a client cannot choose this id; undefined if it can. An id has 1 to 128 bytes of
 * UTF-8 without control characters and slashes, and is not a dot segment.
 */
export function findInvalidIdReason(id: string): string | undefined {
  if (id === '.' || id === '..') return 'is a dot segment';
  if (id.includes('/')) return 'has a slash';
  if (hasControlCharacter(id)) return 'has a control character';
  return Buffer.byteLength(id) > 128 ? 'has more than 128 bytes' : undefined;
}

/**
 * Writes an item. Throws a Problem for an item that was stored under another declaration and cannot be written: the server
 * has no representation of it (RFC 9110 §15.5.5).
 */
function writeRepresentation(collection: Collection, call: ItemCall, item: ShownItem): Representation {
  const format = selectFormat(call.variant);
  try {
    return { type: format.type, body: copyContent(writeShown(collection, call, item)) };
  } catch (error) {
    if (!(error instanceof StoredValueError)) throw error;
    const reason = 'The stored item does not match the declaration of its collection';
    throw new Problem('not-found', `${reason}, so it is not shown. PUT replaces it, and DELETE removes it.`);
  }
}

/** The parts of an item that are shown. */
type ShownItem = Pick<StoredItem, 'id' | 'value'>;

/** Writes the document of an item in the format that the client prefers. */
function writeShown({ shape, showId }: Collection, call: ItemCall, item: ShownItem): string {
  const address = showId ? { id: item.id, href: call.path } : undefined;
  return selectFormat(call.variant).writeItem(shape, showValues(shape, item), address);
}

async function replace(
  collection: Collection,
  store: Store,
  links: CollectionReferences | undefined,
  call: ItemCall,
  name: string,
  id: string,
  receipt?: Receipt,
): Promise<ActionResponse | typeof retryAction> {
  const expected = readExpected(call);
  const before = call.state?.value.value;
  const sent = addServerValues(collection.shape, requireContent(call).value, call, before);
  const value = links === undefined ? sent : await links.resolve(sent, before, call);
  const { putNew, putExisting } = collection.access;
  requireOwn(before === undefined ? putNew : putExisting, call, value);
  const applied = await store.apply({
    kind: 'put',
    collection: name,
    id,
    expected,
    value,
    at: call.now,
    receipt,
    unique: collection.unique,
    references: links?.rules,
  });
  if (!applied.applied) return retryOrThrow(applied, collection, name, call);
  return buildReplacedOutcome(collection, store, call, applied.entry, expected === 'absent');
}

/** Returns the response to PUT. */
function buildReplacedOutcome(
  collection: Collection,
  store: Store,
  call: ItemCall,
  entry: StoredItem,
  created: boolean,
): ActionResponse {
  const fields: FieldLine[] = created ? [['Location', call.path]] : [];
  const representation = writeRequestedRepresentation(collection, call, entry);
  const asSent = isStoredAsSent(collection, call, entry, representation);
  const shows = asSent ? toState(collection, store, entry) : undefined;
  return buildChangedOutcome(call, representation, created ? 201 : 200, fields, shows);
}

/**
 * Returns whether the new representation is the content of the request, byte for byte. Only then may the response to PUT have a
 * validator (RFC 9110 §9.3.4). The validator is that of the variant that the client prefers, so it must be the one that was sent.
 */
function isStoredAsSent(
  collection: Collection,
  call: ItemCall,
  entry: StoredItem,
  representation: Representation | undefined,
): boolean {
  const sent = requireContent(call);
  const format = selectFormat(call.variant);
  if (format.reads !== sent.type) return false;
  if (parseContentCoding(call.incoming.headers.get('content-encoding')) !== 'identity') return false;
  return isAsSent(sent, representation?.body ?? writeShown(collection, call, entry));
}

/**
 * Without preconditions, PUT replaces any revision, so that many requests can replace one item without
 * waiting.
 */
function readExpected({ state: found, incoming: request }: ItemCall): Replacement['expected'] {
  if (found === undefined) return 'absent';
  return isConditional(request.headers) ? found.value.revision : 'present';
}

/** Returns the action that applies a merge patch. */
function patchAction(
  collection: Collection,
  store: Store,
  links: CollectionReferences | undefined,
  { maxDepth }: DocumentLimits,
  repetition: Repetition,
  formatPath: (call: ItemCall) => string,
  findAddress: ((call: ItemCall) => ItemAddress) | undefined,
): NonNullable<Resource<StoredItem, SentItem>['PATCH']> {
  const apply = (before: StoredRecord, { patch }: SentItem, call: ItemCall): StoredRecord => {
    if (patch === undefined) throw new Error('a merge patch that was read is one');
    return applyMergePatch(collection.shape, before, patch, { maxDepth, address: findAddress?.(call) });
  };
  const perform = repetition.once<StoredItem, SentItem>(
    (call, receipt) => change(collection, store, links, call, formatPath(call), apply, receipt),
    (call, { entry }) => buildMergedOutcome(collection, store, call, entry),
    ({ patch }) => ({ patch: patch?.text ?? '' }),
  );
  const decoder = () => {
    const inner = mergePatchDecoder(maxDepth);
    const end = (): SentItem => ({ value: {}, type: mergePatchType, pieces: [], patch: inner.end() });
    return { write: (bytes: Uint8Array) => inner.write(bytes), end };
  };
  return action(collection.access.change, (call) => perform(call), {
    reads: [{ type: mergePatchType, decoder }],
    ...checksItem([collection.access.change], () => collection.access.change),
    ...repetition.checks,
  });
}

/** Changes an item to what `apply` makes of it. */
async function change(
  collection: Collection,
  store: Store,
  links: CollectionReferences | undefined,
  call: ItemCall,
  name: string,
  apply: (before: StoredRecord, sent: SentItem, call: ItemCall) => StoredRecord,
  receipt?: Receipt,
): Promise<ActionResponse | typeof retryAction> {
  const { id, revision, value: before } = requireExisting(call).value;
  const merged = addServerValues(collection.shape, apply(before, requireContent(call), call), call, before);
  const value = links === undefined ? merged : await links.resolve(merged, before, call);
  requireOwn(collection.access.change, call, value);
  // Written before the change: nothing is changed if the item cannot be shown.
  const representation = writeRequestedRepresentation(collection, call, { id, value });
  const applied = await store.apply({
    kind: 'put',
    collection: name,
    id,
    expected: revision,
    value,
    at: call.now,
    receipt,
    unique: collection.unique,
    references: links?.rules,
  });
  if (!applied.applied) return retryOrThrow(applied, collection, name, call);
  return buildMergedOutcome(collection, store, call, applied.entry, representation);
}

/** Returns the response to POST. */
function buildMergedOutcome(
  collection: Collection,
  store: Store,
  call: ItemCall,
  entry: StoredItem,
  representation = writeRequestedRepresentation(collection, call, entry),
): ActionResponse {
  return buildChangedOutcome(call, representation, 200, [], toState(collection, store, entry));
}

/** Writes the item for the response to a change; undefined if the client prefers a minimal response. */
function writeRequestedRepresentation(
  collection: Collection,
  call: ItemCall,
  item: ShownItem,
): Representation | undefined {
  return wantsMinimal(call.incoming.headers) ? undefined : writeRepresentation(collection, call, item);
}

/** Returns the outcome of a change, with the representation unless it is undefined. */
function buildChangedOutcome(
  call: ItemCall,
  representation: Representation | undefined,
  status: number,
  fields: FieldLine[],
  shows: ResourceState<StoredItem> | undefined,
): ActionResponse {
  fields.push(...formatAppliedPreference(call.incoming.headers));
  if (representation === undefined)
    return { status: status === 200 ? 204 : status, headers: fields, state: shows };
  fields.push(['Content-Location', call.path]);
  return { status, headers: fields, state: shows, representation };
}

async function remove(
  collection: Collection,
  store: Store,
  links: CollectionReferences | undefined,
  call: ItemCall,
  name: string,
  receipt?: Receipt,
): Promise<ActionResponse | typeof retryAction> {
  const item = requireExisting(call).value;
  const { id, revision } = item;
  const concerned = links === undefined ? {} : await links.planDeletion(name, item, call);
  const applied = await store.apply({
    kind: 'delete',
    collection: name,
    id,
    expected: revision,
    at: call.now,
    receipt,
    unique: collection.unique,
    ...concerned,
  });
  return applied.applied ? { status: 204 } : retryOrThrow(applied, collection, name, call);
}

/** An item that a client sent. */
interface SentItem {
  readonly value: StoredRecord;
  /** The media type, in lower case. */
  readonly type: string;
  /** The content as received, decompressed, in pieces. */
  readonly pieces: readonly Uint8Array[];
  /** The merge patch, if it is one. The item then has no value of its own. */
  readonly patch?: MergePatch;
}

/** Returns a body reader that decodes like `reading` and keeps the content as received. */
function keepingContent<State>({
  type,
  anyCharset,
  decoder,
}: ItemReading<Call<State, SentItem>>): ContentReader<State, SentItem> {
  return {
    type,
    anyCharset,
    decoder: (call) => andThen(decoder(call), (inner) => createRecorder(type, inner)),
  };
}

function createRecorder(type: string, inner: Decoder): Decoder {
  const pieces: Uint8Array[] = [];
  return {
    write(bytes) {
      pieces.push(bytes);
      inner.write(bytes);
    },
    end: () => ({ value: inner.end(), type, pieces }),
  };
}

/** Returns whether a document has the same bytes as the content that the client sent. */
function isAsSent({ pieces }: SentItem, document: string | Uint8Array): boolean {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return Buffer.byteLength(document) === length && Buffer.concat(pieces).equals(Buffer.from(document));
}
