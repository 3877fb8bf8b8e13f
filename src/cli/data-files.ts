// The files of a data directory besides those of the store, for everything that copies, repairs or replaces one. What is not
// listed belongs to a process (locks, `….seen`), or is kept for a person (`torn-….bin`).
import { masterKeyFile } from '../accounts/master-key.ts';
import { accountFileNames } from '../accounts/stored-file.ts';
import { parseLogName } from '../store/log/line.ts';
import { isStoreFile } from '../store/snapshot/writer.ts';

/** The directory of the certificate and its key. */
export const tlsDirectory = 'tls';

/** The file of requested revocations, which is copied before the store. */
export const revocationsName = 'revocations.json';

/**
 * The files that are copied after the store, in order: the key before the accounts, and all of them after the tokens in the
 * store, which need them. Nonces are not copied while a server may accept others. Without them, a server on the copy rejects
 * all signed requests that were dated before its start.
 */
export const filesAfterStore: readonly string[] = [
  masterKeyFile,
  ...accountFileNames.map((name) => `${name}.json`).filter((name) => name !== revocationsName),
];

const others: ReadonlySet<string> = new Set([
  revocationsName,
  ...filesAfterStore,
  ...accountFileNames.map((name) => `${name}.seen`),
  tlsDirectory,
]);

/** Returns whether a copy into a data directory replaces this file. Other files stay. */
export function isReplacedFile(name: string): boolean {
  return isStoreFile(name) || parseLogName('nonces', name) !== undefined || others.has(name);
}
