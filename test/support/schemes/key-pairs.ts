// Key pairs of ann and bob. Those of ann are examples of a standard, so that a refusal says the same of her signatures each time.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { otherRsa } from '../keys.ts';
import { publicKey, signingKey } from './rfc9421.ts';

/** A key pair in PEM. */
interface Pair {
  readonly publicKey: string;
  /** The private key. */
  readonly secret: string;
}

const kinds = {
  ed25519: { id: 'test-key-ed25519', generate: () => generateKeyPairSync('ed25519') },
  ecdsa: { id: 'test-key-ecc-p256', generate: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }) },
  rsa: { id: 'test-key-rsa', generate: () => otherRsa },
} as const;

/** Returns the key pair of ann, from RFC 9421 appendix B.1, and one for bob. */
export function createPairs(kind: keyof typeof kinds): Readonly<Record<'ann' | 'bob', Pair>> {
  const { id, generate } = kinds[kind];
  const own = signingKey(id);
  if (!('privateKey' in own)) throw new RangeError(`${id} is no key pair`);
  return {
    ann: formatPair(publicKey(id).publicKey, own.privateKey),
    bob: createPair(generate()),
  };
}

/** Returns a generated key pair in PEM. */
export function createPair(pair: { readonly publicKey: KeyObject; readonly privateKey: KeyObject }): Pair {
  return formatPair(pair.publicKey, pair.privateKey);
}

function formatPair(publicKey: KeyObject, privateKey: KeyObject): Pair {
  return {
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    secret: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
