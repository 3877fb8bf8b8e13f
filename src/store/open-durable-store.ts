import type { DurableStore, DurableStoreOptions } from './durable-store.ts';

/**
 * Opens the store in a data directory, and locks the directory. Creates the directory with mode 0700 if it does not
 * exist, and repairs the effects of a crash. The format is that of `countersign serve`, so `countersign check`, `export`
 * and `backup` can be used on the directory. Close the store after the service.
 *
 * A rejection has one of these values of `code`:
 *
 * | code | class | meaning |
 * |---|---|---|
 * | `locked` | LockedError | a running process uses the directory; `pid` is its id |
 * | `damaged` | CorruptionError | a file is corrupt in a way that no crash causes; `file` is its path. Nothing was changed |
 * | `exposed` | FilePermissionsError | other users can access the directory or a file in it |
 * | `directory` | DirectoryError | the path is not a directory, or cannot be created, read or written |
 * | `full`, `failed` | StoreError | there is no space, or the disk failed |
 *
 * @throws RangeError for an invalid option
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
