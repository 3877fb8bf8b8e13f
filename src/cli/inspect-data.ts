import { access, constants, readdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { readMasterKey } from '../accounts/master-key.ts';
import type { SecretBox } from '../accounts/secret-box.ts';
import type { AccountPlace } from '../accounts/stored-file.ts';
import { systemClock } from '../clock.ts';
import { formatWarning, StoredDataCheck } from '../collections/stored-data-check.ts';
import { grantsCollection, tokensCollection } from '../oauth/records.ts';
import type { Options } from '../options/options.ts';
import { checkPermissions } from '../store/files/file-permissions.ts';
import { findHolder } from '../store/files/lock.ts';
import { inspectNonces, type NonceReport } from '../store/nonces/file.ts';
import { scan } from '../store/scan.ts';
import type { Store, StoredItem } from '../store/store.ts';
import { isTransferable } from '../store/transfer.ts';
import { type AccountFiles, noAccountFiles, readAccountFiles } from './accounts/account-files.ts';
import { allEntries, locationOf } from './data/source.ts';
import { CommandError, listMessages } from './errors.ts';
import type { LoadedModule } from './module/load-module.ts';
import { withProgress } from './serve/progress.ts';
import { checkAllStoredData, formatMissingMasterKey, hasOAuth1Tokens } from './serve/stored-data.ts';
import type { Terminal } from './terminal.ts';

/** The content of a data directory, or of the store of a module. */
export interface InspectedData {
  /** The location, for the report. */
  readonly location: string;
  /** The location of the accounts. */
  readonly place: AccountPlace;
  /** The id of the process that uses the directory. */
  readonly holder: number | undefined;
  readonly accountFiles: AccountFiles;
  /** Whether the directory has neither a store nor a user file. */
  readonly isNew: boolean;
  /** The number of items by collection. */
  readonly items: ReadonlyMap<string, number>;
  /** The number of changes in the journals. */
  readonly changes: number;
  /** The repairs that a start would make, and other problems, one sentence each. */
  readonly warnings: readonly string[];
  readonly nonces: NonceReport;
}

const noNonces: NonceReport = { live: 0, loss: undefined };

/** A directory that does not exist. */
const noData = {
  holder: undefined,
  accountFiles: noAccountFiles,
  isNew: true,
  items: new Map<string, number>(),
  changes: 0,
  warnings: [],
  nonces: noNonces,
};

/**
 * Reads the store of the module, or else the data directory, without changing it.
 *
 * @throws CommandError with all errors that would prevent a start
 */
export async function inspectData(
  options: Options,
  module: LoadedModule | undefined,
  secretBox: SecretBox | undefined,
  terminal: Terminal,
): Promise<InspectedData> {
  if (module?.store !== undefined) return inspectStore(module, module.store, secretBox);
  const { data, memory } = options;
  if (memory) return { ...noData, location: 'in memory, lost when the server stops', place: data };
  if (await isUsable(data)) return inspectDirectory(options, secretBox, terminal);
  return { ...noData, location: `${resolve(data)}, to be created`, place: data };
}

/** Waits for all values. Throws a CommandError with the errors of all. */
export async function awaitAll<const T extends readonly unknown[]>(
  values: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const settled = await Promise.allSettled(values);
  const faults = settled.flatMap((each) => (each.status === 'rejected' ? listMessages(each.reason) : []));
  if (faults.length > 0) throw new CommandError(faults, 1);
  return Promise.all(values);
}

async function inspectDirectory(
  { data, collections, nonceWindow, onMismatch }: Options,
  secretBox: SecretBox | undefined,
  { stderr }: Pick<Terminal, 'stderr'>,
): Promise<InspectedData> {
  checkPermissions(data);
  const holder = (await findHolder(data))?.pid;
  const [{ state, storeId, changes, reports }, accountFiles, master, nonces] = await awaitAll([
    withProgress(stderr, (onProgress) => scan({ directory: data, isShared: true, onProgress })),
    readAccountFiles(data, secretBox),
    readMasterKey(data, secretBox),
    // A running server changes the file while it is read.
    holder === undefined ? inspectNonces(data, nonceWindow, systemClock) : noNonces,
  ]);
  const mismatches = checkAllStoredData(state, collections);
  const lacksMasterKey =
    master === undefined && secretBox === undefined && hasOAuth1Tokens(state, systemClock.now());
  return {
    location: resolve(data),
    place: data,
    holder,
    accountFiles,
    isNew: storeId === undefined && !(await readdir(data)).includes('users.json'),
    items: new Map(Array.from(state.collections(), ({ path, count }) => [path, count])),
    changes,
    warnings: [
      ...reports,
      ...(mismatches === undefined ? [] : [formatWarning(mismatches, onMismatch)]),
      ...(lacksMasterKey ? [formatMissingMasterKey(data)] : []),
    ],
    nonces,
  };
}

/** Returns whether the directory exists. Throws CommandError if it cannot be used or created. */
async function isUsable(path: string): Promise<boolean> {
  const { existing, directory } = await findNearestExisting(resolve(path));
  const own = existing === resolve(path);
  if (!directory)
    throw new CommandError([`${path} cannot be the data directory: ${existing} is not a directory`], 1);
  try {
    await access(existing, constants.W_OK | constants.X_OK | (own ? constants.R_OK : 0));
  } catch {
    throw new CommandError(
      [`${path} cannot be the data directory: no permission to write to ${existing}`],
      1,
    );
  }
  return own;
}

/** Returns the path itself, or its nearest ancestor that exists. */
async function findNearestExisting(path: string): Promise<{ existing: string; directory: boolean }> {
  try {
    return { existing: path, directory: (await stat(path)).isDirectory() };
  } catch {
    return dirname(path) === path ? { existing: path, directory: false } : findNearestExisting(dirname(path));
  }
}

/** Compares the items of the store of a module with the declared collections, and reads its documents. */
async function inspectStore(
  { file, options }: LoadedModule,
  store: Store,
  secretBox: SecretBox | undefined,
): Promise<InspectedData> {
  const { documents } = store;
  const [accountFiles, { items, warnings }] = await awaitAll([
    documents === undefined ? noAccountFiles : readAccountFiles(documents, secretBox),
    checkItems(store, options),
    documents === undefined ? undefined : readMasterKey(documents, secretBox),
  ]);
  const location = locationOf(store, file);
  const place = documents ?? options.data;
  return { ...noData, location, place, accountFiles, isNew: false, items, warnings };
}

/** Returns the number of items by collection, and what is wrong with them. */
async function checkItems(
  store: Store,
  { collections, onMismatch }: Options,
): Promise<Pick<InspectedData, 'items' | 'warnings'>> {
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
  return { items: counts, warnings };
}

function isTemplate(path: string): boolean {
  return path.includes('{');
}
