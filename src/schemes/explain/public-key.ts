// Mistakes in signatures by private keys, of the right message.

import { constants, createHash, type KeyObject, verify } from 'node:crypto';
import { describeAlgorithm, type PublicKeyKind, type SignatureVariant } from '../../algorithms.ts';
import { octetsOf } from '../../http/syntax/octets.ts';
import { describeBase64 } from '../signature-form.ts';

/** A signature in another encoding. */
interface Reencoded {
  readonly hint: string;
  /** In canonical base64. */
  readonly signature: string;
}

/** Lists what a signature is if it was encoded by mistake. Depends on nothing but the signature. */
export function encodingMistakes(signature: string): readonly Reencoded[] {
  const bytes = Buffer.from(signature, 'base64');
  const text = octetsOf(bytes);
  const canonical = bytes.toString('base64');
  const form = canonical === signature ? undefined : describeBase64(signature);
  const hexadecimal = /^(?:[0-9a-f]{2})+$/i;
  const rows: readonly (readonly [hint: string, decoded: Buffer | undefined])[] = [
    [`the signature is not canonical base64: ${form}`, form === undefined ? undefined : bytes],
    [
      'the signature was sent in hexadecimal; base64 is expected',
      hexadecimal.test(signature) ? Buffer.from(signature, 'hex') : undefined,
    ],
    [
      'the signature was encoded in hexadecimal before base64',
      hexadecimal.test(text) ? Buffer.from(text, 'hex') : undefined,
    ],
    [
      'the signature was encoded in base64 twice',
      /^[\w+/-]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined,
    ],
    [encodingHints.der, decodeDer(bytes, 32)],
    [encodingHints.der, decodeDer(bytes, 48)],
  ];
  return rows.flatMap(([hint, decoded]) =>
    decoded === undefined ? [] : [{ hint, signature: decoded.toString('base64') }],
  );
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
 *
 * @param expected In what the scheme differs from RFC 9421
 */
export function findPublicKeyMistake(
  algorithm: PublicKeyKind,
  key: KeyObject,
  message: Buffer,
  signature: Buffer,
  expected: SignatureVariant = {},
): string | undefined {
  const found = (others[key.asymmetricKeyType ?? ''] ?? []).filter(({ check }) =>
    passes(() => check(key, message, signature)),
  );
  return found[0]?.describe(describeAlgorithm(algorithm, expected), expected.dsaEncoding ?? 'ieee-p1363');
}

function passes(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}

/** Another way to sign with a key, and how a hint describes it. */
interface OtherWay {
  readonly check: (key: KeyObject, data: Buffer, signature: Buffer) => boolean;
  readonly describe: (expected: string, dsaEncoding: 'der' | 'ieee-p1363') => string;
}

const hashes = ['sha256', 'sha512', 'sha384', 'sha1'] as const;

/** The hints at a signature of the algorithm of the key, which the request refuses. */
const sameAlgorithm = {
  'RSASSA-PSS': 'the salt of RSASSA-PSS has another length; that of the digest is expected',
  'RSASSA-PKCS1-v1_5':
    'the hash function of the key was used; the algorithm that the request names has another one',
} as const;

/** RSASSA-PSS and RSASSA-PKCS1-v1_5 (RFC 8017 §8) with each hash function. */
const rsaWays = (['RSASSA-PSS', 'RSASSA-PKCS1-v1_5'] as const).flatMap((name) =>
  hashes.map((hash): OtherWay => {
    const used = `${name} with ${hash.replace('sha', 'SHA-')}`;
    const form =
      name === 'RSASSA-PSS'
        ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO }
        : { padding: constants.RSA_PKCS1_PADDING };
    return {
      check: (key, data, signature) => verify(hash, data, { key, ...form }, signature),
      describe: (expected) => (used === expected ? sameAlgorithm[name] : describeOther(used, expected)),
    };
  }),
);

/** ECDSA in both encodings with each hash function. */
const ecdsaWays = hashes.flatMap((hash) =>
  (['der', 'ieee-p1363'] as const).map((dsaEncoding): OtherWay => {
    const used = `ECDSA with ${hash.replace('sha', 'SHA-')}`;
    return {
      check: (key, data, signature) => verify(hash, data, { key, dsaEncoding }, signature),
      describe: (expected, encoding) => {
        const form = encoding === dsaEncoding ? '' : encodingHints[dsaEncoding];
        if (used === expected) return form;
        return `${describeOther(used, expected)}${form === '' ? '' : `; and ${form}`}`;
      },
    };
  }),
);

/** Describes what was used in place of what is expected: two names of an algorithm with a hash function. */
function describeOther(used: string, expected: string): string {
  const [name, hash] = expected.split(' with ');
  return `${used} was used; ${used.startsWith(`${name} `) ? hash : expected} is expected`;
}

const encodingHints = {
  der: 'the signature of ECDSA is in ASN.1 DER; r and s of fixed length are expected (IEEE P1363, RFC 9421 §3.3.4)',
  'ieee-p1363': 'the signature of ECDSA has r and s of fixed length (IEEE P1363); ASN.1 DER is expected',
} as const;

/** Ed25519 of a hash of the message (RFC 8032 §5.1.6 hashes it itself). */
const ed25519Ways = (['sha256', 'sha512'] as const).flatMap((hash) =>
  ([undefined, 'hex'] as const).map(
    (encoding): OtherWay => ({
      check: (key, data, signature) => {
        const digest = createHash(hash).update(data).digest();
        const hashed = encoding === undefined ? digest : Buffer.from(digest.toString(encoding));
        return verify(null, hashed, key, signature);
      },
      describe: () => 'the message was hashed before it was signed; Ed25519 hashes it itself',
    }),
  ),
);

/** The other ways to sign, by the type of a key as node:crypto names it. */
const others: Readonly<Record<string, readonly OtherWay[]>> = {
  rsa: rsaWays,
  ec: ecdsaWays,
  ed25519: ed25519Ways,
};
