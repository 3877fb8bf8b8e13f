import { randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { keepMasterKey, openMasterKey } from '../../accounts/master-key.ts';
import type { SecretBox } from '../../accounts/secret-box.ts';
import { type AccountPlace, accountFilePath } from '../../accounts/stored-file.ts';
import { type StoredUser, userFile } from '../../accounts/users.ts';
import { systemClock } from '../../clock.ts';
import { formatUndeclaredWarning, formatWarning } from '../../collections/stored-data-check.ts';
import type { Options } from '../../options/options.ts';
import type { StoreHealth } from '../../store/durable.ts';
import { prepareDirectory } from '../../store/files/directory.ts';
import { formatLogName } from '../../store/log/line.ts';
import type { MemoryStore } from '../../store/memory.ts';
import type { NonceStore } from '../../store/nonces/nonces.ts';
import type { CompactionLimits } from '../../store/snapshot/compaction.ts';
import type { Store } from '../../store/store.ts';
import { StoreDirectory } from '../../store/store-directory.ts';
import { openAccounts, readAccountFiles, type ServerAccounts } from '../accounts/account-files.ts';
import type { Outlet } from '../terminal.ts';
import { withProgress } from './progress.ts';
import { checkStoredData, formatMissingMasterKey, hasOAuth1Tokens } from './stored-data.ts';

/** The data of a server: in a directory, in memory or in the store of a module. */
export interface ServerData {
  readonly store: Store;
  /** The store if it is in memory. */
  readonly memory?: MemoryStore;
  /** The location of the accounts. */
  readonly place: AccountPlace;
  /** Undefined if none can be stored. */
  readonly accounts?: ServerAccounts | undefined;
  /** Returns the state of the store. Only a directory has one. */
  health?(): StoreHealth;
  /** Returns the bytes of the current journal. Only a directory has one. */
  journalBytes?(): number;
  /** The nonces; undefined in memory, where the service has its own. */
  readonly nonces?: NonceStore;
  /** Whether another process knows the nonces, after a restart or on another host. */
  readonly areNoncesStored: boolean;
  /** The key from which OAuth 1.0a token secrets are derived; undefined in memory, where the service generates one. */
  readonly masterKey?: Uint8Array;
  /** Whether there was neither a store nor a user file. */
  readonly isNew: boolean;
  /** The warning for undeclared collections with items; undefined if there are none, or the store cannot list its collections. */
  readonly undeclared?: string | undefined;
  /** Stores the first user. Returns the path of the user file if the secret is not encrypted. */
  storeUser?(name: string, user: StoredUser): Promise<string | undefined>;
  /** Stores the master key unless it is already stored. Must be called before the first token is issued. */
  storeMasterKey?(): Promise<void>;
  /** Removes the new journal after a failed first start. */
  undo?(): void;
  /** Waits for pending writes and releases the lock. */
  close(): Promise<void>;
}

/** What is reported about a data directory. */
interface DataDirectoryReports {
  /** Called with one line for each repair, each loss, and each failure. */
  readonly report: (line: string) => void;
  /** Where the progress of loading is shown if it is a terminal; undefined for nowhere. */
  readonly outlet: Outlet | undefined;
  /** Called with the duration of each sync of the journal (ms). */
  readonly onSync: ((ms: number) => void) | undefined;
}

/**
 * Opens and locks the data directory. Creates it if it does not exist. Encrypts unencrypted secrets if there is a key.
 * Passes a line to `report` for each such file, each repair and each loss.
 */
export async function openDataDirectory(
  options: Options,
  secretBox: SecretBox | undefined,
  { report, outlet, onSync }: DataDirectoryReports,
  limits?: CompactionLimits,
): Promise<ServerData> {
  const { data, durability } = options;
  await prepareDirectory(data);
  // The lock does not protect the account files, so they are read meanwhile.
  const reading = readAccountFiles(data, secretBox);
  reading.catch(() => {}); // handled where it is awaited
  const directory = await StoreDirectory.lock({
    directory: data,
    durability,
    window: options.nonceWindow,
    maxNonces: options.maxNonces,
    maxNoncesPerUser: options.maxNoncesPerUser,
    clock: systemClock,
    random: randomBytes,
    onWarning: report,
    limits,
    onSync,
  });
  try {
    const accounts = await openAccounts(data, secretBox, reading, report);
    const master = await openMasterKey(data, secretBox, randomBytes);
    let isMasterKeyStored = !master.fresh;
    const recovered = await withProgress(outlet, (onProgress) => directory.recover(onProgress));
    const { mismatches, declarations } = checkStoredData(recovered, options.collections);
    if (mismatches !== undefined) report(formatWarning(mismatches, options.onMismatch));
    if (master.fresh && hasOAuth1Tokens(recovered.state, systemClock.now()))
      report(formatMissingMasterKey(data));
    const isNew = recovered.storeId === undefined && !existsSync(accountFilePath(data, 'users'));
    const items = new Map(Array.from(recovered.state.collections(), ({ path, count }) => [path, count]));
    const undeclared = formatUndeclaredWarning(items, options.collections);
    const { store, nonces } = await directory.open(recovered, declarations);
    return {
      store,
      place: data,
      accounts,
      health: () => store.health,
      journalBytes: () => store.journalBytes,
      nonces,
      areNoncesStored: true,
      masterKey: master.bytes,
      isNew,
      undeclared,
      async storeUser(name, user) {
        await userFile.change(data, secretBox, (users) => users.set(name, user));
        return secretBox === undefined ? userFile.path(data) : undefined;
      },
      async storeMasterKey() {
        if (isMasterKeyStored) return;
        await keepMasterKey(data, master.bytes, secretBox);
        isMasterKeyStored = true;
      },
      // With this file, the next start would not be a first start and would create no user.
      undo: () => rmSync(join(data, formatLogName('journal', 1)), { force: true }),
      close: () => accounts.close().finally(() => directory.close()),
    };
  } catch (error) {
    await directory.close();
    throw error;
  }
}
