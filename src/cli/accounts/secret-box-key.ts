import { randomBytes, timingSafeEqual } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { createSecretBox, parseKey, type SecretBox } from '../../accounts/secret-box.ts';
import type { Options } from '../../options/options.ts';
import { errorCode } from '../../store/files/disk.ts';
import { exposedFile, FilePermissionsError } from '../../store/files/file-permissions.ts';
import { CommandError } from '../errors.ts';

const variable = 'COUNTERSIGN_KEY';

/** The most bytes that are looked at in a key file: more than any key has. */
const longest = 1024;

/**
 * What secrets at rest are sealed with: the key of `--key-file`, or of COUNTERSIGN_KEY; undefined when there is
 * neither. Throws Refusal when it cannot be used, FilePermissionsError when others can read the file.
 */
export function readSecretBox(
  { keyFile }: Pick<Options, 'keyFile'>,
  environment: NodeJS.ProcessEnv,
): SecretBox | undefined {
  const set = environment[variable];
  const fromVariable = set === undefined ? undefined : keyOf(variable, set);
  const fromFile = keyFile === undefined ? undefined : keyOf(keyFile, readKeyFile(keyFile));
  if (fromVariable !== undefined && fromFile !== undefined && !timingSafeEqual(fromVariable, fromFile))
    throw new CommandError([`${variable} and the key in ${keyFile} are not the same key; leave one out`]);
  const key = fromFile ?? fromVariable;
  return key === undefined ? undefined : createSecretBox(key, randomBytes);
}

function keyOf(source: string, text: string): Uint8Array {
  const key = parseKey(text.replace(/\r?\n$/, ''));
  if (key !== undefined) return key;
  throw new CommandError([
    `${source} has no key: 32 bytes are expected, in hexadecimal or base64; openssl rand -hex 32 makes one`,
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

/** What is in the file, but not without end: a device or a pipe may never have one. */
function readText(file: number): string {
  const bytes = Buffer.alloc(longest);
  let length = 0;
  while (length < longest) {
    const read = readSync(file, bytes, length, longest - length, null);
    if (read === 0) break;
    length += read;
  }
  return bytes.toString('latin1', 0, length);
}
