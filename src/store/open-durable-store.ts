import type { DurableStore, DurableStoreOptions } from './durable-store.ts';

/**
 * Opens the store in a data directory, and locks the directory. Creates the directory with mode 0700 if it does not
 * exist, and repairs the effects of a crash. The format is that of `countersign serve`, so `countersign check`, `export`
 * and `backup` can be used on the directory. Close the store after the service.
 *
 * Rejects with StoreError, whose `code` is
 *
 * | code | meaning |
 * |---|---|
 * | `locked` | a running process uses the directory |
 * | `damaged` | a file is corrupt in a way that no crash causes. Nothing was changed |
 * | `exposed` | other users can access the directory or a file in it |
 * | `directory` | the path is not a directory, or cannot be created, read or written |
 * | `full`, `failed` | there is no space, or the disk failed |
 *
 * @throws RangeError (as a rejection) for an invalid option
 * @example
 * await using store = await openDurableStore('data');
 * const service = createService({ store, resources: notesOf(store) });
 */
export async function openDurableStore(
  directory: string,
  options: DurableStoreOptions = {},
): Promise<DurableStore> {
  // Loaded on first use, because most programs that import the package store nothing.
  const { openInDirectory } = await import('./durable-store.ts');
  return openInDirectory(directory, options);
}
