import { randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { accountFilePath } from '../../accounts/account-file.ts';
import { keepMasterKey, openMasterKey } from '../../accounts/master-key.ts';
import type { SecretBox } from '../../accounts/secret-box.ts';
import { type StoredUser, userFile } from '../../accounts/users.ts';
import type { AccountFileWatcher } from '../../accounts/watcher.ts';
import { systemClock } from '../../clock.ts';
import type { Options } from '../../options/options.ts';
import { type DurableStore, openDurableStore, type StoreHealth } from '../../store/durable.ts';
import { prepareDirectory } from '../../store/files/directory.ts';
import { lockDirectory } from '../../store/files/lock.ts';
import { type FileNonces, openNonces } from '../../store/nonces/file.ts';
import { journalName, type Recovered, recover } from '../../store/recovery/recovery.ts';
import type { CompactionLimits } from '../../store/snapshot/compaction.ts';
import type { Store } from '../../store/store.ts';
import {
  type AccountUpdates,
  encryptAccountFiles,
  plaintextPaths,
  readAccountFiles,
  watchAccountFiles,
} from '../accounts/account-files.ts';
import { changeAccountFile } from '../accounts/change.ts';
import type { AccountFiles } from '../accounts/no-account-files.ts';
import { showProgress } from './progress.ts';
import { newStoreId } from './store-id.ts';
import { hasOAuth1Tokens, masterKeyGone } from './stored-tokens.ts';
import { checkStoredData } from './validation-marker.ts';

/** Where a server keeps what it is told: a directory of its own, or memory. */
export interface DataDirectory {
  readonly store: Store;
  /** How the store is; undefined in memory, where nothing can go wrong with it. */
  readonly health: () => StoreHealth | undefined;
  /** Undefined in memory: they are the service's own there. */
  readonly nonces: FileNonces | undefined;
  readonly rosters: AccountFiles;
  /** What token secrets of OAuth 1.0a are derived with; undefined in memory, where the service draws it. */
  readonly masterKey: Uint8Array | undefined;
  /** Whether there was nothing here before. */
  readonly fresh: boolean;
  /** The files in which secrets are for who can read them. */
  readonly clear: readonly string[];
  /** Keeps a first user; gives the file, where its secret is in the clear. */
  keepUser(name: string, user: StoredUser): Promise<string | undefined>;
  /** Keeps the master key, where it is not kept yet: before the first token is issued under it. */
  keepMasterKey(): Promise<void>;
  /** From now on calls `uses` with whom others have changed, and `tell` with a line when they cannot be read. */
  watch(uses: AccountUpdates, tell: (line: string) => void): void;
  /** Takes away what this start made: it came to nothing. */
  undo(): void;
  /** Finishes what is under way and lets others have the directory. */
  close(): Promise<void>;
}

/**
 * Opens the data directory, makes it where there is none, and locks it. Where there is a seal, secrets that are
 * in the clear are sealed. `tell` is told of that in a line, and of what was lost in a crash and what follows from it.
 * Throws what hinders that.
 */
export async function openDataDirectory(
  options: Options,
  secretBox: SecretBox | undefined,
  tell: (line: string) => void,
  compaction?: CompactionLimits,
): Promise<DataDirectory> {
  const { data, durability } = options;
  await prepareDirectory(data);
  // Read while the lock is taken, which does not keep others from changing them anyway.
  const reading = readAccountFiles(data, secretBox);
  reading.catch(() => {}); // told where it is waited for
  const lock = await lockDirectory(data);
  // Read while the rest is; nobody waits for them alone.
  const opening = openNonces({
    directory: data,
    durability,
    window: options.window * 1000,
    max: options.maxNonces,
    maxPerUser: options.maxNoncesPerUser,
    key: randomBytes(16),
    clock: systemClock,
    tell,
  });
  opening.catch(() => {}); // told where it is waited for
  try {
    const accountFiles = await encryptAccountFiles(data, secretBox, await reading, tell);
    const master = await openMasterKey(data, secretBox, randomBytes);
    let masterKept = !master.fresh;
    const { loading, end } = showProgress(process.stderr, systemClock);
    const recovered = await recover({ directory: data, loading }).finally(end);
    for (const mended of recovered.told) tell(mended);
    await checkStoredData(data, recovered.state, options.collections);
    if (master.fresh && hasOAuth1Tokens(recovered.state, systemClock.now())) tell(masterKeyGone(data));
    const fresh = recovered.lineage === undefined && !existsSync(accountFilePath(data, 'users'));
    const nonces = await opening;
    await nonces.begin();
    const store = await openStore(recovered, nonces, options, tell, compaction);
    let watching: Promise<readonly AccountFileWatcher[]> | undefined;
    return {
      store,
      health: () => store.health,
      nonces,
      rosters: accountFiles,
      masterKey: master.bytes,
      fresh,
      clear: plaintextPaths(data, accountFiles),
      async keepUser(name, user) {
        await changeAccountFile(userFile, data, secretBox, (users) => users.set(name, user));
        return secretBox === undefined ? userFile.path(data) : undefined;
      },
      async keepMasterKey() {
        if (masterKept) return;
        await keepMasterKey(data, master.bytes, secretBox);
        masterKept = true;
      },
      watch(uses, tellFault) {
        // Loaded when the server is ready: nobody waits for it.
        watching = watchAccountFiles(data, secretBox, accountFiles, uses, tellFault);
      },
      // Else the next start would take the directory for one in use, and make no user.
      undo: () => rmSync(join(data, journalName(1)), { force: true }),
      async close() {
        try {
          // A compaction that comes to its end keeps nonces.
          await store.close().finally(() => nonces.close());
          for (const watch of (await watching) ?? []) await watch.close();
        } finally {
          await lock.release();
        }
      },
    };
  } catch (error) {
    const opened = await opening.catch(() => undefined);
    await opened?.close().catch(() => {}); // the first failure is the one to tell
    await lock.release();
    throw error;
  }
}

/** Opens the store on what was found, and gives the nonces those that the journals have. */
async function openStore(
  recovered: Recovered,
  nonces: FileNonces,
  { data, durability }: Options,
  tell: (line: string) => void,
  limits: CompactionLimits | undefined,
): Promise<DurableStore> {
  for (const nonce of recovered.nonces) nonces.remember(nonce);
  return openDurableStore({
    directory: data,
    recovered,
    newStoreId,
    durability,
    clock: systemClock,
    onReport: tell,
    onKept: (nonce) => nonces.keptWithChange(nonce),
    ...(limits === undefined ? {} : { limits }),
    async beforeForgetting() {
      await nonces.kept(true);
    },
  });
}
