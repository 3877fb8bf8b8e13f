import { clientFile, consumerFile } from './clients.ts';
import { masterKeyFile, parseMasterKey } from './master-key.ts';
import { revocationFile } from './revocations.ts';
import type { SecretBox } from './secret-box.ts';
import { signingKeyFile } from './signing-keys.ts';
import { type AccountPlace, createStoredFile, pathIn } from './stored-file.ts';
import { userFile } from './users.ts';

/** The file that an export with tokens has: revocations of them that were requested and not carried out yet. */
const revocationFileName = `${revocationFile.name}.json`;

/** Throws if the content of a file is invalid. `path` is the name of the file in messages. */
type Check = (content: Uint8Array, path: string, secretBox: SecretBox | undefined) => unknown;

/** The files of an export, and their checks. */
const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['users.json', (...file) => userFile.parse(...file)],
  ['clients.json', (...file) => clientFile.parse(...file)],
  ['consumers.json', (...file) => consumerFile.parse(...file)],
  ['keys.json', (...file) => signingKeyFile.parse(...file)],
  [masterKeyFile, parseMasterKey],
  [revocationFileName, (...file) => revocationFile.parse(...file)],
]);

/** Account files by name, as they are stored: with encrypted secrets, if there is a key. */
export type TransferredFiles = ReadonlyMap<string, string>;

/** Returns whether an export can contain a file with this name. */
export function isTransferredFile(name: string): boolean {
  return checks.has(name);
}

/** Whether an export contains the accounts, and the grants and tokens of OAuth. */
export interface TransferredKinds {
  readonly withAccounts: boolean;
  readonly withTokens: boolean;
}

/** Reads the files of an export that exist, without changing them. */
export async function readTransferredFiles(
  place: AccountPlace,
  { withAccounts, withTokens }: TransferredKinds,
): Promise<TransferredFiles> {
  const files = new Map<string, string>();
  for (const name of checks.keys()) {
    if (name === revocationFileName ? !withTokens : !withAccounts) continue;
    const { content } = await createStoredFile(place, name).read();
    if (content === undefined) continue;
    if (name === revocationFileName && revocationFile.parse(content, name, undefined).entries.size === 0)
      continue;
    files.set(name, Buffer.from(content).toString('utf8'));
  }
  return files;
}

/**
 * Checks files of an export.
 *
 * @param source the name of the export in messages
 * @throws CorruptionError for an invalid file, SecretBoxError if its secrets cannot be decrypted
 */
export function checkTransferredFiles(
  files: TransferredFiles,
  source: string,
  secretBox: SecretBox | undefined,
): void {
  for (const [name, content] of files)
    checks.get(name)?.(Buffer.from(content), `${name} in ${source}`, secretBox);
}

/** Returns the path of the first of these files that exists with another content; undefined if there is none. */
export async function findConflictingFile(
  place: AccountPlace,
  files: TransferredFiles,
): Promise<string | undefined> {
  for (const [name, text] of files) {
    const { content } = await createStoredFile(place, name).read();
    if (content !== undefined && Buffer.from(content).toString('utf8') !== text) return pathIn(place, name);
  }
  return undefined;
}

/** Creates the files. A file that exists is not changed. */
export async function writeTransferredFiles(place: AccountPlace, files: TransferredFiles): Promise<void> {
  for (const [name, text] of files)
    await createStoredFile(place, name).update((content) => (content === undefined ? text : undefined));
}
