import type { FieldLine } from '../http/fields.ts';
import { parseContentCoding } from '../http/headers/content-coding.ts';
import { revisionTag } from '../http/headers/entity-tag.ts';
import { isConditional } from '../http/headers/precondition.ts';
import { formatAppliedPreference, wantsMinimal } from '../http/headers/prefer.ts';
import { Problem } from '../http/problem.ts';
import { hasControlCharacter } from '../http/syntax/control-character.ts';
import { fillTemplate } from '../http/syntax/percent.ts';
import { andThen } from '../maybe-promise.ts';
import {
  type ActionResponse,
  action,
  type Call,
  type ContentReader,
  type Decoder,
  type Representation,
  type Resource,
  type ResourceState,
  type retryAction,
} from '../pipeline/resource.ts';
import type { Receipt, Replacement, StoredItem, StoredRecord, StoreResult } from '../store/store.ts';
import { retryOrThrow } from './conflict.ts';
import type { Collection } from './declaration.ts';
import { merge } from './fields/merge.ts';
import { createBodyReaders, type ItemReading } from './formats/body-readers.ts';
import { formatsFor, selectFormat } from './formats/index.ts';
import {
  applyMergePatch,
  type MergePatch,
  mergePatchDecoder,
  mergePatchType,
} from './formats/json/merge-patch.ts';
import { type ItemAddress, StoredValueError } from './formats/list-item.ts';
import { copyContent } from './formats/page.ts';
import { changeMembers, checksItem, prepareValue, requireStorablePath, type Served } from './served.ts';
import { showValues } from './server-values.ts';

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
export function itemResource(served: Served): Resource<StoredItem, SentItem> {
  const { collection, store, documentLimits, repetition, defaultFormat } = served;
  const { access, path, schemes, cors, shape, requirePrecondition, hide } = collection;
  const parameter = idParameter(path);
  const readId = (call: ItemCall): string => call.parameters[parameter] ?? '';
  const formatPath = (call: ItemCall): string => fillTemplate(path, call.parameters);
  const findAddress = showAddress(collection, readId);
  const mergeSent = (before: StoredRecord, sent: SentItem): StoredRecord => merge(shape, before, sent.value);
  const put = repetition.once<StoredItem, SentItem>(
    (call, receipt) => replace(served, call, readId(call), receipt),
    (call, { entry, created }) => buildReplacedOutcome(served, call, entry, created),
    ({ value }) => value,
  );
  const post = repetition.once<StoredItem, SentItem>(
    (call, receipt) => change(served, call, mergeSent, receipt),
    (call, { entry }) => buildMergedOutcome(served, call, entry),
    ({ value }) => value,
  );
  const deletes = repetition.once<StoredItem, SentItem>(
    (call, receipt) => remove(served, call, receipt),
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
    ...(collection.patch && { PATCH: patchAction(served, findAddress) }),
    DELETE: action(access.DELETE, (call) => deletes(call), {
      ...checksItem([access.DELETE], () => access.DELETE),
      ...repetition.checks,
    }),
    produces: formatsFor(collection.defaultFormat ?? defaultFormat),
    ...(collection.defaultFormat && { defaultFormat: collection.defaultFormat }),
    find: repetition.find(
      (call) => {
        const entry = store.read(formatPath(call), readId(call));
        return andThen(entry, (found) => found && toState(served, found));
      },
      ({ entry }) => toState(served, entry),
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

function toState({ collection, store }: Served, entry: StoredItem): ResourceState<StoredItem> {
  const tag = revisionTag(store.storeId, entry.revision, collection.form);
  return { tag, modified: entry.modified, value: entry };
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
  served: Served,
  call: ItemCall,
  id: string,
  receipt?: Receipt,
): Promise<ActionResponse | typeof retryAction> {
  const expected = readExpected(call);
  const before = call.state?.value.value;
  const { putNew, putExisting } = served.collection.access;
  const access = before === undefined ? putNew : putExisting;
  const value = await prepareValue(served, call, access, requireContent(call).value, before);
  const applied = await applyPut(served, call, { id, expected, value, receipt });
  if (!applied.applied) return retryOrThrow(applied, served.collection, call);
  return buildReplacedOutcome(served, call, applied.entry, expected === 'absent');
}

/** Stores an item that has the expected revision. */
function applyPut(
  served: Served,
  call: ItemCall,
  replaced: Pick<Replacement, 'id' | 'expected' | 'value' | 'receipt'>,
): Promise<StoreResult> {
  return served.store.apply({ kind: 'put', ...changeMembers(served, call), ...replaced });
}

/** Returns the response to PUT. */
function buildReplacedOutcome(
  served: Served,
  call: ItemCall,
  entry: StoredItem,
  created: boolean,
): ActionResponse {
  const { collection } = served;
  const fields: FieldLine[] = created ? [['Location', call.path]] : [];
  const representation = writeRequestedRepresentation(collection, call, entry);
  const asSent = isStoredAsSent(collection, call, entry, representation);
  const shows = asSent ? toState(served, entry) : undefined;
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
  served: Served,
  findAddress: ((call: ItemCall) => ItemAddress) | undefined,
): NonNullable<Resource<StoredItem, SentItem>['PATCH']> {
  const { collection, repetition, documentLimits } = served;
  const { maxDepth } = documentLimits;
  const apply = (before: StoredRecord, { patch }: SentItem, call: ItemCall): StoredRecord => {
    if (patch === undefined) throw new Error('a merge patch that was read is one');
    return applyMergePatch(collection.shape, before, patch, { maxDepth, address: findAddress?.(call) });
  };
  const perform = repetition.once<StoredItem, SentItem>(
    (call, receipt) => change(served, call, apply, receipt),
    (call, { entry }) => buildMergedOutcome(served, call, entry),
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
  served: Served,
  call: ItemCall,
  apply: (before: StoredRecord, sent: SentItem, call: ItemCall) => StoredRecord,
  receipt?: Receipt,
): Promise<ActionResponse | typeof retryAction> {
  const { collection } = served;
  const { id, revision, value: before } = requireExisting(call).value;
  const merged = apply(before, requireContent(call), call);
  const value = await prepareValue(served, call, collection.access.change, merged, before);
  // Written before the change: nothing is changed if the item cannot be shown.
  const representation = writeRequestedRepresentation(collection, call, { id, value });
  const applied = await applyPut(served, call, { id, expected: revision, value, receipt });
  if (!applied.applied) return retryOrThrow(applied, collection, call);
  return buildMergedOutcome(served, call, applied.entry, representation);
}

/** Returns the response to POST. */
function buildMergedOutcome(
  served: Served,
  call: ItemCall,
  entry: StoredItem,
  representation = writeRequestedRepresentation(served.collection, call, entry),
): ActionResponse {
  return buildChangedOutcome(call, representation, 200, [], toState(served, entry));
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
  served: Served,
  call: ItemCall,
  receipt?: Receipt,
): Promise<ActionResponse | typeof retryAction> {
  const { collection, store, links } = served;
  const item = requireExisting(call).value;
  const { id, revision: expected } = item;
  const members = { ...changeMembers(served, call), references: undefined };
  const concerned = await links?.planDeletion(members.collection, item, call);
  const applied = await store.apply({ kind: 'delete', ...members, id, expected, receipt, ...concerned });
  return applied.applied ? { status: 204 } : retryOrThrow(applied, collection, call);
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
