import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { didYouMean } from '../did-you-mean.ts';
import { hasControlCharacter, hasLoneSurrogate } from '../http/syntax/control-character.ts';
import { keyOf } from '../signature/hmac.ts';
import type { AccountKey, KeyDeclaration, SignatureAlgorithm } from './account-key.ts';
import { keyWeakness } from './key-weakness.ts';

/** The type of a public key (of node:crypto) that each algorithm requires, and the curve of an EC key. */
const requirements: Readonly<Record<SignatureAlgorithm, { type: string; curve?: string; name: string }>> = {
  'rsa-pss-sha512': { type: 'rsa', name: 'an RSA key' },
  'rsa-v1_5-sha256': { type: 'rsa', name: 'an RSA key' },
  'ecdsa-p256-sha256': { type: 'ec', curve: 'prime256v1', name: 'an EC key on P-256' },
  'ecdsa-p384-sha384': { type: 'ec', curve: 'secp384r1', name: 'an EC key on P-384' },
  ed25519: { type: 'ed25519', name: 'an Ed25519 key' },
};

/** The names of all algorithms of keys. */
export const keyAlgorithms: readonly string[] = [...Object.keys(requirements), 'hmac-sha256', 'aws4'];

/** The maximum length of the id of a key. */
export const maxKeyIdLength = 256;

/** Returns why an id of a key is invalid, or undefined: 1 to 256 characters, without quotes, commas, slashes and white space. */
export function keyIdFault(id: string): string | undefined {
  if (id.length < 1 || id.length > maxKeyIdLength)
    return `the id of a key must have 1 to ${maxKeyIdLength} characters`;
  if (hasControlCharacter(id) || hasLoneSurrogate(id) || /[\s"\\,]/.test(id))
    return 'the id of a key must have no white space, quotes, backslashes, commas and control characters';
  return undefined;
}

/**
 * Parses a declared key. The message of an error contains nothing of the key.
 * @param what names the key in messages: `the key "key-1" of the user "ann"`
 * @throws RangeError on an unknown algorithm, an empty secret, a private key, or a key of another type
 */
export function parseAccountKey(id: string, declared: KeyDeclaration, what: string): AccountKey {
  const fault = keyIdFault(id);
  if (fault !== undefined) throw new RangeError(`${what}: ${fault}`);
  const algorithm = algorithmNamed(declared.algorithm, what);
  const { until } = declared;
  const expiry = until === undefined ? {} : { until };
  if ('secret' in declared) {
    if (isAsymmetric(algorithm))
      throw new RangeError(`${what} has a secret, and its algorithm requires publicKey`);
    if (typeof declared.secret !== 'string' || declared.secret === '')
      throw new RangeError(`the secret of ${what} is not a non-empty string`);
    const { passphrase } = declared;
    if (passphrase !== undefined && (typeof passphrase !== 'string' || passphrase === ''))
      throw new RangeError(`the passphrase of ${what} is not a non-empty string`);
    const second =
      passphrase === undefined ? {} : { passphrase: createHash('sha256').update(passphrase).digest() };
    return { id, algorithm, secret: keyOf(declared.secret), ...expiry, ...second };
  }
  if (!isAsymmetric(algorithm)) throw new RangeError(`${what} has no secret, which its algorithm requires`);
  const requirement = requirements[algorithm];
  const publicKey = parsePublicKey(declared.publicKey, what);
  if (!fits(publicKey, requirement))
    throw new RangeError(`${what} is not ${requirement.name}, which ${algorithm} requires`);
  const weakness = keyWeakness(publicKey);
  if (weakness !== undefined) throw new RangeError(`${what} ${weakness}`);
  return { id, algorithm, publicKey, ...expiry };
}

/**
 * Reads the declaration of a key from unchecked input. `parseAccountKey` checks the key itself.
 * @throws RangeError on an unknown member, with the nearest known name
 */
export function readKeyDeclaration(value: unknown, what: string): KeyDeclaration {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RangeError(`${what} must be an object such as { "algorithm": "ed25519", "publicKey": "…" }`);
  const members = new Map<string, unknown>(Object.entries(value));
  for (const name of members.keys())
    if (!keyMembers.includes(name))
      throw new RangeError(`unknown key ${what}.${name}${didYouMean(name, keyMembers)}`);
  const algorithm = algorithmNamed(members.get('algorithm'), what);
  const [secret, publicKey, until] = ['secret', 'publicKey', 'until'].map((name) => members.get(name));
  const passphrase = members.get('passphrase');
  if (until !== undefined && typeof until !== 'number')
    throw new RangeError(`${what}.until must be a number`);
  if (secret !== undefined && publicKey !== undefined)
    throw new RangeError(`${what} has a secret and a public key; it must have one of them`);
  if (isAsymmetric(algorithm)) {
    if (!isPublicKey(publicKey)) throw new RangeError(`${what}.publicKey must be PEM text or a JWK`);
    if (passphrase !== undefined) throw new RangeError(`${what}.passphrase: a public key has none`);
    return { algorithm, publicKey, until };
  }
  if (typeof secret !== 'string' || secret === '')
    throw new RangeError(`${what}.secret must be a non-empty string`);
  if (passphrase === undefined) return { algorithm, secret, until };
  if (typeof passphrase !== 'string' || passphrase === '')
    throw new RangeError(`${what}.passphrase must be a non-empty string`);
  return { algorithm, secret, until, passphrase };
}

const keyMembers: readonly string[] = ['algorithm', 'publicKey', 'secret', 'until', 'passphrase'];

/** Returns the algorithm of a public key if its type determines it; undefined for RSA, which has two. */
export function algorithmOf(publicKey: KeyObject): SignatureAlgorithm | undefined {
  const { asymmetricKeyType } = publicKey;
  if (asymmetricKeyType === 'ed25519') return 'ed25519';
  if (fits(publicKey, requirements['ecdsa-p256-sha256'])) return 'ecdsa-p256-sha256';
  if (fits(publicKey, requirements['ecdsa-p384-sha384'])) return 'ecdsa-p384-sha384';
  return undefined;
}

/**
 * Parses a public key: PEM (SPKI), or a JWK as an object or as JSON text. The message of an error contains nothing of the key.
 * @throws RangeError on a private key, or on anything else that is not a public key
 */
export function parsePublicKey(source: unknown, what: string): KeyObject {
  const jwk = jwkOf(source);
  if (jwk === undefined && typeof source !== 'string')
    throw new RangeError(`publicKey of ${what} must be PEM text or a JWK`);
  const isPrivate =
    jwk === undefined
      ? /PRIVATE KEY/.test(String(source))
      : Object.hasOwn(jwk, 'd') || Object.hasOwn(jwk, 'k');
  if (isPrivate)
    throw new RangeError(`${what} is a private key or a secret; only the public key belongs here`);
  try {
    return jwk === undefined ? createPublicKey(String(source)) : createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    throw new RangeError(`${what} is not a public key in PEM (SPKI) or JWK format`);
  }
}

function jwkOf(source: unknown): Record<string, string> | undefined {
  const value: unknown = typeof source === 'string' && /^\s*\{/.test(source) ? parsed(source) : source;
  if (typeof value !== 'object' || value === null) return undefined;
  // Further members, such as key_ops, are lists. A key consists of text only.
  const members = Object.entries(value).filter((member): member is [string, string] => isText(member[1]));
  return Object.fromEntries(members);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the algorithm of a name. Throws RangeError with the nearest known name. */
export function algorithmNamed(name: unknown, what: string): KeyDeclaration['algorithm'] {
  if (typeof name !== 'string') throw new RangeError(`${what} has no algorithm`);
  if (isAsymmetric(name) || name === 'hmac-sha256' || name === 'aws4') return name;
  throw new RangeError(
    `${JSON.stringify(name)} is not an algorithm of ${what}${didYouMean(name, keyAlgorithms)}`,
  );
}

function isPublicKey(value: unknown): value is string | Readonly<Record<string, unknown>> {
  return typeof value === 'string' || (typeof value === 'object' && value !== null && !Array.isArray(value));
}

/** Returns whether an algorithm has a public key, and not a shared secret. */
export function isAsymmetric(algorithm: string): algorithm is SignatureAlgorithm {
  return Object.hasOwn(requirements, algorithm);
}

function fits(key: KeyObject, { type, curve }: { type: string; curve?: string }): boolean {
  return (
    key.asymmetricKeyType === type && (curve === undefined || key.asymmetricKeyDetails?.namedCurve === curve)
  );
}
