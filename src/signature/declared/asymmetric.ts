// Signatures of declared schemes by private keys.
import { constants, type KeyObject, sign, verify } from 'node:crypto';
import type { Algorithm, Declaration, Encoding } from './declaration.ts';

/** The algorithms with a private key. */
export type PrivateKeyAlgorithm = Exclude<Algorithm, 'hmac' | 'digest'>;

/** What determines a signature beside the key. */
export type SignatureForm = Pick<Declaration, 'algorithm' | 'hash' | 'dsaEncoding'>;

/** Returns whether signatures are made with a private key. */
export function hasPrivateKey(algorithm: Algorithm): algorithm is PrivateKeyAlgorithm {
  return algorithm !== 'hmac' && algorithm !== 'digest';
}

/** The type of the keys (of node:crypto) of each algorithm, and the curve. */
export const keyTypes: Readonly<
  Record<PrivateKeyAlgorithm, { readonly type: string; readonly curve?: string }>
> = {
  ed25519: { type: 'ed25519' },
  'ecdsa-p256': { type: 'ec', curve: 'prime256v1' },
  'rsa-pss': { type: 'rsa' },
  'rsa-v1_5': { type: 'rsa' },
};

/** Signs a message with a private key. The salt of RSASSA-PSS is as long as the digest. */
export function signByKey(form: SignatureForm, key: KeyObject, message: Uint8Array): Buffer {
  return sign(hashFor(form), message, { key, ...optionsFor(form, constants.RSA_PSS_SALTLEN_DIGEST) });
}

/** Returns whether a private key made a signature of a message. The salt of RSASSA-PSS may have any length. */
export function verifyByKey(
  form: SignatureForm,
  key: KeyObject,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  const options = optionsFor(form, constants.RSA_PSS_SALTLEN_AUTO);
  return verify(hashFor(form), message, { key, ...options }, signature);
}

// Ed25519 hashes the message itself (RFC 8032 §5.1.6).
function hashFor({ algorithm, hash }: SignatureForm): string | null {
  return algorithm === 'ed25519' ? null : hash;
}

function optionsFor({ algorithm, dsaEncoding }: SignatureForm, saltLength: number) {
  switch (algorithm) {
    case 'ecdsa-p256':
      return { dsaEncoding };
    case 'rsa-pss':
      return { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength };
    case 'rsa-v1_5':
      return { padding: constants.RSA_PKCS1_PADDING };
    default:
      return {};
  }
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
