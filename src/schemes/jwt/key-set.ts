import { createHash, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { keyWeakness } from '../../accounts/key-weakness.ts';
import { defaultAlgorithm, isJwtAlgorithm, isKeyOf, type JwtAlgorithm } from './algorithms.ts';
import { isMembers } from './jwt.ts';

/** A public key that verifies signatures. */
export interface VerificationKey {
  readonly kid: string | undefined;
  /** The algorithm of the key, whatever a token names (RFC 8725 §3.1). */
  readonly alg: JwtAlgorithm;
  readonly key: KeyObject;
}

/** The maximum number of keys of a set that are used. */
const maxKeys = 100;
/** The maximum number of keys that are tried for a token without `kid`. */
const maxTried = 4;

/** The public keys of an issuer (RFC 7517 §5). A key is parsed when a token names it, so that a long set costs nothing. */
export interface KeySet {
  /** Returns the keys that may have signed a token with this `kid`, or one without. */
  find(kid: string | undefined): readonly VerificationKey[];
  /** The ids of the keys. */
  readonly ids: readonly string[];
}

/** Reads a set of keys. Returns undefined if the value is none. Keys that cannot verify a signature are left out. */
export function readKeySet(value: unknown): KeySet | undefined {
  const list = isMembers(value) ? value['keys'] : undefined;
  if (!Array.isArray(list)) return undefined;
  const jwks = list.filter(isMembers).filter(isPublicSigningKey).slice(0, maxKeys);
  const parsed = new Map<object, VerificationKey | undefined>();
  const parse = (jwk: JsonWebKey): VerificationKey | undefined => {
    if (!parsed.has(jwk)) parsed.set(jwk, readVerificationKey(jwk));
    return parsed.get(jwk);
  };
  return {
    find: (kid) =>
      jwks
        .filter((jwk) => kid === undefined || jwk['kid'] === kid)
        .slice(0, maxTried)
        .flatMap((jwk) => parse(jwk) ?? []),
    ids: jwks.flatMap(({ kid }) => (typeof kid === 'string' ? [kid] : [])),
  };
}

/** Returns whether a JWK is a public key for signatures: a published private or symmetric key is everyone's. */
function isPublicSigningKey(jwk: JsonWebKey): boolean {
  const { kty, use = 'sig', key_ops: operations } = jwk;
  const verifies = operations === undefined || (Array.isArray(operations) && operations.includes('verify'));
  return ['RSA', 'EC', 'OKP'].includes(String(kty)) && use === 'sig' && verifies && !('d' in jwk);
}

/** Reads a public key. Undefined if it is weak, or its algorithm is not known or not that of its type. */
export function readVerificationKey(jwk: JsonWebKey): VerificationKey | undefined {
  try {
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    const alg = 'alg' in jwk ? jwk['alg'] : defaultAlgorithm(key);
    if (!isJwtAlgorithm(alg) || !isKeyOf(alg, key) || keyWeakness(key) !== undefined) return undefined;
    return { kid: typeof jwk['kid'] === 'string' ? jwk['kid'] : undefined, alg, key };
  } catch {
    return undefined;
  }
}

/** Returns the thumbprint of a public key (RFC 7638), which is its id. */
export function thumbprint(key: KeyObject): string {
  const { kty, crv, x, y, n, e } = key.export({ format: 'jwk' });
  // In lexicographic order, without the members that the type does not have.
  return createHash('sha256').update(JSON.stringify({ crv, e, kty, n, x, y })).digest('base64url');
}
