import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { generatePrivateKey, isKeyOf, type SigningAlgorithm } from '../../schemes/jwt/algorithms.ts';
import { thumbprint, type VerificationKey } from '../../schemes/jwt/key-set.ts';

/** A key that signs tokens, as it is stored. */
export interface SigningKeyDeclaration {
  readonly algorithm: SigningAlgorithm;
  /** The private key in PEM (PKCS #8). */
  readonly privateKey: string;
  /** The time (ms) at which a newer key took its place. Undefined for the key that signs. */
  readonly replaced?: number | undefined;
}

/** A key that signs tokens. */
export interface SigningKey extends VerificationKey {
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  readonly privateKey: KeyObject;
  /** The public key (RFC 7517). */
  readonly jwk: JsonWebKey;
  readonly replaced: number | undefined;
}

/** The keys that sign tokens. A former key is published until its tokens are expired. */
export interface SigningKeys {
  readonly current: SigningKey;
  /** Returns the keys that verify tokens, the current one first. */
  published(): readonly SigningKey[];
  /** Generates another key, which signs from now on. Returns its id. */
  rotate(): string;
  /** Replaces all keys. */
  replace(keys: readonly SigningKeyDeclaration[]): void;
}

/** Generates a key. */
export function generateSigningKey(algorithm: SigningAlgorithm): SigningKeyDeclaration {
  const key = generatePrivateKey(algorithm);
  return { algorithm, privateKey: key.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

/** Parses a stored key. Throws RangeError if the private key is not one of the algorithm. */
export function parseSigningKey({ algorithm, privateKey: pem, replaced }: SigningKeyDeclaration): SigningKey {
  const privateKey = createPrivateKey(pem);
  if (!isKeyOf(algorithm, privateKey)) throw new RangeError(`a signing key is not one of ${algorithm}`);
  const key = createPublicKey(privateKey);
  const kid = thumbprint(key);
  const jwk = { ...key.export({ format: 'jwk' }), kid, alg: algorithm, use: 'sig' };
  return { kid, alg: algorithm, key, privateKey, jwk, replaced };
}

/**
 * Creates the keys of a service. Without a stored one of the algorithm, one is generated.
 * @param lifetime how long (ms) a token is valid at most
 */
export function createSigningKeys(
  stored: readonly SigningKeyDeclaration[],
  { algorithm, clock, lifetime }: { algorithm: SigningAlgorithm; clock: Clock; lifetime: number },
): SigningKeys {
  let keys = readKeys(stored, algorithm, clock);
  const isPublished = ({ replaced }: SigningKey): boolean =>
    replaced === undefined || replaced + lifetime > clock.now();
  const current = (): SigningKey => {
    const [first] = keys;
    if (first === undefined) throw new Error('there is no signing key');
    return first;
  };
  return {
    get current() {
      return current();
    },
    published: () => keys.filter(isPublished),
    rotate() {
      const former = keys.map((key) => ({ ...key, replaced: key.replaced ?? clock.now() }));
      keys = [parseSigningKey(generateSigningKey(algorithm)), ...former.filter(isPublished)];
      return current().kid;
    },
    replace(declared) {
      keys = readKeys(declared, algorithm, clock);
    },
  };
}

/** Returns the keys, the one that signs first. */
function readKeys(
  declared: readonly SigningKeyDeclaration[],
  algorithm: SigningAlgorithm,
  clock: Clock,
): readonly SigningKey[] {
  const keys = declared.map(parseSigningKey);
  const signing = keys.find(({ alg, replaced }) => alg === algorithm && replaced === undefined);
  const former = keys
    .filter((key) => key !== signing)
    .map((key) => ({ ...key, replaced: key.replaced ?? clock.now() }));
  return [signing ?? parseSigningKey(generateSigningKey(algorithm)), ...former];
}
