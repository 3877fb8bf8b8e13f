/** RSA key pairs that no test has to generate, which takes long. */

import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A key pair, as objects and in PEM. */
interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
  readonly publicPem: string;
  readonly privatePem: string;
}

function createPair(pem: string): KeyPair {
  const privateKey = createPrivateKey(pem);
  const publicKey = createPublicKey(privateKey);
  return {
    publicKey,
    privateKey,
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function readJson(path: string) {
  return JSON.parse(readFileSync(join(import.meta.dirname, path), 'utf8'));
}

/** The RSA key of 2048 bits in RFC 9421 appendix B.1.1. */
export const rsa = createPair(
  readJson('../../fixtures/message-signatures/rfc9421.json').keys['test-key-rsa'].privateKey,
);

const generated = readJson('rsa-keys.json');
/** Another key of 2048 bits. */
export const otherRsa = createPair(generated.other);
/** A key of 1024 bits, which is too short. */
export const shortRsa = createPair(generated.short);
/** Keys of 3072 and 4096 bits. */
export const longRsa = createPair(generated.long);
export const longestRsa = createPair(generated.longest);
