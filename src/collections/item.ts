import { bodyReadersOf, type DocumentLimits } from '../formats/body-readers.ts';
import { formatOf, formats } from '../formats/index.ts';
import { ownContent } from '../formats/page.ts';
import type { FieldLine } from '../http/fields.ts';
import { revisionTag } from '../http/headers/entity-tag.ts';
import { isConditional } from '../http/headers/precondition.ts';
import { appliedPreference, wantsMinimal } from '../http/headers/prefer.ts';
import { fillTemplate } from '../http/path.ts';
import { Problem } from '../http/problem.ts';
import { hasControlCharacter } from '../http/syntax/control-character.ts';
import { andThen } from '../maybe-promise.ts';
import {
  action,
  type Call,
  changedMeanwhile,
  type Found,
  type Outcome,
  type Representation,
  type Resource,
} from '../pipeline/resource.ts';
import { merge } from '../schema/merge.ts';
import type { Entry, RecordValue, Replacement, Store } from '../store/store.ts';
import type { Collection } from './declaration.ts';

type ItemCall = Call<Entry, RecordValue>;

/** The path template of a collection's items. */
export function itemTemplate({ path }: Collection): string {
  return `${path}/{${idParameter(path)}}`;
}

// `id`, unless the collection's own template has a parameter of that name.
function idParameter(path: string): string {
  let name = 'id';
  while (path.includes(`{${name}}`)) name += 'x';
  return name;
}

/** One item: GET reads it, PUT replaces or makes it, POST changes some of its fields, DELETE takes it away. */
export function itemResource(
  collection: Collection,
  store: Store,
  documentLimits: DocumentLimits,
): Resource<Entry, RecordValue> {
  const { access, path, shape } = collection;
  const parameter = idParameter(path);
  const idOf = (call: ItemCall): string => call.parameters[parameter] ?? '';
  const nameOf = (call: ItemCall): string => fillTemplate(path, call.parameters);

  return {
    GET: action(access.GET, (call) => {
      const found = existing(call);
      return { status: 200, representation: written(collection, call, found.state), shows: found };
    }),
    headAccess: access.HEAD,
    PUT: action(access.PUT, (call) => replace(collection, store, call, nameOf(call), idOf(call)), {
      reads: bodyReadersOf(shape, { ...documentLimits, partial: false }),
      mayCreate: (call) => collection.createWithPut && judgeId(idOf(call)),
    }),
    POST: action(access.POST, (call) => change(collection, store, call, nameOf(call)), {
      reads: bodyReadersOf(shape, { ...documentLimits, partial: true }),
    }),
    DELETE: action(access.DELETE, (call) => remove(store, call, nameOf(call))),
    produces: formats,
    find(call) {
      const entry = store.read(nameOf(call), idOf(call));
      return andThen(entry, (found) => foundOf(collection, store, found));
    },
    description: { item: shape.item },
  };
}

function foundOf({ form }: Collection, store: Store, entry: Entry | undefined): Found<Entry> | undefined {
  if (entry === undefined) return undefined;
  return { tag: revisionTag(store.storeId, entry.revision, form), modified: entry.modified, state: entry };
}

function existing({ found }: ItemCall): Found<Entry> {
  if (found === undefined) throw new Problem('not-found', 'Nothing is at this address.');
  return found;
}

function sent({ content }: ItemCall): RecordValue {
  if (content === undefined) throw new Problem('content-missing', 'An item is expected.');
  return content;
}

function judgeId(id: string): boolean {
  const fault = idFault(id);
  if (fault === undefined) return true;
  throw new Problem('invalid-id', `The id ${fault}.`);
}

/** Returns why a client cannot choose this id, or undefined: 1 to 128 bytes of UTF-8, no control characters, no slash, no dot segment. */
export function idFault(id: string): string | undefined {
  if (id === '.' || id === '..') return 'is a dot segment';
  if (id.includes('/')) return 'has a slash';
  if (hasControlCharacter(id)) return 'has a control character';
  return Buffer.byteLength(id) > 128 ? 'has more than 128 bytes' : undefined;
}

function written({ shape }: Collection, call: ItemCall, { value }: Entry): Representation {
  const format = formatOf(call.variant);
  return { type: format.type, content: ownContent(format.writeItem(shape, value)) };
}

async function replace(
  collection: Collection,
  store: Store,
  call: ItemCall,
  name: string,
  id: string,
): Promise<Outcome | typeof changedMeanwhile> {
  const expected = expectedBy(call);
  const value = sent(call);
  const applied = await store.apply({
    kind: 'put',
    collection: name,
    id,
    expected,
    value,
    at: call.now,
    nonce: call.principal?.nonce,
  });
  if (!applied.applied) return changedMeanwhile;
  const fields: FieldLine[] = expected === 'absent' ? [['Location', call.path]] : [];
  // RFC 9110 §9.3.4: no entity tag, for what is kept is not byte for byte what was sent.
  return shown(collection, call, applied.entry, expected === 'absent' ? 201 : 200, fields);
}

/** Without preconditions it replaces whatever is there: so many can replace one item without waiting for each other. */
function expectedBy({ found, request }: ItemCall): Replacement['expected'] {
  if (found === undefined) return 'absent';
  return isConditional(request.fields) ? found.state.revision : 'present';
}

async function change(
  collection: Collection,
  store: Store,
  call: ItemCall,
  name: string,
): Promise<Outcome | typeof changedMeanwhile> {
  const { id, revision, value: before } = existing(call).state;
  const value = merge(collection.shape, before, sent(call));
  const applied = await store.apply({
    kind: 'put',
    collection: name,
    id,
    expected: revision,
    value,
    at: call.now,
    nonce: call.principal?.nonce,
  });
  if (!applied.applied) return changedMeanwhile;
  const shows = foundOf(collection, store, applied.entry);
  const outcome = shown(collection, call, applied.entry, 200, []);
  return shows === undefined ? outcome : { ...outcome, shows };
}

/** The item as it is now, unless the client prefers to do without. */
function shown(
  collection: Collection,
  call: ItemCall,
  entry: Entry,
  status: number,
  fields: FieldLine[],
): Outcome {
  fields.push(...appliedPreference(call.request.fields));
  if (wantsMinimal(call.request.fields)) return { status: status === 200 ? 204 : status, fields };
  fields.push(['Content-Location', call.path]);
  return { status, fields, representation: written(collection, call, entry) };
}

async function remove(
  store: Store,
  call: ItemCall,
  name: string,
): Promise<Outcome | typeof changedMeanwhile> {
  const { id, revision } = existing(call).state;
  const applied = await store.apply({
    kind: 'delete',
    collection: name,
    id,
    expected: revision,
    at: call.now,
    nonce: call.principal?.nonce,
  });
  return applied.applied ? { status: 204 } : changedMeanwhile;
}
