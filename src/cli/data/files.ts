// The files of a data directory besides those of the store, or the documents of a shared store, for everything that copies, repairs,
// replaces, exports or imports them.
import { accountFiles } from '../../accounts/account-files.ts';
import { parseMasterKey } from '../../accounts/master-key.ts';
import type { SecretBox } from '../../accounts/secret-box.ts';
import { type AccountPlace, createStoredFile, pathIn } from '../../accounts/stored-file.ts';
import { accountFileNames, type FileKind, kindOf, masterKeyFile } from '../../store/files/data-files.ts';

/**
 * The file of requested revocations. It is copied before the store: a revocation that is no longer in it was carried out, so it is in
 * the store then. An export has it only with the tokens.
 */
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

/** Returns whether a copy into a data directory replaces this file. Other files stay. */
export function isReplacedFile(name: string): boolean {
  const kind = kindOf(name);
  return kind !== undefined && replacedKinds.includes(kind);
}

const replacedKinds: readonly FileKind[] = ['store', 'nonces', 'accounts', 'seen', 'certificate'];

/** Files by name, as they are stored: with encrypted secrets, if there is a key. */
export type DataFiles = ReadonlyMap<string, string>;

/** Whether an export contains the accounts, and the grants and tokens of OAuth. */
interface ExportedKinds {
  readonly withAccounts: boolean;
  readonly withTokens: boolean;
}

/** Reads the files of an export that exist, without changing them. */
export async function readDataFiles(
  place: AccountPlace,
  { withAccounts, withTokens }: ExportedKinds,
): Promise<DataFiles> {
  const files = new Map<string, string>();
  const names = [...(withTokens ? [revocationsName] : []), ...(withAccounts ? filesAfterStore : [])];
  for (const name of names) {
    const { content } = await createStoredFile(place, name).read();
    if (content !== undefined && !(await isEmptyRequest(name, content)))
      files.set(name, Buffer.from(content).toString('utf8'));
  }
  return files;
}

/** Returns whether a file has no requested revocations any more. */
async function isEmptyRequest(name: string, content: Uint8Array): Promise<boolean> {
  if (name !== revocationsName) return false;
  return (await accountFiles.revocations()).parse(content, name, undefined).entries.size === 0;
}

/**
 * Checks files of an export.
 *
 * @param source the name of the export in messages
 * @throws CorruptionError for an invalid file, SecretBoxError if its secrets cannot be decrypted
 */
export async function checkDataFiles(
  files: DataFiles,
  source: string,
  secretBox: SecretBox | undefined,
): Promise<void> {
  for (const [name, text] of files) {
    const [content, path] = [Buffer.from(text), `${name} in ${source}`];
    const account = accountFileNames.find((each) => name === `${each}.json`);
    if (account !== undefined) (await accountFiles[account]()).parse(content, path, secretBox);
    else parseMasterKey(content, path, secretBox);
  }
}

/** Returns the path of the first of these files that exists with another content; undefined if there is none. */
export async function findConflictingFile(
  place: AccountPlace,
  files: DataFiles,
): Promise<string | undefined> {
  for (const [name, text] of files) {
    const { content } = await createStoredFile(place, name).read();
    if (content !== undefined && Buffer.from(content).toString('utf8') !== text) return pathIn(place, name);
  }
  return undefined;
}

/** Creates the files. A file that exists is not changed. */
export async function writeDataFiles(place: AccountPlace, files: DataFiles): Promise<void> {
  for (const [name, text] of files)
    await createStoredFile(place, name).update((content) => (content === undefined ? text : undefined));
}
