import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { StoredUser } from '../../accounts/users.ts';
import type { KeyDeclaration, SignatureAlgorithm } from '../../auth/account-key.ts';
import { algorithmOf, parseAccountKey, parsePublicKey } from '../../auth/parse-account-key.ts';
import { asCommandError, CommandError } from '../errors.ts';

/** A user of any source, with or without keys. */
interface WithKeys {
  readonly keys?: StoredUser['keys'] | undefined;
}

/** A key pair that a command generated. Only the public key is stored. */
export interface GeneratedKey {
  readonly key: KeyDeclaration;
  /** PEM (PKCS #8). */
  readonly privateKey: string;
}

const pairs: Readonly<Record<SignatureAlgorithm, () => { publicKey: KeyObject; privateKey: KeyObject }>> = {
  ed25519: () => generateKeyPairSync('ed25519'),
  'ecdsa-p256-sha256': () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  'ecdsa-p384-sha384': () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  'rsa-pss-sha512': () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  'rsa-v1_5-sha256': () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
};

/** Generates a key pair. */
export function generateKey(algorithm: SignatureAlgorithm): GeneratedKey {
  const { publicKey, privateKey } = pairs[algorithm]();
  return {
    key: { algorithm, publicKey: pemOf(publicKey) },
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/**
 * Reads a public key, PEM or JWK, from a file.
 * @param algorithm Default: the algorithm of the key's type; RSA keys have two.
 * @throws CommandError if the file cannot be read or has no public key, or if the algorithm does not fit
 */
export function readPublicKey(file: string, algorithm: SignatureAlgorithm | undefined): KeyDeclaration {
  const publicKey = asCommandError(() => parsePublicKey(textOf(file), file), 1);
  const known = algorithm ?? algorithmOf(publicKey);
  if (known === undefined)
    throw new CommandError([
      `${file} requires --algorithm, such as rsa-pss-sha512 or rsa-v1_5-sha256 for an RSA key`,
    ]);
  const key: KeyDeclaration = { algorithm: known, publicKey: pemOf(publicKey) };
  asCommandError(() => parseAccountKey('id', key, file), 1);
  return key;
}

/**
 * Adds a key to a user.
 * @throws CommandError if another user has this name or a key of this id, or if the user has such a key already
 */
export function withKey(
  users: Iterable<readonly [string, WithKeys]>,
  name: string,
  user: StoredUser,
  id: string,
  key: KeyDeclaration,
): StoredUser {
  for (const [other, { keys }] of users) {
    if (keys !== undefined && Object.hasOwn(keys, id))
      throw new CommandError([`the user ${other} already has a key ${id}`], 1);
    if (other === id && other !== name)
      throw new CommandError([`${id} is the name of another user; a key needs another id`], 1);
  }
  return { ...user, keys: { ...user.keys, [id]: key } };
}

/**
 * Checks that no key has the name of a new user: credentials that name it would be ambiguous, and no server would start.
 * @throws CommandError that names the user with the key
 */
export function checkNoKeyNamed(users: Iterable<readonly [string, WithKeys]>, name: string): void {
  for (const [other, { keys }] of users)
    if (keys !== undefined && Object.hasOwn(keys, name))
      throw new CommandError(
        [`${name} is the id of a key of the user ${other}; a user needs another name`],
        1,
      );
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'pem' }).toString();
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CommandError([`cannot read ${file}: ${error instanceof Error ? error.message : error}`], 1);
  }
}
