import { readMasterKey } from '../../accounts/master-key.ts';
import type { SecretBox } from '../../accounts/secret-box.ts';
import { formatWarning, StoredDataCheck } from '../../collections/stored-data-check.ts';
import { grantsCollection, tokensCollection } from '../../oauth/records.ts';
import type { Options } from '../../options/options.ts';
import type { Store, StoredItem } from '../../store/store.ts';
import { isTransferable } from '../../store/transfer.ts';
import { noAccountFiles, readAccountFiles } from '../accounts/account-files.ts';
import { CommandError, listMessages } from '../errors.ts';
import { type InspectedData, noNonces } from '../inspected-data.ts';
import type { LoadedModule } from './load-module.ts';

/**
 * Reads the store of a module without changing it, and compares its items with the declared collections.
 *
 * @throws CommandError with all errors
 */
export async function inspectStore(
  { file, options }: LoadedModule,
  store: Store,
  secretBox: SecretBox | undefined,
): Promise<InspectedData> {
  const { documents } = store;
  const [accountFiles, master, items] = await Promise.allSettled([
    documents === undefined ? noAccountFiles : readAccountFiles(documents, secretBox),
    documents === undefined ? undefined : readMasterKey(documents, secretBox),
    checkItems(store, options),
  ]);
  const failures = [accountFiles, master, items].flatMap((each) =>
    each.status === 'rejected' ? listMessages(each.reason) : [],
  );
  if (accountFiles.status === 'rejected' || items.status === 'rejected') throw new CommandError(failures, 1);
  if (failures.length > 0) throw new CommandError(failures, 1);
  return {
    location: documents?.location ?? `the store of ${file}`,
    place: documents ?? options.data,
    holder: undefined,
    accountFiles: accountFiles.value,
    isNew: false,
    items: items.value.counts,
    changes: 0,
    warnings: items.value.warnings,
    nonces: noNonces,
  };
}

/** The number of items by collection, and what is wrong with them. */
interface CheckedItems {
  readonly counts: ReadonlyMap<string, number>;
  readonly warnings: readonly string[];
}

async function checkItems(store: Store, { collections, onMismatch }: Options): Promise<CheckedItems> {
  const check = new StoredDataCheck(collections);
  const counts = new Map<string, number>();
  const add = (path: string, entry: StoredItem): void => {
    check.add(path, entry);
    counts.set(path, (counts.get(path) ?? 0) + 1);
  };
  const warnings: string[] = [];
  if (isTransferable(store)) {
    for await (const part of store.exportState()) {
      if (part.kind === 'collection') counts.set(part.path, 0);
      if (part.kind === 'item') add(part.collection, part.entry);
    }
  } else {
    // Without `exportState`, a store does not list its collections.
    const paths = collections.map(({ path }) => path);
    for (const path of [...paths.filter((each) => !isTemplate(each)), grantsCollection, tokensCollection])
      for await (const entry of allEntries(store, path)) add(path, entry);
    const unchecked = paths.filter(isTemplate);
    if (unchecked.length > 0)
      warnings.push(
        `the items of ${unchecked.join(', ')} were not checked: the store cannot list its collections`,
      );
  }
  const mismatches = check.result();
  if (mismatches !== undefined) warnings.push(formatWarning(mismatches, onMismatch));
  return { counts, warnings };
}

function isTemplate(path: string): boolean {
  return path.includes('{');
}

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
