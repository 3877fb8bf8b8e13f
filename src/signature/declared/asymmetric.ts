// Signatures of declared schemes by private keys.

import type { KeyObject } from 'node:crypto';
import { type SignatureAlgorithm, signWith, verifyWith } from '../algorithms.ts';
import type { Algorithm, Declaration, Encoding } from './declaration.ts';

/** The algorithms with a private key. */
export type PrivateKeyAlgorithm = Exclude<Algorithm, 'hmac' | 'digest'>;

/** What determines a signature beside the key. */
export type SignatureForm = Pick<Declaration, 'algorithm' | 'hash' | 'dsaEncoding'>;

/** Returns whether signatures are made with a private key. */
export function hasPrivateKey(algorithm: Algorithm): algorithm is PrivateKeyAlgorithm {
  return algorithm !== 'hmac' && algorithm !== 'digest';
}

/** The algorithm of the keys of users for each algorithm. `hash` of the declaration determines the hash function. */
export const keyKinds: Readonly<Record<PrivateKeyAlgorithm, SignatureAlgorithm>> = {
  ed25519: 'ed25519',
  'ecdsa-p256': 'ecdsa-p256-sha256',
  'rsa-pss': 'rsa-pss-sha512',
  'rsa-v1_5': 'rsa-v1_5-sha256',
};

/** How a private key signs. */
export type KeySignatureForm = Pick<Declaration, 'hash' | 'dsaEncoding'> & {
  readonly algorithm: PrivateKeyAlgorithm;
};

/** Signs a message with a private key. The salt of RSASSA-PSS is as long as the digest. */
export function signByKey(form: KeySignatureForm, key: KeyObject, message: Uint8Array): Buffer {
  return signWith(keyKinds[form.algorithm], key, message, form);
}

/** Returns whether a private key made a signature of a message. The salt of RSASSA-PSS may have any length. */
export function verifyByKey(
  form: KeySignatureForm,
  key: KeyObject,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  return verifyWith(keyKinds[form.algorithm], key, message, signature, { ...form, anySalt: true });
}

/** The number of bytes that a signature has, at least and at most. */
const lengths: Readonly<Record<PrivateKeyAlgorithm, readonly [min: number, max: number]>> = {
  ed25519: [64, 64],
  'ecdsa-p256': [8, 72],
  'rsa-pss': [256, 512],
  'rsa-v1_5': [256, 512],
};

/** Returns the number of bytes that a signature has, at least and at most. */
export function signatureLengths(
  algorithm: PrivateKeyAlgorithm,
  dsaEncoding: SignatureForm['dsaEncoding'],
): readonly [min: number, max: number] {
  return algorithm === 'ecdsa-p256' && dsaEncoding === 'ieee-p1363' ? [64, 64] : lengths[algorithm];
}

/** Returns a signature in canonical base64; undefined if it is malformed in this encoding, or has no possible length. */
export function decodeKeySignature(
  text: string,
  encoding: Encoding,
  { algorithm, dsaEncoding }: SignatureForm,
): string | undefined {
  if (!hasPrivateKey(algorithm)) return undefined;
  const [min, max] = signatureLengths(algorithm, dsaEncoding);
  if (text.length > 2 * max) return undefined;
  const bytes = Buffer.from(text, encoding);
  const isCanonical =
    bytes.toString(encoding) === (encoding === 'base64url' ? text.replace(/={1,2}$/, '') : text);
  return isCanonical && bytes.length >= min && bytes.length <= max ? bytes.toString('base64') : undefined;
}
