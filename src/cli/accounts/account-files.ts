import { existsSync } from 'node:fs';
import { type AccountFile, type AccountFileContent, accountFilePath } from '../../accounts/account-file.ts';
import type { ClientRegistration, ConsumerRegistration } from '../../accounts/registration.ts';
import type { SecretBox } from '../../accounts/secret-box.ts';
import { type StoredUser, userFile } from '../../accounts/users.ts';
import type { AccountFileWatcher } from '../../accounts/watcher.ts';
import { changeAccountFile } from './change.ts';
import { type AccountFiles, noAccountFiles } from './no-account-files.ts';

/** Puts those to use that are kept now. What one throws is told, and those before stay. */
export interface AccountUpdates {
  users(kept: ReadonlyMap<string, StoredUser>): void;
  clients(kept: ReadonlyMap<string, ClientRegistration>): void;
  consumers(kept: ReadonlyMap<string, ConsumerRegistration>): Promise<void>;
}

/**
 * Reads who is kept in a data directory. Throws CorruptionError for a file that cannot be used, SecretBoxError for secrets
 * that cannot be opened.
 */
export async function readAccountFiles(
  directory: string,
  secretBox: SecretBox | undefined,
): Promise<AccountFiles> {
  const reading = userFile.read(directory, { seal: secretBox });
  const isThere = (name: 'clients' | 'consumers'): boolean => existsSync(accountFilePath(directory, name));
  // What is about registrations is loaded only where there are some.
  if (!isThere('clients') && !isThere('consumers')) return { ...noAccountFiles, users: await reading };
  reading.catch(() => {}); // told where it is waited for
  const { clientFile, consumerFile } = await import('../../accounts/clients.ts');
  const [users, clients, consumers] = await Promise.all([
    reading,
    clientFile.read(directory, { seal: secretBox }),
    consumerFile.read(directory, { seal: secretBox }),
  ]);
  return { users, clients, consumers };
}

/** Who is kept, after those secrets were sealed that were not and can be. `tell` is told of that. */
export async function encryptAccountFiles(
  directory: string,
  secretBox: SecretBox | undefined,
  { users, clients, consumers }: AccountFiles,
  tell: (line: string) => void,
): Promise<AccountFiles> {
  if (secretBox === undefined || (users.clear === 0 && consumers.clear === 0))
    return { users, clients, consumers };
  const sealed = async <T>(
    accountFile: AccountFile<T>,
    kept: AccountFileContent<T>,
  ): Promise<AccountFileContent<T>> => {
    if (kept.clear === 0) return kept;
    await changeAccountFile(accountFile, directory, secretBox, () => {});
    tell(`the secrets in ${accountFile.path(directory)} were in the clear, and are encrypted now`);
    return accountFile.read(directory, { seal: secretBox });
  };
  const { consumerFile } = await import('../../accounts/clients.ts');
  return {
    users: await sealed(userFile, users),
    clients,
    consumers: await sealed(consumerFile, consumers),
  };
}

/** Where a directory has secrets in the clear, for who can read the files. */
export function plaintextPaths(directory: string, { users, consumers }: AccountFiles): readonly string[] {
  return [
    ...(users.clear > 0 ? [accountFilePath(directory, 'users')] : []),
    ...(consumers.clear > 0 ? [accountFilePath(directory, 'consumers')] : []),
  ];
}

/** Watches all rosters of a data directory, from what was read on. */
export async function watchAccountFiles(
  directory: string,
  secretBox: SecretBox | undefined,
  { users, clients, consumers }: AccountFiles,
  uses: AccountUpdates,
  tell: (line: string) => void,
): Promise<readonly AccountFileWatcher[]> {
  const [{ watchAccountFile }, { clientFile, consumerFile }] = await Promise.all([
    import('../../accounts/watcher.ts'),
    import('../../accounts/clients.ts'),
  ]);
  const given = { directory, seal: secretBox, tell };
  return [
    watchAccountFile({ ...given, roster: userFile, mark: users.mark, use: uses.users }),
    watchAccountFile({ ...given, roster: clientFile, mark: clients.mark, use: uses.clients }),
    watchAccountFile({ ...given, roster: consumerFile, mark: consumers.mark, use: uses.consumers }),
  ];
}
