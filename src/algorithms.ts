// The algorithms of private keys: one table for all schemes, each of which maps its own names to the rows.
import {
  constants,
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from 'node:crypto';
import { bytesOf } from './http/syntax/octets.ts';

/** The asymmetric algorithms of RFC 9421 §3.3. */
export type SignatureAlgorithm =
  | 'rsa-pss-sha512'
  | 'rsa-v1_5-sha256'
  | 'ecdsa-p256-sha256'
  | 'ecdsa-p384-sha384'
  | 'ed25519';

/** The algorithms of public keys: those of RFC 9421, and further ones of OAuth 1.0a (RFC 5849 §3.4.3). */
export type PublicKeyKind = SignatureAlgorithm | 'rsa-v1_5-sha1' | 'rsa-v1_5-sha512';

/** The hash functions of shared secrets and of digests. */
export const hashNames = ['md5', 'sha1', 'sha256', 'sha384', 'sha512'] as const;
export type HashName = (typeof hashNames)[number];

/** The lengths of the digests in bytes. */
export const digestLengths: Readonly<Record<HashName, number>> = {
  md5: 16,
  sha1: 20,
  sha256: 32,
  sha384: 48,
  sha512: 64,
};

/** The range of a length in bytes, both inclusive. */
export type Lengths = readonly [min: number, max: number];

/** The keys of an algorithm. */
interface KeyType {
  /** The type of node:crypto. */
  readonly type: 'rsa' | 'ec' | 'ed25519';
  /** The curve of an EC key, as node:crypto names it. */
  readonly curve?: 'prime256v1' | 'secp384r1';
  /** The name in messages, with its article. */
  readonly name: string;
}

/** What node:crypto needs to sign and to verify. */
interface Row {
  readonly key: KeyType;
  /** Ed25519 hashes the message itself (RFC 8032 §5.1.6). */
  readonly hash: string | null;
  readonly padding?: number;
  /** The length (bytes) of signatures that do not depend on the key: of ECDSA, r and s (RFC 9421 §3.3.4, §3.3.5). */
  readonly length?: number;
}

const rsa: KeyType = { type: 'rsa', name: 'an RSA key' };
const p256: KeyType = { type: 'ec', curve: 'prime256v1', name: 'an EC key on P-256' };
const p384: KeyType = { type: 'ec', curve: 'secp384r1', name: 'an EC key on P-384' };
const edwards: KeyType = { type: 'ed25519', name: 'an Ed25519 key' };
const pkcs1 = constants.RSA_PKCS1_PADDING;

const registered: Readonly<Record<SignatureAlgorithm, Row>> = {
  'rsa-pss-sha512': { key: rsa, hash: 'sha512', padding: constants.RSA_PKCS1_PSS_PADDING },
  'rsa-v1_5-sha256': { key: rsa, hash: 'sha256', padding: pkcs1 },
  'ecdsa-p256-sha256': { key: p256, hash: 'sha256', length: 64 },
  'ecdsa-p384-sha384': { key: p384, hash: 'sha384', length: 96 },
  ed25519: { key: edwards, hash: null, length: 64 },
};

const table: Readonly<Record<PublicKeyKind, Row>> = {
  ...registered,
  'rsa-v1_5-sha1': { key: rsa, hash: 'sha1', padding: pkcs1 },
  'rsa-v1_5-sha512': { key: rsa, hash: 'sha512', padding: pkcs1 },
};

/** The names of the algorithms of RFC 9421 with a private key. */
export const signatureAlgorithms: readonly SignatureAlgorithm[] =
  Object.keys(registered).filter(isSignatureAlgorithm);

/** Returns whether a name is that of an algorithm of RFC 9421 with a private key. */
export function isSignatureAlgorithm(name: string): name is SignatureAlgorithm {
  return Object.hasOwn(registered, name);
}

/** Returns whether the keys of an algorithm are of RSA, so that the length of a signature is that of the key. */
export function isRsa(algorithm: PublicKeyKind): boolean {
  return table[algorithm].key === rsa;
}

/** Returns the algorithms of RFC 9421 whose signatures have a length (bytes) that does not depend on the key. */
export function algorithmsOfLength(length: number): readonly SignatureAlgorithm[] {
  return signatureAlgorithms.filter((each) => registered[each].length === length);
}

/** The modulus of an RSA key (bits), at least (NIST SP 800-131A) and at most: it determines the time of a verification. */
export const rsaModulus: Lengths = [2048, 4096];

/** Returns how long a signature is. One of RSA is as long as the modulus (RFC 8017 §8). */
export function signatureLengths(algorithm: PublicKeyKind, { dsaEncoding }: SignatureVariant): Lengths {
  const { key, length } = table[algorithm];
  if (length === undefined) return [rsaModulus[0] / 8, rsaModulus[1] / 8];
  // A SEQUENCE of two INTEGERs (RFC 3279 §2.2.3), each with a byte before it if its first bit is set.
  return key.type === 'ec' && dsaEncoding === 'der' ? [8, length + 8] : [length, length];
}

/** Returns the name of the keys of an algorithm, with its article: `an RSA key`. */
export function nameKey(algorithm: PublicKeyKind): string {
  return table[algorithm].key.name;
}

/** Returns whether a key, public or private, is of the type and curve that an algorithm requires. */
export function isKeyFor(algorithm: PublicKeyKind, key: KeyObject): boolean {
  const { type, curve } = table[algorithm].key;
  return (
    key.asymmetricKeyType === type && (curve === undefined || key.asymmetricKeyDetails?.namedCurve === curve)
  );
}

/** Returns the algorithm of a key if its type determines it; undefined for RSA, which has several. */
export function findAlgorithm(key: KeyObject): SignatureAlgorithm | undefined {
  return signatureAlgorithms.find((each) => !isRsa(each) && isKeyFor(each, key));
}

/** In what a scheme differs from RFC 9421. */
export interface SignatureVariant {
  /** The hash function of ECDSA and RSA. Default: that of the algorithm. */
  readonly hash?: string | undefined;
  /** The form of ECDSA: a SEQUENCE of two INTEGERs, or both numbers with a fixed length. Default: `ieee-p1363`. */
  readonly dsaEncoding?: 'der' | 'ieee-p1363' | undefined;
  /** The length of the salt of RSASSA-PSS that is verified. Default: that of the digest. Signatures are made with the default. */
  readonly anySalt?: boolean | undefined;
}

/** Describes how an algorithm signs, for messages: `ECDSA with SHA-256`. */
export function describeAlgorithm(algorithm: PublicKeyKind, { hash }: SignatureVariant = {}): string {
  const { key, padding } = table[algorithm];
  if (key.type === 'ed25519') return 'Ed25519';
  const used = selectHash(algorithm, hash)?.replace('sha', 'SHA-');
  if (key.type === 'ec') return `ECDSA with ${used}`;
  return `${padding === pkcs1 ? 'RSASSA-PKCS1-v1_5' : 'RSASSA-PSS'} with ${used}`;
}

/** Signs a message with a private key. Throws if the key is not one of the algorithm. */
export function signWith(
  algorithm: PublicKeyKind,
  key: KeyObject,
  message: Uint8Array,
  { hash, dsaEncoding }: SignatureVariant = {},
): Buffer {
  return sign(selectHash(algorithm, hash), message, { key, ...selectOptions(algorithm, { dsaEncoding }) });
}

/**
 * Returns whether a private key made a signature of a message. Returns false also for a key that does not permit the padding, as one of
 * RSASSA-PSS does not permit PKCS #1 v1.5.
 */
export function verifyWith(
  algorithm: PublicKeyKind,
  key: KeyObject,
  message: Uint8Array,
  signature: Uint8Array,
  variant: SignatureVariant = {},
): boolean {
  const options = selectOptions(algorithm, variant);
  try {
    return verify(selectHash(algorithm, variant.hash), message, { key, ...options }, signature);
  } catch {
    return false;
  }
}

function selectHash(algorithm: PublicKeyKind, other: string | undefined): string | null {
  const { hash } = table[algorithm];
  return hash === null ? null : (other ?? hash);
}

function selectOptions(
  algorithm: PublicKeyKind,
  { dsaEncoding = 'ieee-p1363', anySalt = false }: SignatureVariant,
) {
  const { key, padding } = table[algorithm];
  if (key.type === 'ec') return { dsaEncoding };
  if (padding !== constants.RSA_PKCS1_PSS_PADDING) return { padding };
  return { padding, saltLength: anySalt ? constants.RSA_PSS_SALTLEN_AUTO : constants.RSA_PSS_SALTLEN_DIGEST };
}

/** Generates a pair of keys. Those of RSA have 2048 bits. */
export function generateKeys(algorithm: PublicKeyKind): {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
} {
  const { type, curve = '' } = table[algorithm].key;
  if (type === 'rsa') return generateKeyPairSync('rsa', { modulusLength: 2048 });
  return type === 'ec' ? generateKeyPairSync('ec', { namedCurve: curve }) : generateKeyPairSync('ed25519');
}

/** Generates another private key of the type of a key, with its curve or length; undefined for a type that no algorithm has. */
export function generateOther({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): KeyObject | undefined {
  const { namedCurve = '', modulusLength = 2048 } = asymmetricKeyDetails ?? {};
  if (asymmetricKeyType === 'rsa') return generateKeyPairSync('rsa', { modulusLength }).privateKey;
  if (asymmetricKeyType === 'ec') return generateKeyPairSync('ec', { namedCurve }).privateKey;
  return asymmetricKeyType === 'ed25519' ? generateKeyPairSync('ed25519').privateKey : undefined;
}

/** Creates a public key whose private key is unknown. `length` is that of its signatures (bytes), if it is one of RSA. */
export function createDecoyKey(algorithm: PublicKeyKind, length: number): KeyObject {
  if (!isRsa(algorithm)) return generateKeys(algorithm).publicKey;
  // A random modulus takes as long as a product of two primes, but is created in no time.
  const modulus = randomBytes(length);
  modulus[0] = 0xff;
  modulus[length - 1] = (modulus[length - 1] ?? 0) | 1;
  const jwk = { kty: 'RSA', n: modulus.toString('base64url'), e: 'AQAB' };
  return createPublicKey({ key: jwk, format: 'jwk' });
}

/** The algorithms of HTTP Message Signatures (RFC 9421 §3.3). */
export type MessageAlgorithm = SignatureAlgorithm | 'hmac-sha256';

/** The names of all algorithms. */
export const messageAlgorithms: readonly string[] = [...signatureAlgorithms, 'hmac-sha256'];

/** Returns whether a name is that of a supported algorithm. */
export function isMessageAlgorithm(name: string): name is MessageAlgorithm {
  return name === 'hmac-sha256' || isSignatureAlgorithm(name);
}

/** A key that signs messages. */
export type MessageKey =
  | { readonly id: string; readonly algorithm: SignatureAlgorithm; readonly privateKey: KeyObject }
  | { readonly id: string; readonly algorithm: 'hmac-sha256'; readonly secret: string | Uint8Array };

/** Signs a signature base, and returns the signature in base64. Throws if the key is not one of the algorithm. */
export function signBase(key: MessageKey, base: string): string {
  const data = bytesOf(base);
  if (key.algorithm === 'hmac-sha256')
    return createHmac('sha256', requireSecret(key.secret)).update(data).digest('base64');
  return signWith(key.algorithm, requireKey(key.algorithm, key.privateKey), data).toString('base64');
}

function requireSecret(secret: string | Uint8Array): string | Uint8Array {
  if (secret.length === 0) throw new RangeError('a secret must not be empty');
  return secret;
}

function requireKey(algorithm: SignatureAlgorithm, key: KeyObject): KeyObject {
  if (key.type !== 'private') throw new RangeError(`a private key is required to sign with ${algorithm}`);
  if (!isMessageKey(algorithm, key)) throw new RangeError(`the key is not one for ${algorithm}`);
  return key;
}

/** Returns whether a key, public or private, is one for an algorithm. One of RSASSA-PSS alone is for that. */
export function isMessageKey(algorithm: SignatureAlgorithm, key: KeyObject): boolean {
  return isKeyFor(algorithm, key) || (algorithm === 'rsa-pss-sha512' && key.asymmetricKeyType === 'rsa-pss');
}
