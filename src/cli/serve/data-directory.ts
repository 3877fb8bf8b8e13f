import { randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { accountFilePath } from '../../accounts/account-file.ts';
import { keepMasterKey, openMasterKey } from '../../accounts/master-key.ts';
import type { SecretBox } from '../../accounts/secret-box.ts';
import type { AccountPlace } from '../../accounts/stored-file.ts';
import { type StoredUser, userFile } from '../../accounts/users.ts';
import type { AccountFileWatcher } from '../../accounts/watcher.ts';
import { systemClock } from '../../clock.ts';
import { formatUndeclaredWarning, formatWarning } from '../../collections/stored-data-check.ts';
import type { SigningAlgorithm } from '../../jwt/algorithms.ts';
import type { Options } from '../../options/options.ts';
import type { StoreHealth } from '../../store/durable.ts';
import { prepareDirectory } from '../../store/files/directory.ts';
import { formatLogName } from '../../store/log/line.ts';
import type { MemoryStore } from '../../store/memory.ts';
import type { NonceStore } from '../../store/nonces/nonces.ts';
import type { CompactionLimits } from '../../store/snapshot/compaction.ts';
import type { Store } from '../../store/store.ts';
import { StoreDirectory } from '../../store/store-directory.ts';
import {
  type AccountFiles,
  type AccountUpdates,
  encryptAccountFiles,
  plaintextPaths,
  readAccountFiles,
  watchAccountFiles,
} from '../accounts/account-files.ts';
import type { Revoke } from '../accounts/revocation.ts';
import type { StoredSigningKeys } from '../accounts/signing-keys.ts';
import type { Outlet } from '../terminal.ts';
import { showProgress } from './progress.ts';
import { checkStoredData } from './stored-data.ts';
import { formatMissingMasterKey, hasOAuth1Tokens } from './stored-tokens.ts';

/** The data of a server: in a directory, in memory or in the store of a module. */
export interface DataDirectory {
  readonly store: Store;
  /** The store if it is in memory. */
  readonly memory: MemoryStore | undefined;
  /** The location of the accounts. */
  readonly place: AccountPlace;
  /** Returns the state of the store; undefined unless it is a directory. */
  readonly health: () => StoreHealth | undefined;
  /** Returns the bytes of the current journal; undefined in memory. */
  readonly journalBytes: () => number | undefined;
  /** The stored nonces; undefined in memory, where the service has its own. */
  readonly nonces: NonceStore | undefined;
  /** Whether another process knows the nonces, after a restart or on another host. */
  readonly areNoncesStored: boolean;
  readonly accountFiles: AccountFiles;
  /** The key from which OAuth 1.0a token secrets are derived; undefined in memory, where the service generates one. */
  readonly masterKey: Uint8Array | undefined;
  /** Whether the directory had neither a store nor a user file. */
  readonly isNew: boolean;
  /** The warning for undeclared collections with items; undefined if there are none, or the store cannot list its collections. */
  readonly undeclared: string | undefined;
  /** The paths of the files with unencrypted secrets. */
  readonly plaintextPaths: readonly string[];
  /** Stores the first user. Returns the path of the user file if the secret is not encrypted. */
  storeUser(name: string, user: StoredUser): Promise<string | undefined>;
  /** Stores the master key unless it is already stored. Must be called before the first token is issued. */
  storeMasterKey(): Promise<void>;
  /** Returns the keys that sign tokens. Generates one if there is none. Undefined in memory, where the service generates one. */
  openSigningKeys(algorithm: SigningAlgorithm): Promise<StoredSigningKeys | undefined>;
  /** Carries out the revocations that were requested while no server ran. */
  applyRevocations(revoke: Revoke): Promise<void>;
  /** Starts to watch the account files. Calls `updates` after each change, and `report` with an error. */
  watch(updates: AccountUpdates, report: (line: string) => void): void;
  /** Removes the new journal after a failed first start. */
  undo(): void;
  /** Waits for pending writes and releases the lock. */
  close(): Promise<void>;
}

/** What is reported about a data directory. */
export interface DataDirectoryReports {
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
): Promise<DataDirectory> {
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
    const accountFiles = await encryptAccountFiles(data, secretBox, await reading, report);
    const master = await openMasterKey(data, secretBox, randomBytes);
    let isMasterKeyStored = !master.fresh;
    const { loading, end } = showProgress(outlet, systemClock);
    const recovered = await directory.recover(loading).finally(end);
    const { mismatches, declarations } = checkStoredData(recovered, options.collections);
    if (mismatches !== undefined) report(formatWarning(mismatches, options.onMismatch));
    if (master.fresh && hasOAuth1Tokens(recovered.state, systemClock.now()))
      report(formatMissingMasterKey(data));
    const isNew = recovered.storeId === undefined && !existsSync(accountFilePath(data, 'users'));
    const items = new Map(Array.from(recovered.state.collections(), ({ path, count }) => [path, count]));
    const undeclared = formatUndeclaredWarning(items, options.collections);
    const { store, nonces } = await directory.open(recovered, declarations);
    let watching: Promise<readonly AccountFileWatcher[]> | undefined;
    return {
      store,
      memory: undefined,
      place: data,
      health: () => store.health,
      journalBytes: () => store.journalBytes,
      nonces,
      areNoncesStored: true,
      accountFiles,
      masterKey: master.bytes,
      isNew,
      undeclared,
      plaintextPaths: plaintextPaths(data, accountFiles),
      async storeUser(name, user) {
        await userFile.change(data, secretBox, (users) => users.set(name, user));
        return secretBox === undefined ? userFile.path(data) : undefined;
      },
      async storeMasterKey() {
        if (isMasterKeyStored) return;
        await keepMasterKey(data, master.bytes, secretBox);
        isMasterKeyStored = true;
      },
      openSigningKeys: async (algorithm) =>
        (await import('../accounts/signing-keys.ts')).openSigningKeys(data, secretBox, algorithm),
      async applyRevocations(revoke) {
        if (!existsSync(accountFilePath(data, 'revocations'))) return;
        const { applyRevocations } = await import('../accounts/revocation.ts');
        const { revocationFile } = await import('../../accounts/revocations.ts');
        await applyRevocations(data, (await revocationFile.read(data)).entries, revoke);
      },
      watch(updates, reportError) {
        // Not awaited: the server is ready before the watchers are loaded.
        watching = watchAccountFiles(data, secretBox, accountFiles, updates, reportError);
      },
      // With this file, the next start would not be a first start and would create no user.
      undo: () => rmSync(join(data, formatLogName('journal', 1)), { force: true }),
      async close() {
        try {
          for (const watcher of (await watching) ?? []) await watcher.close();
        } finally {
          await directory.close();
        }
      },
    };
  } catch (error) {
    await directory.close();
    throw error;
  }
}
