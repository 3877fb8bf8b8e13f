import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ParsedJwt } from './jwt.ts';
import type { JwtFault } from './verify.ts';

/** The hash functions of the algorithms with a shared secret (RFC 7518 §3.2), and the minimum length of the secret in bytes. */
const hashes: ReadonlyMap<unknown, readonly [name: string, length: number]> = new Map([
  ['HS256', ['sha256', 32]],
  ['HS384', ['sha384', 48]],
  ['HS512', ['sha512', 64]],
]);

/** The names of the algorithms with a shared secret. */
export const hmacAlgorithms = ['HS256', 'HS384', 'HS512'] as const;

/** Returns why a secret did not make the signature of a JWT; undefined if it did. */
export function findHmacFault(
  { header: { alg }, signed, signature }: ParsedJwt,
  secret: string,
): JwtFault | undefined {
  const [hash, minLength] = hashes.get(alg) ?? [];
  if (hash === undefined || minLength === undefined)
    return { check: 'alg', hint: 'the algorithm is not one with a shared secret' };
  const length = Buffer.byteLength(secret);
  if (length < minLength)
    return {
      check: 'alg',
      hint: `the secret has ${length} bytes, and ${String(alg)} requires at least ${minLength} (RFC 7518 §3.2)`,
    };
  const expected = createHmac(hash, secret).update(signed).digest();
  if (expected.length === signature.length && timingSafeEqual(expected, signature)) return undefined;
  return { check: 'signature', hint: 'the signature is not that of the secret' };
}
