import { join } from 'node:path';
import { CorruptionError } from '../store/corruption-error.ts';
import { removeLeftovers, replaceFile } from '../store/files/atomic-write.ts';
import { type Disk, nodeDisk } from '../store/files/disk.ts';
import { encryptedWithOtherKey, keyMissing } from './account-file.ts';
import { parseKey, type SecretBox, SecretBoxError } from './secret-box.ts';

const fileName = 'oauth.key';
const sealedPrefix = 'sealed:';
const sealedAs = ['oauth key'];
/** The label with which the key is derived from the encryption key, if there is one. */
const label = 'OAuth 1.0a token secrets';

/** The key from which the token secrets of OAuth 1.0a are derived. With another key, issued tokens are invalid. */
export interface MasterKey {
  /** 32 bytes. */
  readonly bytes: Uint8Array;
  /** Whether the key is new: it must be stored before it is used. */
  readonly fresh: boolean;
}

/** Returns the path of the key file. */
export function masterKeyPath(directory: string): string {
  return join(directory, fileName);
}

/**
 * Returns the key of a data directory: the stored key; or else one derived from the encryption key; or else a random
 * one that is not stored yet. A key in plain text is encrypted if there is an encryption key.
 * Throws CorruptionError or SecretBoxError if the stored key cannot be used.
 */
export async function openMasterKey(
  directory: string,
  secretBox: SecretBox | undefined,
  random: (size: number) => Uint8Array,
  disk: Disk = nodeDisk,
): Promise<MasterKey> {
  const stored = await readMasterKey(directory, secretBox, disk);
  if (stored === undefined)
    return secretBox === undefined
      ? { bytes: random(32), fresh: true }
      : { bytes: secretBox.derive(label), fresh: false };
  if (secretBox !== undefined && stored.clear) await keepMasterKey(directory, stored.bytes, secretBox, disk);
  return { bytes: stored.bytes, fresh: false };
}

/** Stores the key. The caller holds the lock of the directory. Resolves when the key is on the disk. Throws StoreError. */
export async function keepMasterKey(
  directory: string,
  bytes: Uint8Array,
  secretBox: SecretBox | undefined,
  disk: Disk = nodeDisk,
): Promise<void> {
  // The process that created them held the lock then, so it has ended.
  await removeLeftovers(disk, directory, fileName, () => true);
  const text = Buffer.from(bytes).toString('base64url');
  const content = secretBox === undefined ? text : `${sealedPrefix}${secretBox.seal(text, sealedAs)}`;
  await replaceFile(disk, { directory, name: fileName, content: [content, '\n'], sync: true });
}

/** Reads the stored key, and whether it is in plain text; returns undefined if there is none. Throws as openMasterKey. */
export async function readMasterKey(
  directory: string,
  secretBox: SecretBox | undefined,
  disk: Disk = nodeDisk,
): Promise<{ readonly bytes: Uint8Array; readonly clear: boolean } | undefined> {
  const path = masterKeyPath(directory);
  const content = await disk.read(path);
  if (content === undefined) return undefined;
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
