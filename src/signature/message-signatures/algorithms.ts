// The signature algorithms (RFC 9421 §3.3).

import { createHmac, type KeyObject } from 'node:crypto';
import { bytesOf } from '../../http/syntax/octets.ts';
import {
  isKeyFor,
  isSignatureAlgorithm,
  type SignatureAlgorithm,
  signatureAlgorithms,
  signWith,
  verifyWith,
} from '../algorithms.ts';

/** The registered algorithms. */
export type MessageAlgorithm = SignatureAlgorithm | 'hmac-sha256';

/** The names of all algorithms. */
export const messageAlgorithms: readonly string[] = [...signatureAlgorithms, 'hmac-sha256'];

/** Returns whether a name is that of a supported algorithm. */
export function isMessageAlgorithm(name: string): name is MessageAlgorithm {
  return name === 'hmac-sha256' || isSignatureAlgorithm(name);
}

/** Returns whether a signature is valid. Returns false also for a key of another algorithm. */
export function verifySignature(
  algorithm: SignatureAlgorithm,
  key: KeyObject,
  base: Uint8Array,
  signature: Uint8Array,
): boolean {
  try {
    return verifyWith(algorithm, key, base, signature);
  } catch {
    // A key that does not permit the padding, as one of RSASSA-PSS does not permit PKCS #1 v1.5.
    return false;
  }
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
