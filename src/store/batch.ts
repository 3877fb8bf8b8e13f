// The changes of one write: which of those that wait can be stored together, and in which order they are checked.
import { maxWriteSize } from './log/file.ts';
import { isMadeAlone, itemKey } from './state/references.ts';
import type { Prepared } from './state/state.ts';
import { listUniqueKeys } from './state/unique-keys.ts';
import type { Replacement, StoreChange, StoreResult } from './store.ts';

/** A change that waits for its batch, with its callbacks. */
export interface QueuedChange {
  readonly change: StoreChange;
  resolve(applied: StoreResult): void;
  reject(error: unknown): void;
}

/** A change of the current batch. */
export interface Member {
  readonly prepared: Prepared;
  readonly queued: QueuedChange;
  /** The members of its item, as JSON. */
  readonly members: string;
  /** The changes of other items in the same step, as JSON. */
  readonly also: readonly string[] | undefined;
}

/** An upper bound of the bytes of a line apart from its texts. */
const lineOverhead = 512;
/** The maximum number of bytes of a character (a UTF-16 code unit) in JSON, as an escape. */
const maxBytesPerCharacter = 6;

/** Changes that are stored together, in this order. */
export class Batch {
  readonly members: Member[] = [];
  /** An upper bound of the length of their lines, in bytes. */
  #length = 0;
  /** The last change of each item, by collection and id. */
  readonly #latest = new Map<string, Map<string, Prepared>>();
  /** The keys of receipts; undefined if there are none. */
  #receipts: Set<string> | undefined;
  /** The unique keys of the changes, with their collections; undefined if there are none. */
  #keys: Set<string> | undefined;

  /** Returns whether the batch has room for a change. An empty batch has room for any change. `value` is JSON. */
  hasRoomFor(change: StoreChange, value: string): boolean {
    const room = maxWriteSize - this.#length - boundOthers(change);
    // A value has at most three bytes per character. Its bytes are counted only if that could be too many.
    return this.members.length === 0 || value.length * 3 <= room || Buffer.byteLength(value) <= room;
  }

  /** Returns whether the batch has a change with a receipt of this key: another one must wait for it. */
  hasReceipt(key: string): boolean {
    return this.#receipts?.has(key) ?? false;
  }

  /** Returns whether a change cannot be in the batch, because it or another one is made alone. */
  excludes(change: StoreChange): boolean {
    const [first] = this.members;
    return first !== undefined && (isMadeAlone(change) || isMadeAlone(first.queued.change));
  }

  /** Returns whether a change of the batch has a unique key of this one, which must wait for it. */
  hasKeyOf(change: StoreChange): boolean {
    const keys = this.#keys;
    return keys !== undefined && listKeys(change).some((key) => keys.has(key));
  }

  /** Returns the last change of the same item. */
  latest(change: StoreChange): Prepared | undefined {
    return change.kind === 'create' ? undefined : this.#latest.get(change.collection)?.get(change.id);
  }

  add(member: Member): void {
    const { prepared, queued, members } = member;
    const { collection, entry, receipted } = prepared;
    this.#length += boundOthers(queued.change) + Buffer.byteLength(members);
    if (receipted !== undefined) {
      this.#receipts ??= new Set();
      this.#receipts.add(receipted.receipt.key);
    }
    for (const key of listKeys(queued.change)) {
      this.#keys ??= new Set();
      this.#keys.add(key);
    }
    const items = this.#latest.get(collection);
    if (items === undefined) this.#latest.set(collection, new Map([[entry.id, prepared]]));
    else items.set(entry.id, prepared);
    this.members.push(member);
  }
}

/** Returns an upper bound of the bytes of a line apart from the value of the item. */
function boundOthers(change: StoreChange): number {
  const { collection, receipt } = change;
  let texts = collection.length;
  if (change.kind !== 'create') texts += change.id.length;
  if (receipt !== undefined) {
    const { key, fingerprint, user = '' } = receipt;
    texts += collection.length + key.length + fingerprint.length + user.length;
  }
  return texts * maxBytesPerCharacter + lineOverhead;
}

/**
 * Returns changes in the order in which they are checked: the order of arrival, except that a change which expects
 * `present` comes after those of the same item that expect a revision, because these could not apply after it.
 */
export function orderBatch(queue: readonly QueuedChange[]): readonly QueuedChange[] {
  if (!queue.some(({ change }) => expectsPresent(change))) return queue;
  const withRevision = new Set<string>();
  for (const { change } of queue) {
    if (change.kind !== 'create' && !expectsPresent(change)) withRevision.add(itemKey(change));
  }
  if (withRevision.size === 0) return queue;
  const isDeferred = ({ change }: QueuedChange): boolean =>
    expectsPresent(change) && withRevision.has(itemKey(change));
  return [...queue.filter((queued) => !isDeferred(queued)), ...queue.filter(isDeferred)];
}

/** Returns whether a change can be in the same batch after `before`, a change of the same item. */
export function mayFollow(before: Prepared, change: StoreChange): boolean {
  return before.kind === 'set' && expectsPresent(change);
}

/** Returns the unique keys of a change, with its collection. */
function listKeys(change: StoreChange): string[] {
  if (change.unique === undefined || change.kind === 'delete') return [];
  return listUniqueKeys(change.unique, change.value).map(({ key }) => `${change.collection}\n${key}`);
}

/** Returns whether a change applies to any revision of an item. */
function expectsPresent(change: StoreChange): change is Replacement {
  return change.kind === 'put' && change.expected === 'present';
}
