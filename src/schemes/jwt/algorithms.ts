import { hash, type KeyObject } from 'node:crypto';
import { generateKeys, isKeyFor, type SignatureAlgorithm, signWith, verifyWith } from '../../algorithms.ts';

/** The algorithms of JWTs with a key pair (RFC 7518 §3.1, RFC 8037 §3.1, RFC 9864 §2.2). `none` and HMAC are not among them. */
const rows = {
  ES256: { algorithm: 'ecdsa-p256-sha256', hash: undefined },
  ES384: { algorithm: 'ecdsa-p384-sha384', hash: undefined },
  RS256: { algorithm: 'rsa-v1_5-sha256', hash: undefined },
  RS384: { algorithm: 'rsa-v1_5-sha256', hash: 'sha384' },
  RS512: { algorithm: 'rsa-v1_5-sha256', hash: 'sha512' },
  PS256: { algorithm: 'rsa-pss-sha512', hash: 'sha256' },
  PS384: { algorithm: 'rsa-pss-sha512', hash: 'sha384' },
  PS512: { algorithm: 'rsa-pss-sha512', hash: undefined },
  EdDSA: { algorithm: 'ed25519', hash: undefined },
  Ed25519: { algorithm: 'ed25519', hash: undefined },
} as const satisfies Readonly<
  Record<string, { readonly algorithm: SignatureAlgorithm; readonly hash: string | undefined }>
>;

/** The name of an algorithm of JWTs. */
export type JwtAlgorithm = keyof typeof rows;

/** The algorithms with which a service signs its tokens. */
export const signingAlgorithms = [
  'ES256',
  'RS256',
  'PS256',
  'EdDSA',
] as const satisfies readonly JwtAlgorithm[];

/** An algorithm with which a service signs its tokens. */
export type SigningAlgorithm = (typeof signingAlgorithms)[number];

/** The names of all algorithms. */
export const jwtAlgorithms: readonly JwtAlgorithm[] = Object.keys(rows).filter(isJwtAlgorithm);

/** Returns whether a name is that of an algorithm with a key pair. */
export function isJwtAlgorithm(name: unknown): name is JwtAlgorithm {
  return typeof name === 'string' && Object.hasOwn(rows, name);
}

/** Returns whether a key is of the type and curve of an algorithm. */
export function isKeyOf(name: JwtAlgorithm, key: KeyObject): boolean {
  return isKeyFor(rows[name].algorithm, key);
}

/** Returns the algorithm of a key that names none: that of its curve, or RS256, the default of OpenID Connect. */
export function defaultAlgorithm(key: KeyObject): JwtAlgorithm | undefined {
  return (['ES256', 'ES384', 'EdDSA', 'RS256'] as const).find((name) => isKeyOf(name, key));
}

/** Returns whether two names stand for the same algorithm: `EdDSA` with an Ed25519 key is `Ed25519`. */
export function isSameAlgorithm(one: JwtAlgorithm, other: JwtAlgorithm): boolean {
  return rows[one].algorithm === rows[other].algorithm && rows[one].hash === rows[other].hash;
}

/** Signs octets with a private key. */
export function signJws(name: JwtAlgorithm, key: KeyObject, octets: Uint8Array): Buffer {
  const { algorithm, hash } = rows[name];
  return signWith(algorithm, key, octets, { hash });
}

/** Returns whether a private key made a signature of octets. The octets and the signature may be any. */
export function verifyJws(
  name: JwtAlgorithm,
  key: KeyObject,
  octets: Uint8Array,
  signature: Uint8Array,
): boolean {
  const { algorithm, hash } = rows[name];
  return verifyWith(algorithm, key, octets, signature, { hash });
}

/** Generates a private key for an algorithm. */
export function generatePrivateKey(name: JwtAlgorithm): KeyObject {
  return generateKeys(rows[name].algorithm).privateKey;
}

/** Returns the left half of the digest of an access token (OpenID Connect Core 1.0 §3.1.3.6). */
export function accessTokenHash(token: string, algorithm: SigningAlgorithm): string {
  const digest = hash(algorithm === 'EdDSA' ? 'sha512' : 'sha256', token, 'buffer');
  return digest.subarray(0, digest.length / 2).toString('base64url');
}
