import { existsSync } from 'node:fs';
import type { AccountFile, AccountFileContent } from '../../accounts/account-file.ts';
import { accountFiles } from '../../accounts/account-files.ts';
import type { ClientRegistration, ConsumerRegistration } from '../../accounts/registration.ts';
import type { SecretBox } from '../../accounts/secret-box.ts';
import {
  type AccountFileName,
  type AccountPlace,
  accountFilePath,
  pathIn,
} from '../../accounts/stored-file.ts';
import type { StoredUser } from '../../accounts/users.ts';
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

/**
 * Watches an account file for changes since a version. After each, its content is used. An error is reported, and the previous accounts
 * stay in effect.
 */
type WatchAccounts = <T>(
  load: LoadFile<T>,
  mark: string | undefined,
  use: (stored: ReadonlyMap<string, T>) => void | Promise<void>,
) => void;

/**
 * Reads the account files of a data directory, or the documents with accounts.
 *
 * @throws CorruptionError for an invalid file, SecretBoxError for secrets that cannot be decrypted
 */
export async function readAccountFiles(
  place: AccountPlace,
  secretBox: SecretBox | undefined,
): Promise<AccountFiles> {
  const read = async <T>(name: AccountFileName, load: LoadFile<T>): Promise<AccountFileContent<T>> =>
    exists(place, name) ? (await load()).read(place, { secretBox }) : empty;
  const [users, clients, consumers] = await Promise.all([
    read('users', accountFiles.users),
    read('clients', accountFiles.clients),
    read('consumers', accountFiles.consumers),
  ]);
  return { users, clients, consumers };
}

type LoadFile<T> = () => Promise<AccountFile<T>>;

/** Returns whether there is a file of this name. Documents are read to know that. */
function exists(place: AccountPlace, name: AccountFileName): boolean {
  return typeof place !== 'string' || existsSync(accountFilePath(place, name));
}

/** Encrypts the account files that have unencrypted secrets, if there is a key. Passes a line to `report` for each such file. */
async function encryptAccountFiles(
  place: AccountPlace,
  secretBox: SecretBox | undefined,
  { users, clients, consumers }: AccountFiles,
  report: (line: string) => void,
): Promise<AccountFiles> {
  const encrypt = async <T>(
    load: LoadFile<T>,
    content: AccountFileContent<T>,
  ): Promise<AccountFileContent<T>> => {
    if (secretBox === undefined || content.clear === 0) return content;
    const accountFile = await load();
    await accountFile.change(place, secretBox, () => {});
    report(`encrypted the secrets in ${accountFile.path(place)}`);
    return accountFile.read(place, { secretBox });
  };
  return {
    users: await encrypt(accountFiles.users, users),
    clients,
    consumers: await encrypt(accountFiles.consumers, consumers),
  };
}

/** Returns the paths of the account files that contain unencrypted secrets. */
export function plaintextPaths(place: AccountPlace, files: AccountFiles): readonly string[] {
  const names = (['users', 'consumers'] as const).filter((name) => files[name].clear > 0);
  return names.map((name) => pathIn(place, `${name}.json`));
}

/** The accounts of a server, in a data directory or in documents. */
export interface ServerAccounts {
  readonly files: AccountFiles;
  /** The paths of the files with unencrypted secrets. */
  readonly plaintextPaths: readonly string[];
  /** Returns the keys that sign tokens. Generates one if there is none. */
  openSigningKeys(algorithm: SigningAlgorithm): Promise<StoredSigningKeys>;
  /** Carries out the requested revocations. If one rejects, all are requested still. */
  applyRevocations(revoke: Revoke): Promise<void>;
  /** Returns the function that watches account files. `report` is called with an error. */
  watch(report: (line: string) => void): WatchAccounts;
  /** Stops watching. */
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
  const watching: Promise<AccountFileWatcher>[] = [];
  return {
    files,
    plaintextPaths: plaintextPaths(place, files),
    openSigningKeys: async (algorithm) =>
      (await import('./signing-keys.ts')).openSigningKeys(place, secretBox, algorithm),
    async applyRevocations(revoke) {
      if (!exists(place, 'revocations')) return;
      const { applyRevocations } = await import('./revocation.ts');
      const { entries } = await (await accountFiles.revocations()).read(place);
      await applyRevocations(place, entries, revoke);
    },
    watch: (onWarning) => (load, mark, use) => {
      const start = async () => {
        const { watchAccountFile } = await import('../../accounts/watcher.ts');
        return watchAccountFile({ place, secretBox, onWarning, accountFile: await load(), mark, use });
      };
      // Not awaited: the server is ready before the watchers are loaded.
      watching.push(start());
    },
    async close() {
      for (const watcher of await Promise.all(watching)) await watcher.close();
    },
  };
}
