import { existsSync } from 'node:fs';
import type { AccountFile, AccountFileContent } from '../../accounts/account-file.ts';
import type { ClientRegistration, ConsumerRegistration } from '../../accounts/registration.ts';
import type { SecretBox } from '../../accounts/secret-box.ts';
import type { StoredSigningKey } from '../../accounts/signing-keys.ts';
import { type AccountPlace, accountFilePath, pathIn } from '../../accounts/stored-file.ts';
import { type StoredUser, userFile } from '../../accounts/users.ts';
import type { AccountFileWatcher } from '../../accounts/watcher.ts';
import type { SigningAlgorithm } from '../../schemes/jwt/algorithms.ts';
import type { Revoke } from './revocation.ts';
import type { StoredSigningKeys } from './signing-keys.ts';

/** The contents of the account files of a data directory. */
export interface AccountFiles {
  readonly users: AccountFileContent<StoredUser>;
  readonly clients: AccountFileContent<ClientRegistration>;
  readonly consumers: AccountFileContent<ConsumerRegistration>;
}

const empty = { entries: new Map<string, never>(), clear: 0, mark: undefined };

/** Empty account files, for a server without a data directory. */
export const noAccountFiles: AccountFiles = { users: empty, clients: empty, consumers: empty };

/** Applies changed signing keys. */
interface SigningKeyUpdate {
  readonly mark: string | undefined;
  replace(stored: ReadonlyMap<string, StoredSigningKey>): void;
}

/** Applies changed accounts to a running server. An error is reported, and the previous accounts stay in effect. */
export interface AccountUpdates {
  users(stored: ReadonlyMap<string, StoredUser>): void;
  clients(stored: ReadonlyMap<string, ClientRegistration>): void;
  consumers(stored: ReadonlyMap<string, ConsumerRegistration>): Promise<void>;
  /** Replaces the keys that sign tokens; undefined if none are stored. `mark` is the version in use. */
  readonly keys?: SigningKeyUpdate | undefined;
  /** Revokes grants and tokens. If it rejects, it is called again. */
  readonly revoke: Revoke;
}

/**
 * Reads the account files of a data directory, or the documents with accounts.
 *
 * @throws CorruptionError for an invalid file, SecretBoxError for secrets that cannot be decrypted
 */
export async function readAccountFiles(
  place: AccountPlace,
  secretBox: SecretBox | undefined,
): Promise<AccountFiles> {
  const reading = userFile.read(place, { secretBox });
  const exists = (name: 'clients' | 'consumers'): boolean =>
    typeof place !== 'string' || existsSync(accountFilePath(place, name));
  // The modules for OAuth registrations are loaded only if there are some.
  if (!exists('clients') && !exists('consumers')) return { ...noAccountFiles, users: await reading };
  reading.catch(() => {}); // handled where it is awaited
  const { clientFile, consumerFile } = await import('../../accounts/clients.ts');
  const [users, clients, consumers] = await Promise.all([
    reading,
    clientFile.read(place, { secretBox }),
    consumerFile.read(place, { secretBox }),
  ]);
  return { users, clients, consumers };
}

/** Encrypts the account files that have unencrypted secrets, if there is a key. Passes a line to `report` for each such file. */
async function encryptAccountFiles(
  place: AccountPlace,
  secretBox: SecretBox | undefined,
  { users, clients, consumers }: AccountFiles,
  report: (line: string) => void,
): Promise<AccountFiles> {
  if (secretBox === undefined || (users.clear === 0 && consumers.clear === 0))
    return { users, clients, consumers };
  const encrypt = async <T>(
    accountFile: AccountFile<T>,
    content: AccountFileContent<T>,
  ): Promise<AccountFileContent<T>> => {
    if (content.clear === 0) return content;
    await accountFile.change(place, secretBox, () => {});
    report(`encrypted the secrets in ${accountFile.path(place)}`);
    return accountFile.read(place, { secretBox });
  };
  const { consumerFile } = await import('../../accounts/clients.ts');
  return {
    users: await encrypt(userFile, users),
    clients,
    consumers: await encrypt(consumerFile, consumers),
  };
}

/** Returns the paths of the account files that contain unencrypted secrets. */
export function plaintextPaths(place: AccountPlace, { users, consumers }: AccountFiles): readonly string[] {
  return [
    ...(users.clear > 0 ? [pathIn(place, 'users.json')] : []),
    ...(consumers.clear > 0 ? [pathIn(place, 'consumers.json')] : []),
  ];
}

/** Watches all account files for changes since they were read. Their code is loaded only now. */
async function watchAccountFiles(
  place: AccountPlace,
  secretBox: SecretBox | undefined,
  { users, clients, consumers }: AccountFiles,
  updates: AccountUpdates,
  onWarning: (line: string) => void,
): Promise<readonly AccountFileWatcher[]> {
  const [{ watchAccountFile }, { clientFile, consumerFile }, { revocationFile }, { applyRevocations }] =
    await Promise.all([
      import('../../accounts/watcher.ts'),
      import('../../accounts/clients.ts'),
      import('../../accounts/revocations.ts'),
      import('./revocation.ts'),
    ]);
  const common = { place, secretBox, onWarning };
  const watchers = [
    watchAccountFile({ ...common, accountFile: userFile, mark: users.mark, use: updates.users }),
    watchAccountFile({ ...common, accountFile: clientFile, mark: clients.mark, use: updates.clients }),
    watchAccountFile({ ...common, accountFile: consumerFile, mark: consumers.mark, use: updates.consumers }),
    watchAccountFile({
      ...common,
      accountFile: revocationFile,
      mark: undefined,
      use: (requested) => applyRevocations(place, requested, updates.revoke),
    }),
  ];
  if (updates.keys === undefined) return watchers;
  const { signingKeyFile } = await import('../../accounts/signing-keys.ts');
  const { mark, replace } = updates.keys;
  return [...watchers, watchAccountFile({ ...common, accountFile: signingKeyFile, mark, use: replace })];
}

/** The accounts of a server, in a data directory or in documents. */
export interface ServerAccounts {
  readonly files: AccountFiles;
  /** The paths of the files with unencrypted secrets. */
  readonly plaintextPaths: readonly string[];
  /** Returns the keys that sign tokens. Generates one if there is none. */
  openSigningKeys(algorithm: SigningAlgorithm): Promise<StoredSigningKeys>;
  /** Carries out the revocations that were requested while no server ran. */
  applyRevocations(revoke: Revoke): Promise<void>;
  /** Starts to watch the account files. Calls `updates` after each change, and `report` with an error. */
  watch(updates: AccountUpdates, report: (line: string) => void): void;
  /** Ends that. */
  close(): Promise<void>;
}

/** Opens the accounts that are being read. Encrypts unencrypted secrets if there is a key, and passes a line to `report` for each such file. */
export async function openAccounts(
  place: AccountPlace,
  secretBox: SecretBox | undefined,
  reading: Promise<AccountFiles>,
  report: (line: string) => void,
): Promise<ServerAccounts> {
  const files = await encryptAccountFiles(place, secretBox, await reading, report);
  let watching: Promise<readonly AccountFileWatcher[]> | undefined;
  return {
    files,
    plaintextPaths: plaintextPaths(place, files),
    openSigningKeys: async (algorithm) =>
      (await import('./signing-keys.ts')).openSigningKeys(place, secretBox, algorithm),
    async applyRevocations(revoke) {
      if (typeof place === 'string' && !existsSync(accountFilePath(place, 'revocations'))) return;
      const { applyRevocations } = await import('./revocation.ts');
      const { revocationFile } = await import('../../accounts/revocations.ts');
      await applyRevocations(place, (await revocationFile.read(place)).entries, revoke);
    },
    watch(updates, reportError) {
      // Not awaited: the server is ready before the watchers are loaded.
      watching = watchAccountFiles(place, secretBox, files, updates, reportError);
    },
    async close() {
      for (const watcher of (await watching) ?? []) await watcher.close();
    },
  };
}
