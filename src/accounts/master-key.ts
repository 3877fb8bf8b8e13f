import { join } from 'node:path';
import { CorruptionError } from '../store/corruption-error.ts';
import type { DocumentStore } from '../store/documents.ts';
import { masterKeyFile } from '../store/files/data-files.ts';
import { encryptedWithOtherKey, keyMissing } from './account-file.ts';
import { parseKey, type SecretBox, SecretBoxError } from './secret-box.ts';
import { type AccountPlace, createStoredFile } from './stored-file.ts';

const sealedPrefix = 'sealed:';
const sealedAs = ['oauth key'];
/** The label with which the key is derived from the encryption key, if there is one. */
const label = 'OAuth 1.0a token secrets';

/** The key from which the token secrets of OAuth 1.0a are derived. With another key, issued tokens are invalid. */
interface MasterKey {
  /** 32 bytes. */
  readonly bytes: Uint8Array;
  /** Whether the key is new: it must be stored before it is used. */
  readonly fresh: boolean;
}

/** Returns the path of the key file. */
export function masterKeyPath(directory: string): string {
  return join(directory, masterKeyFile);
}

/**
 * Returns the stored key; or else one derived from the encryption key; or else a random one that is not stored yet. A key
 * in plain text is encrypted if there is an encryption key.
 * Throws CorruptionError or SecretBoxError if the stored key cannot be used.
 */
export async function openMasterKey(
  place: AccountPlace,
  secretBox: SecretBox | undefined,
  random: (size: number) => Uint8Array,
): Promise<MasterKey> {
  const stored = await readMasterKey(place, secretBox);
  if (stored === undefined)
    return secretBox === undefined
      ? { bytes: random(32), fresh: true }
      : { bytes: deriveMasterKey(secretBox), fresh: false };
  if (secretBox !== undefined && stored.clear) await keepMasterKey(place, stored.bytes, secretBox);
  return { bytes: stored.bytes, fresh: false };
}

/** Returns the key that is derived from the encryption key. */
export function deriveMasterKey(secretBox: SecretBox): Uint8Array {
  return secretBox.derive(label);
}

/**
 * Returns the key that all processes use which share the documents. Stores it unless there is one: of several processes
 * that start at once, all use the key of the first. Throws as `openMasterKey` does.
 */
export async function openSharedMasterKey(
  documents: DocumentStore,
  secretBox: SecretBox | undefined,
  random: (size: number) => Uint8Array,
): Promise<Uint8Array> {
  const { bytes } = await openMasterKey(documents, secretBox, random);
  await createStoredFile(documents, masterKeyFile).update((content) =>
    content === undefined ? formatKey(bytes, secretBox) : undefined,
  );
  return (await readMasterKey(documents, secretBox))?.bytes ?? bytes;
}

/** Stores the key. The caller holds the lock of a directory. Resolves when the key is on the disk. Throws StoreError. */
export async function keepMasterKey(
  place: AccountPlace,
  bytes: Uint8Array,
  secretBox: SecretBox | undefined,
): Promise<void> {
  await createStoredFile(place, masterKeyFile).write(formatKey(bytes, secretBox));
}

function formatKey(bytes: Uint8Array, secretBox: SecretBox | undefined): string {
  const text = Buffer.from(bytes).toString('base64url');
  return `${secretBox === undefined ? text : `${sealedPrefix}${secretBox.seal(text, sealedAs)}`}\n`;
}

/** Reads the stored key, and whether it is in plain text; returns undefined if there is none. Throws as openMasterKey. */
export async function readMasterKey(
  place: AccountPlace,
  secretBox: SecretBox | undefined,
): Promise<{ readonly bytes: Uint8Array; readonly clear: boolean } | undefined> {
  const file = createStoredFile(place, masterKeyFile);
  const { content } = await file.read();
  return content === undefined ? undefined : parseMasterKey(content, file.path, secretBox);
}

/** Reads the key of a content. `path` is the name of its file in messages. Throws as openMasterKey. */
export function parseMasterKey(
  content: Uint8Array,
  path: string,
  secretBox: SecretBox | undefined,
): { readonly bytes: Uint8Array; readonly clear: boolean } {
  const text = Buffer.from(content).toString('latin1').trimEnd();
  const clear = !text.startsWith(sealedPrefix);
  const bytes = parseKey(clear ? text : decrypt(path, text.slice(sealedPrefix.length), secretBox));
  if (bytes !== undefined) return { bytes, clear };
  throw new CorruptionError(path, 'it is not a key of 32 bytes', undefined, advice);
}

const advice = 'Restore a copy of the file, or remove it: all issued tokens of OAuth 1.0a are then invalid';

function decrypt(path: string, sealed: string, secretBox: SecretBox | undefined): string {
  if (secretBox === undefined) throw new SecretBoxError(keyMissing(path));
  const text = secretBox.open(sealed, sealedAs);
  if (text === undefined) throw new SecretBoxError(`${path} ${encryptedWithOtherKey}`);
  return text;
}
