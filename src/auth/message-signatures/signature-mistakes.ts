// Signatures of the right signature base that clients compute or encode by mistake.
import { constants, createHash, createHmac, type KeyObject, verify } from 'node:crypto';
import { decodedSecret } from '../decoded-secret.ts';
import type { VerifyingKey } from './keys.ts';

/** A signature in another encoding. */
export interface Reencoded {
  readonly hint: string;
  /** In canonical base64. */
  readonly signature: string;
}

/** Lists what a signature is if it was encoded by mistake. Depends on nothing but the signature. */
export function encodingMistakes(signature: string): readonly Reencoded[] {
  const bytes = Buffer.from(signature, 'base64');
  const text = bytes.toString('latin1');
  const found: Reencoded[] = [];
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
    const fixed = fromDer(bytes, size);
    if (fixed !== undefined)
      found.push({
        hint: 'the signature of ECDSA is in ASN.1 DER; r and s of fixed length are expected (IEEE P1363, RFC 9421 §3.3.4)',
        signature: fixed.toString('base64'),
      });
  }
  return found;
}

/** Converts SEQUENCE { r INTEGER, s INTEGER } to r and s of `size` bytes each. */
function fromDer(der: Buffer, size: number): Buffer | undefined {
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
export function computationMistake(key: VerifyingKey, text: string, signature: string): string | undefined {
  const data = Buffer.from(text, 'latin1');
  const bytes = Buffer.from(signature, 'base64');
  const found =
    key.algorithm === 'hmac-sha256'
      ? hmacMistakes.filter(([, compute]) => key.secret.makes(signature, (secret) => compute(secret, data)))
      : publicKeyMistakes[key.algorithm].filter(([, check]) =>
          passes(() => check(key.publicKey, data, bytes)),
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

type Compute = (secret: Buffer, data: Buffer) => string;

function hmac(hash: string, secret: string | Buffer, data: string | Buffer): string {
  return createHmac(hash, secret).update(data).digest('base64');
}

const sha256 = (data: Buffer): Buffer => createHash('sha256').update(data).digest();
const utf8 = (secret: Buffer): string => secret.toString('utf8');

/** Signs with the decoded secret. If it must not be tried, it does the same work. */
function decoded(encoding: 'base64' | 'hex'): Compute {
  return (secret, data) => {
    const bytes = decodedSecret(utf8(secret), encoding);
    const digest = hmac('sha256', bytes ?? secret, data);
    return bytes === undefined ? '' : digest;
  };
}

const hmacMistakes: readonly (readonly [hint: string, compute: Compute])[] = [
  ['the secret was decoded from base64; use its characters as the key', decoded('base64')],
  ['the secret was decoded from hexadecimal; use its characters as the key', decoded('hex')],
  [
    'the secret was used with a trailing line feed',
    (secret, data) => hmac('sha256', `${utf8(secret)}\n`, data),
  ],
  ['the secret was encoded in base64', (secret, data) => hmac('sha256', secret.toString('base64'), data)],
  ['the secret was encoded in hexadecimal', (secret, data) => hmac('sha256', secret.toString('hex'), data)],
  [
    'the secret was hashed before it was used as the key',
    (secret, data) => hmac('sha256', sha256(secret), data),
  ],
  ['HMAC with SHA-512 was used; SHA-256 is expected', (secret, data) => hmac('sha512', secret, data)],
  ['HMAC with SHA-384 was used; SHA-256 is expected', (secret, data) => hmac('sha384', secret, data)],
  ['HMAC with SHA-1 was used; SHA-256 is expected', (secret, data) => hmac('sha1', secret, data)],
  ['truncated HMAC with SHA-512 was used; SHA-256 is expected', truncated('sha512')],
  [
    'the signature base was hashed before it was signed',
    (secret, data) => hmac('sha256', secret, sha256(data)),
  ],
  [
    'the signature base was hashed before it was signed',
    (secret, data) => hmac('sha256', secret, sha256(data).toString('hex')),
  ],
];

function truncated(hash: string): Compute {
  return (secret, data) => createHmac(hash, secret).update(data).digest().subarray(0, 32).toString('base64');
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
function prehashed(hash: string, encoding: 'hex' | undefined): Check {
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

const publicKeyMistakes: Readonly<
  Record<Exclude<VerifyingKey['algorithm'], 'hmac-sha256'>, PublicKeyMistakes>
> = {
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
      prehashed('sha256', undefined),
    ],
    [
      'the signature base was hashed before it was signed; Ed25519 hashes it itself',
      prehashed('sha512', undefined),
    ],
    [
      'the signature base was hashed before it was signed; Ed25519 hashes it itself',
      prehashed('sha256', 'hex'),
    ],
  ],
};
