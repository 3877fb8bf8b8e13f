import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { SignatureAlgorithm } from '../../auth/account-key.ts';
import { checkWord } from '../../service/argument-checks.ts';

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

const rsa = (): KeyObject => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;

/** Generates private keys. Those of Ed25519 are determined by the random bytes. */
const generators: Readonly<Record<SignatureAlgorithm, (random: Random) => KeyObject>> = {
  ed25519: (random) =>
    createPrivateKey({ key: Buffer.concat([ed25519Prefix, random(32)]), format: 'der', type: 'pkcs8' }),
  'ecdsa-p256-sha256': () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
  'ecdsa-p384-sha384': () => generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey,
  'rsa-pss-sha512': rsa,
  'rsa-v1_5-sha256': rsa,
};

/** Generates a key pair. Throws RangeError on an unknown algorithm, with the nearest known name. */
export function generateKey(
  algorithm: SignatureAlgorithm,
  random: Random,
): { readonly pair: KeyPair; readonly privateKey: KeyObject } {
  checkWord(algorithm, Object.keys(generators), 'an algorithm with a public key');
  const privateKey = generators[algorithm](random);
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
  const pair = { publicKey, privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
  return { pair, privateKey };
}
