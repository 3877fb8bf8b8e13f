import assert from 'node:assert/strict';
import type {
  Replacement,
  Store,
  StoreChange,
  StoredItem,
  StoredPage,
  StoredRecord,
  StoreResult,
} from '../store.ts';

/** The time (ms) of the changes. */
export const at = Date.UTC(2013, 3, 20, 12, 59, 24);

/** Returns the entry of a change that must have been made. */
export function requireEntry(applied: StoreResult): StoredItem {
  assert.ok(applied.applied, 'the change was not applied');
  return applied.entry;
}

/** Returns a change that creates an item under an id that the store assigns. */
export function creation(collection: string, value: StoredRecord = {}): StoreChange {
  return { kind: 'create', collection, value, at };
}

/** Creates an item under an id that the store assigns. */
export async function create(
  store: Store,
  collection: string,
  value: StoredRecord = {},
): Promise<StoredItem> {
  return requireEntry(await store.apply(creation(collection, value)));
}

/** Returns a change that creates or replaces an item. */
export function put(
  collection: string,
  id: string,
  expected: Replacement['expected'],
  value: StoredRecord,
): StoreChange {
  return { kind: 'put', collection, id, expected, value, at };
}

/** Returns a change that deletes an item. */
export function remove(collection: string, id: string, expected: number): StoreChange {
  return { kind: 'delete', collection, id, expected, at };
}

/** Returns the ids on a page. */
export function ids({ entries }: Pick<StoredPage, 'entries'>): string[] {
  return entries.map(({ id }) => id);
}
