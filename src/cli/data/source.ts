import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AccountPlace } from '../../accounts/stored-file.ts';
import { systemClock } from '../../clock.ts';
import type { Options } from '../../options/options.ts';
import type { Imported } from '../../store/export.ts';
import { removeLeftovers } from '../../store/files/atomic-write.ts';
import { kindOf, snapshotName } from '../../store/files/data-files.ts';
import { prepareDirectory, rejectIncompleteCopy } from '../../store/files/directory.ts';
import { nodeDisk } from '../../store/files/disk.ts';
import { checkPermissions } from '../../store/files/file-permissions.ts';
import { whileLocked } from '../../store/files/lock.ts';
import { formatLogName } from '../../store/log/line.ts';
import { endOfLost } from '../../store/nonces/time.ts';
import { scan } from '../../store/scan.ts';
import { writeStore } from '../../store/snapshot/writer.ts';
import type { Store, StoredItem, TransferPart } from '../../store/store.ts';
import { createStoreId } from '../../store/store-id.ts';
import { isTransferable, type Transferable } from '../../store/transfer.ts';
import { actAsOwner } from '../accounts/protected-file.ts';
import { CommandError } from '../errors.ts';
import type { LoadedModule } from '../module/load-module.ts';
import { withProgress } from '../serve/progress.ts';
import type { Outlet } from '../terminal.ts';
import { withModule } from '../with-module.ts';
import { checkStopped } from './copy-directory.ts';
import { writeDataFiles } from './files.ts';

/** The data of a command: a data directory, or the store of a module. */
export interface DataSource {
  /** The location in messages. */
  readonly location: string;
  /** The location of the accounts; undefined if there is none. */
  readonly place: AccountPlace | undefined;
  /** The store of the module; undefined for a data directory. */
  readonly store: Store | undefined;
  /** Calls a function with the whole content, which no other process of this host changes meanwhile, and with warnings about it. */
  read<T>(use: (records: Records, warnings: readonly string[]) => Promise<T>): Promise<T>;
  /** Returns the items of some collections, each in the order of creation, also while a server uses them. */
  list(...collections: readonly string[]): Promise<readonly (readonly StoredItem[])[]>;
  /** Rejects with CommandError if nothing can be imported, before the export is read. */
  checkEmpty(): Promise<void>;
  /** Stores accounts and items. Rejects with CommandError if there are items meanwhile. */
  write(imported: Imported): Promise<void>;
}

/** The records of a store. */
type Records = Iterable<TransferPart> | AsyncIterable<TransferPart>;

/**
 * Runs a command on the store of the module, or else on the data directory. Closes the store. Throws CommandError.
 * @param outlet where the progress of loading is shown if it is a terminal. Default: nowhere
 */
export function withDataSource<T>(
  options: Options,
  environment: NodeJS.ProcessEnv,
  run: (source: DataSource) => Promise<T>,
  outlet?: Outlet,
): Promise<T> {
  return withModule(options, environment, (module) =>
    run(
      module?.store === undefined
        ? directorySource(options.data, outlet)
        : moduleSource(module, module.store),
    ),
  );
}

/** Throws CommandError if a data directory does not exist, and FilePermissionsError if other users can access it. */
export function checkDirectory(directory: string): void {
  if (!existsSync(directory)) throw new CommandError([`the data directory ${directory} does not exist`], 1);
  checkPermissions(directory);
}

const firstJournal = formatLogName('journal', 1);

function directorySource(directory: string, outlet: Outlet | undefined): DataSource {
  const open = (): void => {
    actAsOwner(directory);
    checkDirectory(directory);
  };
  return {
    location: directory,
    place: directory,
    store: undefined,
    read(use) {
      open();
      return whileLocked(directory, async () => {
        const { state, storeId, reports } = await withProgress(outlet, (onProgress) =>
          scan({ directory, onProgress }),
        );
        if (storeId === undefined) throw new CommandError([`${directory} has no store to export`], 1);
        return use(state.records(storeId, systemClock.now()), reports);
      });
    },
    async list(...collections) {
      open();
      const { state } = await scan({ directory, isShared: true });
      return collections.map((collection) => [...(state.collection(collection)?.entries ?? [])]);
    },
    async checkEmpty() {
      actAsOwner(directory);
      if (!existsSync(directory)) return;
      await checkStopped(directory);
      await checkNoItems(directory);
    },
    async write(imported) {
      await prepareDirectory(directory);
      await whileLocked(directory, () => writeImported(directory, imported));
    },
  };
}

/** Writes accounts and the store into a locked data directory. Throws CommandError or StoreError. */
async function writeImported(
  directory: string,
  { storeId = createStoreId(), state, documents }: Imported,
): Promise<void> {
  await checkNoItems(directory);
  for (const name of [firstJournal, snapshotName])
    await removeLeftovers(nodeDisk, directory, name, () => true);
  await writeDataFiles(directory, documents);
  await writeStore(directory, { storeId, state, now: systemClock.now() }).catch(async (error) => {
    // An empty journal without a snapshot would prevent a start.
    if (!existsSync(join(directory, snapshotName)))
      await nodeDisk.unlink(join(directory, firstJournal)).catch(() => {});
    throw error;
  });
}

/**
 * Throws CommandError unless the directory has no store, or only a first journal without changes, as after a first start
 * or an interrupted import.
 */
async function checkNoItems(directory: string): Promise<void> {
  const names = await nodeDisk.list(directory);
  rejectIncompleteCopy(directory, names);
  const hasOthers = names.some((name) => name !== firstJournal && kindOf(name) === 'store');
  if (hasOthers || !(await isUnused(directory)))
    throw new CommandError([`${directory} has items; import requires a data directory without items`], 1);
}

/** Returns whether the first journal of a directory is missing, or has no line but the first one. */
async function isUnused(directory: string): Promise<boolean> {
  const bytes = (await nodeDisk.read(join(directory, firstJournal))) ?? new Uint8Array();
  // The rest of the file may be preallocated.
  const [text = ''] = Buffer.from(bytes).toString('latin1').split('\0', 1);
  return text === '' || text.indexOf('\n') === text.length - 1;
}

function moduleSource({ file, options }: LoadedModule, store: Store): DataSource {
  const { documents } = store;
  const requireTransferable = (message: string): Transferable => {
    if (isTransferable(store)) return store;
    throw new CommandError([message], 1);
  };
  const noImport = `nothing can be imported into the store of ${file}: it has no importState`;
  const hasItems = new CommandError(
    [`the store of ${file} has items; import requires a store without items`],
    1,
  );
  return {
    location: locationOf(store, file),
    place: documents,
    store,
    read: async (use) => {
      const noExport = `the store of ${file} cannot be exported: it has no exportState`;
      return use(requireTransferable(noExport).exportState(), []);
    },
    list: (...collections) => Promise.all(collections.map((collection) => collectEntries(store, collection))),
    async checkEmpty() {
      if (!(await hasNoCollections(requireTransferable(noImport)))) throw hasItems;
    },
    async write({ storeId, state, documents: files }) {
      // Before the items: if this is interrupted, it can be repeated.
      if (documents !== undefined) await writeDataFiles(documents, files);
      // A clock of a client may be ahead by one window, and its nonce is then valid for another one.
      const now = systemClock.now();
      const noncesUntil = endOfLost(now, options.nonceWindow) - 1;
      const records = asynchronous(state.records(storeId, now));
      if (!(await requireTransferable(noImport).importState(records, noncesUntil))) throw hasItems;
    },
  };
}

/** Returns the location of the store of a module in messages. */
export function locationOf({ documents }: Store, file: string): string {
  return documents?.location ?? `the store of ${file}`;
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

async function collectEntries(store: Store, collection: string): Promise<readonly StoredItem[]> {
  const entries: StoredItem[] = [];
  for await (const entry of allEntries(store, collection)) entries.push(entry);
  return entries;
}

async function hasNoCollections(store: Transferable): Promise<boolean> {
  for await (const { kind } of store.exportState()) if (kind !== 'store') return false;
  return true;
}

async function* asynchronous(records: Iterable<TransferPart>): AsyncGenerator<TransferPart> {
  yield* records;
}
