import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { read, word } from '../../shape/shape.ts';
import { generateKeys, type SignatureAlgorithm, signatureAlgorithms } from '../../signature/algorithms.ts';

/** A generated key pair. */
export interface KeyPair {
  /** PEM (SPKI). */
  readonly publicKey: string;
  /** PEM (PKCS #8). */
  readonly privateKey: string;
}

/** The beginning of an Ed25519 private key in DER (PKCS #8, RFC 8410 §7); 32 bytes follow. */
const ed25519Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

type Random = (size: number) => Uint8Array;

/** Generates a private key. One of Ed25519 is determined by the random bytes. */
function generatePrivateKey(algorithm: SignatureAlgorithm, random: Random): KeyObject {
  if (algorithm !== 'ed25519') return generateKeys(algorithm).privateKey;
  return createPrivateKey({ key: Buffer.concat([ed25519Prefix, random(32)]), format: 'der', type: 'pkcs8' });
}

/** Generates a key pair. Throws RangeError on an unknown algorithm, with the nearest known name. */
export function generateKey(
  algorithm: SignatureAlgorithm,
  random: Random,
): { readonly pair: KeyPair; readonly privateKey: KeyObject } {
  read(word(signatureAlgorithms, undefined, 'an algorithm with a public key'), algorithm, 'algorithm');
  const privateKey = generatePrivateKey(algorithm, random);
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
  const pair = { publicKey, privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
  return { pair, privateKey };
}
