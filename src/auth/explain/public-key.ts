// Mistakes in signatures by private keys, of the right message.

import { constants, createHash, type KeyObject, verify } from 'node:crypto';
import { octetsOf } from '../../http/syntax/octets.ts';
import type { PublicKeyKind } from '../../signature/algorithms.ts';

/** A signature in another encoding. */
export interface Reencoded {
  readonly hint: string;
  /** In canonical base64. */
  readonly signature: string;
}

/** Lists what a signature is if it was encoded by mistake. Depends on nothing but the signature. */
export function encodingMistakes(signature: string): readonly Reencoded[] {
  const bytes = Buffer.from(signature, 'base64');
  const text = octetsOf(bytes);
  const found: Reencoded[] = [];
  if (/^(?:[0-9a-f]{2})+$/i.test(signature))
    found.push({
      hint: 'the signature was sent in hexadecimal; base64 is expected',
      signature: Buffer.from(signature, 'hex').toString('base64'),
    });
  if (/^(?:[0-9a-f]{2})+$/i.test(text))
    found.push({
      hint: 'the signature was encoded in hexadecimal before base64',
      signature: Buffer.from(text, 'hex').toString('base64'),
    });
  if (/^[\w+/-]+={0,2}$/.test(text))
    found.push({
      hint: 'the signature was encoded in base64 twice',
      signature: Buffer.from(text, 'base64').toString('base64'),
    });
  for (const size of [32, 48]) {
    const fixed = decodeDer(bytes, size);
    if (fixed !== undefined)
      found.push({
        hint: 'the signature of ECDSA is in ASN.1 DER; r and s of fixed length are expected (IEEE P1363, RFC 9421 §3.3.4)',
        signature: fixed.toString('base64'),
      });
  }
  return found;
}

/** Converts SEQUENCE { r INTEGER, s INTEGER } to r and s of `size` bytes each. */
function decodeDer(der: Buffer, size: number): Buffer | undefined {
  if (der[0] !== 0x30 || der[1] !== der.length - 2) return undefined;
  const r = integerAt(der, 2, size);
  const s = r === undefined ? undefined : integerAt(der, 4 + (der[3] ?? 0), size);
  return r === undefined || s === undefined ? undefined : Buffer.concat([r, s]);
}

function integerAt(der: Buffer, at: number, size: number): Buffer | undefined {
  const length = der[at + 1] ?? 0;
  if (der[at] !== 0x02 || length === 0 || at + 2 + length > der.length) return undefined;
  const bytes = der.subarray(at + 2, at + 2 + length);
  const magnitude = bytes[0] === 0 ? bytes.subarray(1) : bytes;
  return magnitude.length > size
    ? undefined
    : Buffer.concat([Buffer.alloc(size - magnitude.length), magnitude]);
}

/**
 * Returns the hint for a signature that a key produces in another way; undefined if it does not. The work depends on nothing but
 * the algorithm of the key and the lengths.
 */
export function findPublicKeyMistake(
  algorithm: PublicKeyKind,
  key: KeyObject,
  message: Buffer,
  signature: Buffer,
): string | undefined {
  const found = publicKeyMistakes[algorithm].filter(([, check]) =>
    passes(() => check(key, message, signature)),
  );
  return found[0]?.[0];
}

function passes(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}

type Check = (key: KeyObject, data: Buffer, signature: Buffer) => boolean;

function rsa(hash: string, padding: number): Check {
  const isPss = padding === constants.RSA_PKCS1_PSS_PADDING;
  const salt = isPss ? { saltLength: constants.RSA_PSS_SALTLEN_AUTO } : {};
  return (key, data, signature) => verify(hash, data, { key, padding, ...salt }, signature);
}

function ecdsa(hash: string): Check {
  return (key, data, signature) => verify(hash, data, { key, dsaEncoding: 'ieee-p1363' }, signature);
}

/** Checks a signature of the hash in place of the signature base. */
function createPrehashedCheck(hash: string, encoding: 'hex' | undefined): Check {
  return (key, data, signature) => {
    const digest = createHash(hash).update(data).digest();
    return verify(
      null,
      encoding === undefined ? digest : Buffer.from(digest.toString(encoding)),
      key,
      signature,
    );
  };
}

const pss = constants.RSA_PKCS1_PSS_PADDING;
const pkcs1 = constants.RSA_PKCS1_PADDING;

type PublicKeyMistakes = readonly (readonly [hint: string, check: Check])[];

const publicKeyMistakes: Readonly<Record<PublicKeyKind, PublicKeyMistakes>> = {
  'rsa-pss-sha512': [
    ['the salt of RSASSA-PSS has another length; 64 bytes are expected', rsa('sha512', pss)],
    ['RSASSA-PSS with SHA-256 was used; SHA-512 is expected', rsa('sha256', pss)],
    ['RSASSA-PSS with SHA-384 was used; SHA-512 is expected', rsa('sha384', pss)],
    ['rsa-v1_5-sha256 was used, but the key with this id is for rsa-pss-sha512', rsa('sha256', pkcs1)],
    [
      'RSASSA-PKCS1-v1_5 with SHA-512 was used, but the key with this id is for rsa-pss-sha512',
      rsa('sha512', pkcs1),
    ],
  ],
  'rsa-v1_5-sha256': [
    ['rsa-pss-sha512 was used, but the key with this id is for rsa-v1_5-sha256', rsa('sha512', pss)],
    ['RSASSA-PSS was used, but the key with this id is for rsa-v1_5-sha256', rsa('sha256', pss)],
    ['RSASSA-PKCS1-v1_5 with SHA-512 was used; SHA-256 is expected', rsa('sha512', pkcs1)],
    ['RSASSA-PKCS1-v1_5 with SHA-1 was used; SHA-256 is expected', rsa('sha1', pkcs1)],
  ],
  'rsa-v1_5-sha1': [
    ['RSASSA-PKCS1-v1_5 with SHA-256 was used; SHA-1 is expected', rsa('sha256', pkcs1)],
    ['RSASSA-PKCS1-v1_5 with SHA-512 was used; SHA-1 is expected', rsa('sha512', pkcs1)],
    ['RSASSA-PSS was used; RSASSA-PKCS1-v1_5 is expected', rsa('sha1', pss)],
    ['RSASSA-PSS with SHA-256 was used; RSASSA-PKCS1-v1_5 with SHA-1 is expected', rsa('sha256', pss)],
  ],
  'rsa-v1_5-sha512': [
    ['RSASSA-PKCS1-v1_5 with SHA-256 was used; SHA-512 is expected', rsa('sha256', pkcs1)],
    ['RSASSA-PKCS1-v1_5 with SHA-1 was used; SHA-512 is expected', rsa('sha1', pkcs1)],
    ['RSASSA-PSS was used; RSASSA-PKCS1-v1_5 is expected', rsa('sha512', pss)],
  ],
  'ecdsa-p256-sha256': [
    ['ECDSA with SHA-384 was used; SHA-256 is expected for P-256', ecdsa('sha384')],
    ['ECDSA with SHA-512 was used; SHA-256 is expected for P-256', ecdsa('sha512')],
  ],
  'ecdsa-p384-sha384': [
    ['ECDSA with SHA-256 was used; SHA-384 is expected for P-384', ecdsa('sha256')],
    ['ECDSA with SHA-512 was used; SHA-384 is expected for P-384', ecdsa('sha512')],
  ],
  ed25519: [
    [
      'the signature base was hashed before it was signed; Ed25519 hashes it itself',
      createPrehashedCheck('sha256', undefined),
    ],
    [
      'the signature base was hashed before it was signed; Ed25519 hashes it itself',
      createPrehashedCheck('sha512', undefined),
    ],
    [
      'the signature base was hashed before it was signed; Ed25519 hashes it itself',
      createPrehashedCheck('sha256', 'hex'),
    ],
  ],
};
