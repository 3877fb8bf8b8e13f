import { join } from 'node:path';
import { CorruptionError } from '../store/corruption-error.ts';
import { removeLeftovers, replaceFile } from '../store/files/atomic-write.ts';
import { type Disk, nodeDisk } from '../store/files/disk.ts';
import { encryptedWithOtherKey, keyMissing } from './account-file.ts';
import { parseKey, type SecretBox, SecretBoxError } from './secret-box.ts';

const fileName = 'oauth.key';
const sealedPrefix = 'sealed:';
const sealedAs = ['oauth key'];
/** What the key is derived as, where there is a key that others are derived from. */
const label = 'OAuth 1.0a token secrets';

/** The key that token secrets of OAuth 1.0a are derived with: what was issued is good only as long as it is the same. */
export interface MasterKey {
  /** 32 bytes. */
  readonly bytes: Uint8Array;
  /** Whether there was none before: it has to be kept before it is used. */
  readonly fresh: boolean;
}

/** Where it is kept. */
export function masterKeyPath(directory: string): string {
  return join(directory, fileName);
}

/**
 * The key of a data directory: the one that is kept there, else one that is derived from the seal's, else one that
 * `random` gives and that is yet to be kept. What is kept in the clear is sealed where there is a seal.
 * Throws CorruptionError or SecretBoxError for what is there and cannot be used.
 */
export async function openMasterKey(
  directory: string,
  secretBox: SecretBox | undefined,
  random: (size: number) => Uint8Array,
  disk: Disk = nodeDisk,
): Promise<MasterKey> {
  const kept = await readMasterKey(directory, secretBox, disk);
  if (kept === undefined)
    return secretBox === undefined
      ? { bytes: random(32), fresh: true }
      : { bytes: secretBox.derive(label), fresh: false };
  if (secretBox !== undefined && kept.clear) await keepMasterKey(directory, kept.bytes, secretBox, disk);
  return { bytes: kept.bytes, fresh: false };
}

/** Keeps the key, under the lock of the directory; on the medium when it resolves. Throws StoreError. */
export async function keepMasterKey(
  directory: string,
  bytes: Uint8Array,
  secretBox: SecretBox | undefined,
  disk: Disk = nodeDisk,
): Promise<void> {
  // Whoever made them had the lock of the directory then, and does not now.
  await removeLeftovers(disk, directory, fileName, () => true);
  const text = Buffer.from(bytes).toString('base64url');
  const content = secretBox === undefined ? text : `${sealedPrefix}${secretBox.seal(text, sealedAs)}`;
  await replaceFile(disk, { directory, name: fileName, content: [content, '\n'], sync: true });
}

/** The key as it is kept, and whether that is in the clear; undefined where none is. Throws as openMasterKey does. */
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
  const bytes = parseKey(clear ? text : opened(path, text.slice(sealedPrefix.length), secretBox));
  if (bytes !== undefined) return { bytes, clear };
  throw new CorruptionError(path, 'it is not a key of 32 bytes', undefined, choices);
}

const choices =
  'Put back an intact copy of it; or, without one, remove it: the tokens of OAuth 1.0a that were issued are void then';

function opened(path: string, sealed: string, secretBox: SecretBox | undefined): string {
  if (secretBox === undefined) throw new SecretBoxError(keyMissing(path));
  const text = secretBox.open(sealed, sealedAs);
  if (text === undefined) throw new SecretBoxError(`${path} ${encryptedWithOtherKey}`);
  return text;
}
