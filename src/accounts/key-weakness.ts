import type { KeyObject } from 'node:crypto';
import { rsaModulus } from '../algorithms.ts';

const [minModulus, maxModulus] = rsaModulus;

/** Returns whether a signature of this length (bytes) can be one of RSA: it is as long as the modulus (RFC 8017 §8). */
export function isRsaLength(length: number): boolean {
  return length >= minModulus / 8 && length <= maxModulus / 8;
}

/**
 * Returns why a public key must not be registered, as in `the key …`, or undefined: everyone can make signatures that it verifies, or its
 * signatures are too long.
 */
export function keyWeakness(key: KeyObject): string | undefined {
  if (key.asymmetricKeyType === 'ed25519')
    return hasSmallOrder(key) ? 'is a point of small order, for which everyone can sign' : undefined;
  const { modulusLength, publicExponent } = key.asymmetricKeyDetails ?? {};
  if (modulusLength !== undefined && modulusLength < minModulus)
    return `has ${modulusLength} bits; an RSA key must have at least ${minModulus}`;
  if (modulusLength !== undefined && modulusLength > maxModulus)
    return `has ${modulusLength} bits; an RSA key must have at most ${maxModulus}`;
  // RFC 8017 §3.1: odd, and at least 3. With 1, a padded hash is its own signature.
  if (publicExponent !== undefined && (publicExponent < 3n || publicExponent % 2n === 0n))
    return `has the exponent ${publicExponent}; that of an RSA key must be odd and at least 3`;
  return undefined;
}

/** The prime of Curve25519 (RFC 8032 §5.1). */
const prime = 2n ** 255n - 19n;
/** The y-coordinate of a point of order 8; that of the others is its negative. */
const yOfOrder8 = 0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n;
const smallOrders: ReadonlySet<bigint> = new Set([0n, 1n, prime - 1n, yOfOrder8, prime - yOfOrder8]);

/** Returns whether the order of a point divides 8, also if y is not reduced or the sign of x is wrong (RFC 8032 §5.1.3). */
function hasSmallOrder(key: KeyObject): boolean {
  const { x = '' } = key.export({ format: 'jwk' });
  const y = BigInt(`0x${Buffer.from(x, 'base64url').reverse().toString('hex')}`) % 2n ** 255n;
  return smallOrders.has(y % prime);
}
