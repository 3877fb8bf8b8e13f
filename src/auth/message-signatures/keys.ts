// Finds keys, and compares signatures without revealing by the time whether a key exists.
import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { andThen } from '../../maybe-promise.ts';
import { keyOf, type SigningKey } from '../../signature/hmac.ts';
import { type PublicKeyAlgorithm, verifySignature } from '../../signature/message-signatures/algorithms.ts';
import type { AccountKey } from '../account-key.ts';
import type { Account, Accounts, FoundKey, Secret } from '../accounts.ts';

/** A key with which signatures can be verified. */
export type VerifyingKey =
  | { readonly algorithm: 'hmac-sha256'; readonly secret: SigningKey; readonly until?: number }
  | { readonly algorithm: PublicKeyAlgorithm; readonly publicKey: KeyObject; readonly until?: number };

/** An account and its keys with an id. */
export interface Holder {
  readonly account: Account;
  readonly keys: readonly VerifyingKey[];
}

/**
 * Finds the keys with an id: the key of this id, or else the secrets of the user of this name. Returns undefined if there are
 * none.
 */
export function findHolder(
  accounts: Accounts,
  keyid: string,
): Holder | undefined | Promise<Holder | undefined> {
  const found = accounts.findKey?.(keyid);
  return found === undefined
    ? findByName(accounts, keyid)
    : andThen(found, (key) => holderOf(key) ?? findByName(accounts, keyid));
}

function holderOf(found: FoundKey | undefined): Holder | undefined {
  const key = found === undefined ? undefined : verifyingKey(found.key);
  return found === undefined || key === undefined ? undefined : { account: found.account, keys: [key] };
}

function findByName(accounts: Accounts, name: string): Holder | undefined | Promise<Holder | undefined> {
  return andThen(
    accounts.find(name),
    (account) => account && { account, keys: account.secrets.map(secretKey) },
  );
}

/** Returns the key for verification; undefined if it is one of another scheme. */
export function verifyingKey(key: AccountKey): VerifyingKey | undefined {
  if (!('secret' in key)) return key;
  if (key.algorithm !== 'hmac-sha256') return undefined;
  const { secret, until } = key;
  return { algorithm: 'hmac-sha256', secret, ...(until === undefined ? {} : { until }) };
}

function secretKey({ key, until }: Secret): VerifyingKey {
  return until === undefined
    ? { algorithm: 'hmac-sha256', secret: key }
    : { algorithm: 'hmac-sha256', secret: key, until };
}

/** Returns the number of bytes of canonical base64. */
export function bytesIn(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return (base64.length / 4) * 3 - padding;
}

/** The number of HMAC keys that are always tried: a user usually has at most two secrets. */
const minSecrets = 2;

/** Returns the public-key algorithms whose signatures can have this length (RFC 9421 §3.3). */
function algorithmsOf(length: number): readonly PublicKeyAlgorithm[] {
  if (length === 64) return ['ed25519', 'ecdsa-p256-sha256'];
  if (length === 96) return ['ecdsa-p384-sha384'];
  return length >= 128 && length <= 1024 ? ['rsa-pss-sha512', 'rsa-v1_5-sha256'] : [];
}

/**
 * Selects the keys with which a signature is verified. Which algorithms are tried depends on nothing but the length of the
 * signature: a dummy key takes the place of each that the holder does not have. So a refusal takes the same time for an unknown
 * key, a key of another algorithm and a wrong signature. Of two algorithms with signatures of the same length, both are tried.
 */
export class Verifiers {
  readonly #secret: VerifyingKey = { algorithm: 'hmac-sha256', secret: keyOf('no one has this secret') };
  readonly #dummies = new Map<string, VerifyingKey>();
  /** The lengths of signatures by key. Node.js takes longer to determine one than to verify. */
  readonly #lengths = new WeakMap<KeyObject, number>();

  /** Returns the keys whose signatures have this length. */
  fitting(keys: readonly VerifyingKey[], length: number): readonly VerifyingKey[] {
    return keys.filter((key) => this.lengthOf(key) === length);
  }

  /** Returns dummy keys for the algorithms with signatures of this length that have no key among the fitting ones. */
  dummies(fitting: readonly VerifyingKey[], length: number): readonly VerifyingKey[] {
    if (length === 32)
      return new Array<VerifyingKey>(Math.max(0, minSecrets - fitting.length)).fill(this.#secret);
    return algorithmsOf(length)
      .filter((algorithm) => !fitting.some((key) => key.algorithm === algorithm))
      .map((algorithm) => this.#dummy(algorithm, length));
  }

  /** Returns the length of the signatures of a key (bytes). */
  lengthOf(key: VerifyingKey): number {
    if (key.algorithm === 'hmac-sha256') return 32;
    const known = this.#lengths.get(key.publicKey);
    if (known !== undefined) return known;
    const length = signatureLength(key.algorithm, key.publicKey);
    this.#lengths.set(key.publicKey, length);
    return length;
  }

  #dummy(algorithm: PublicKeyAlgorithm, length: number): VerifyingKey {
    const id = algorithm.startsWith('rsa') ? `${algorithm} ${length}` : algorithm;
    const known = this.#dummies.get(id);
    if (known !== undefined) return known;
    const made: VerifyingKey = { algorithm, publicKey: dummyKey(algorithm, length) };
    this.#dummies.set(id, made);
    return made;
  }
}

function signatureLength(algorithm: PublicKeyAlgorithm, key: KeyObject): number {
  if (algorithm === 'ecdsa-p384-sha384') return 96;
  if (!algorithm.startsWith('rsa')) return 64;
  return Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8);
}

/** Creates a public key whose private key is unknown. */
function dummyKey(algorithm: PublicKeyAlgorithm, length: number): KeyObject {
  if (algorithm === 'ed25519') return generateKeyPairSync('ed25519').publicKey;
  if (algorithm === 'ecdsa-p256-sha256') return generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
  if (algorithm === 'ecdsa-p384-sha384') return generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey;
  // A random modulus takes as long as a product of two primes, but is created in no time.
  const modulus = randomBytes(length);
  modulus[0] = 0xff;
  modulus[length - 1] = (modulus[length - 1] ?? 0) | 1;
  const jwk = { kty: 'RSA', n: modulus.toString('base64url'), e: 'AQAB' };
  return createPublicKey({ key: jwk, format: 'jwk' });
}

/** Returns whether a key verifies a signature, in base64, of a message of octets, which comes in pieces. */
export function isSignedBy(key: VerifyingKey, pieces: readonly string[], signature: string): boolean {
  if (key.algorithm === 'hmac-sha256') return key.secret.signs(pieces, signature);
  const base = Buffer.from(pieces.join(''), 'latin1');
  return verifySignature(key.algorithm, key.publicKey, base, Buffer.from(signature, 'base64'));
}
