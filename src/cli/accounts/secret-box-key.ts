import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createSecretBox, parseKey, type SecretBox } from '../../accounts/secret-box.ts';
import type { Options } from '../../options/options.ts';
import { CommandError } from '../errors.ts';
import { readProtectedFile } from './protected-file.ts';

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
  const fromVariable = set === undefined ? undefined : requireKey(variable, set);
  const fromFile =
    keyFile === undefined
      ? undefined
      : requireKey(keyFile, readProtectedFile(keyFile, 'the key file', maxKeyFileSize));
  if (fromVariable !== undefined && fromFile !== undefined && !timingSafeEqual(fromVariable, fromFile))
    throw new CommandError([`${variable} and ${keyFile} contain different keys; use only one of them`]);
  const key = fromFile ?? fromVariable;
  return key === undefined ? undefined : createSecretBox(key, randomBytes);
}

function requireKey(source: string, text: string): Uint8Array {
  const key = parseKey(text.replace(/\r?\n$/, ''));
  if (key !== undefined) return key;
  throw new CommandError([
    `${source} must contain a key of 32 bytes in hexadecimal or base64; to generate one: openssl rand -hex 32`,
  ]);
}
