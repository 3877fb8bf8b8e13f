import type { Store, StoredItem } from '../../store/store.ts';

/** The number of items that are read at once. */
const pageSize = 500;

/** Returns all items of a collection in the order of creation. Items that are created meanwhile may be among them. */
export async function* allEntries(store: Store, collection: string): AsyncGenerator<StoredItem> {
  for (let after = 0; ; ) {
    const { entries, more } = await store.list(collection, after, pageSize);
    yield* entries;
    after = entries.at(-1)?.sequence ?? after;
    if (!more) return;
  }
}
