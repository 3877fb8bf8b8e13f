// The signature algorithms (RFC 9421 §3.3).
import { constants, createHmac, type KeyObject, sign, verify } from 'node:crypto';

/** The algorithms with a public key. */
export type PublicKeyAlgorithm =
  | 'rsa-pss-sha512'
  | 'rsa-v1_5-sha256'
  | 'ecdsa-p256-sha256'
  | 'ecdsa-p384-sha384'
  | 'ed25519';

/** The registered algorithms. */
export type MessageAlgorithm = PublicKeyAlgorithm | 'hmac-sha256';

/** The parameters of node:crypto for an algorithm. A signature of ECDSA consists of r and s, of fixed length (§3.3.4, §3.3.5). */
interface CryptoParameters {
  readonly hash: string | null;
  readonly padding?: number;
  readonly saltLength?: number;
  readonly dsaEncoding?: 'ieee-p1363';
}

const cryptoParameters: Readonly<Record<PublicKeyAlgorithm, CryptoParameters>> = {
  'rsa-pss-sha512': { hash: 'sha512', padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 64 },
  'rsa-v1_5-sha256': { hash: 'sha256', padding: constants.RSA_PKCS1_PADDING },
  'ecdsa-p256-sha256': { hash: 'sha256', dsaEncoding: 'ieee-p1363' },
  'ecdsa-p384-sha384': { hash: 'sha384', dsaEncoding: 'ieee-p1363' },
  ed25519: { hash: null },
};

/** The names of all algorithms. */
export const messageAlgorithms: readonly string[] = [...Object.keys(cryptoParameters), 'hmac-sha256'];

/** Returns whether a name is that of a supported algorithm. */
export function isMessageAlgorithm(name: string): name is MessageAlgorithm {
  return name === 'hmac-sha256' || Object.hasOwn(cryptoParameters, name);
}

/** Returns whether a signature is valid. Returns false also for a key of another algorithm. */
export function verifySignature(
  algorithm: PublicKeyAlgorithm,
  key: KeyObject,
  base: Uint8Array,
  signature: Uint8Array,
): boolean {
  const { hash, ...parameters } = cryptoParameters[algorithm];
  try {
    return verify(hash, base, { key, ...parameters }, signature);
  } catch {
    // A key that does not permit the padding, as one of RSASSA-PSS does not permit PKCS #1 v1.5.
    return false;
  }
}

/** A key that signs messages. */
export type MessageKey =
  | { readonly id: string; readonly algorithm: PublicKeyAlgorithm; readonly privateKey: KeyObject }
  | { readonly id: string; readonly algorithm: 'hmac-sha256'; readonly secret: string | Uint8Array };

/** Signs a signature base, and returns the signature in base64. Throws if the key is not one of the algorithm. */
export function signBase(key: MessageKey, base: string): string {
  const data = Buffer.from(base, 'latin1');
  if (key.algorithm === 'hmac-sha256')
    return createHmac('sha256', requireSecret(key.secret)).update(data).digest('base64');
  const { hash, ...parameters } = cryptoParameters[key.algorithm];
  return sign(hash, data, { key: requireKey(key.algorithm, key.privateKey), ...parameters }).toString(
    'base64',
  );
}

function requireSecret(secret: string | Uint8Array): string | Uint8Array {
  if (secret.length === 0) throw new RangeError('a secret must not be empty');
  return secret;
}

function requireKey(algorithm: PublicKeyAlgorithm, key: KeyObject): KeyObject {
  if (key.type !== 'private') throw new RangeError(`a private key is required to sign with ${algorithm}`);
  if (!isKeyFor(algorithm, key)) throw new RangeError(`the key is not one for ${algorithm}`);
  return key;
}

/** Returns whether a key, public or private, is of the type and curve that an algorithm requires. */
export function isKeyFor(algorithm: PublicKeyAlgorithm, key: KeyObject): boolean {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  switch (algorithm) {
    case 'ed25519':
      return type === 'ed25519';
    case 'ecdsa-p256-sha256':
      return type === 'ec' && details?.namedCurve === 'prime256v1';
    case 'ecdsa-p384-sha384':
      return type === 'ec' && details?.namedCurve === 'secp384r1';
    case 'rsa-pss-sha512':
      return type === 'rsa' || type === 'rsa-pss';
    case 'rsa-v1_5-sha256':
      return type === 'rsa';
  }
}
