import { randomBytes, timingSafeEqual } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { createSecretBox, parseKey, type SecretBox } from '../../accounts/secret-box.ts';
import type { Options } from '../../options/options.ts';
import { errorCode } from '../../store/files/disk.ts';
import { exposedFile, FilePermissionsError } from '../../store/files/file-permissions.ts';
import { CommandError } from '../errors.ts';

const variable = 'COUNTERSIGN_KEY';

/** The maximum number of bytes read from a key file. */
const maxKeyFileSize = 1024;

/**
 * Returns the encryption of stored secrets, with the key of `--key-file` or COUNTERSIGN_KEY; undefined if there is neither.
 *
 * @throws CommandError for an invalid key, FilePermissionsError if other users can read the file
 */
export function readSecretBox(
  { keyFile }: Pick<Options, 'keyFile'>,
  environment: NodeJS.ProcessEnv,
): SecretBox | undefined {
  const set = environment[variable];
  const fromVariable = set === undefined ? undefined : keyOf(variable, set);
  const fromFile = keyFile === undefined ? undefined : keyOf(keyFile, readKeyFile(keyFile));
  if (fromVariable !== undefined && fromFile !== undefined && !timingSafeEqual(fromVariable, fromFile))
    throw new CommandError([`${variable} and ${keyFile} contain different keys; use only one of them`]);
  const key = fromFile ?? fromVariable;
  return key === undefined ? undefined : createSecretBox(key, randomBytes);
}

function keyOf(source: string, text: string): Uint8Array {
  const key = parseKey(text.replace(/\r?\n$/, ''));
  if (key !== undefined) return key;
  throw new CommandError([
    `${source} must contain a key of 32 bytes in hexadecimal or base64; to generate one: openssl rand -hex 32`,
  ]);
}

function readKeyFile(path: string): string {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const stats = fstatSync(file);
    const exposed = stats.isFile() ? exposedFile(path, stats) : undefined;
    if (exposed !== undefined) throw new FilePermissionsError(path, exposed, { several: false, known: true });
    return readText(file);
  } catch (error) {
    if (error instanceof FilePermissionsError) throw error;
    throw new CommandError([`the key file ${path} cannot be read (${errorCode(error) ?? 'unknown'})`], 1);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Reads the file, but at most `maxKeyFileSize` bytes, because a device or pipe may have no end. */
function readText(file: number): string {
  const bytes = Buffer.alloc(maxKeyFileSize);
  let length = 0;
  while (length < maxKeyFileSize) {
    const read = readSync(file, bytes, length, maxKeyFileSize - length, null);
    if (read === 0) break;
    length += read;
  }
  return bytes.toString('latin1', 0, length);
}
