import { existsSync } from 'node:fs';
import { type AccountFile, type AccountFileContent, accountFilePath } from '../../accounts/account-file.ts';
import type { ClientRegistration, ConsumerRegistration } from '../../accounts/registration.ts';
import type { SecretBox } from '../../accounts/secret-box.ts';
import type { StoredSigningKey } from '../../accounts/signing-keys.ts';
import { type AccountPlace, pathIn } from '../../accounts/stored-file.ts';
import { type StoredUser, userFile } from '../../accounts/users.ts';
import type { AccountFileWatcher } from '../../accounts/watcher.ts';
import type { Revoke } from './revocation.ts';

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
export async function encryptAccountFiles(
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

/** Watches all account files for changes since they were read. */
export async function watchAccountFiles(
  place: AccountPlace,
  secretBox: SecretBox | undefined,
  { users, clients, consumers }: AccountFiles,
  updates: AccountUpdates,
  report: (line: string) => void,
): Promise<readonly AccountFileWatcher[]> {
  const [{ watchAccountFile }, { clientFile, consumerFile }, { revocationFile }, { applyRevocations }] =
    await Promise.all([
      import('../../accounts/watcher.ts'),
      import('../../accounts/clients.ts'),
      import('../../accounts/revocations.ts'),
      import('./revocation.ts'),
    ]);
  const common = { place, secretBox, onWarning: report };
  return [
    watchAccountFile({ ...common, accountFile: userFile, mark: users.mark, use: updates.users }),
    watchAccountFile({ ...common, accountFile: clientFile, mark: clients.mark, use: updates.clients }),
    watchAccountFile({ ...common, accountFile: consumerFile, mark: consumers.mark, use: updates.consumers }),
    watchAccountFile({
      ...common,
      accountFile: revocationFile,
      mark: undefined,
      use: (requested) => applyRevocations(place, requested, updates.revoke),
    }),
    ...(updates.keys === undefined ? [] : [await watchSigningKeys(common, updates.keys)]),
  ];
}

/** Watches the keys that sign tokens. Their code is loaded only if some are stored. */
async function watchSigningKeys(
  common: Pick<
    Parameters<typeof import('../../accounts/watcher.ts').watchAccountFile>[0],
    'place' | 'secretBox' | 'onWarning'
  >,
  { mark, replace }: SigningKeyUpdate,
): Promise<AccountFileWatcher> {
  const [{ watchAccountFile }, { signingKeyFile }] = await Promise.all([
    import('../../accounts/watcher.ts'),
    import('../../accounts/signing-keys.ts'),
  ]);
  return watchAccountFile({ ...common, accountFile: signingKeyFile, mark, use: replace });
}
