/** A key pair that no test has to generate, which takes long for RSA. */

import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const path = join(import.meta.dirname, '../../fixtures/message-signatures/rfc9421.json');

/** A key pair, as objects and in PEM. */
interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
  readonly publicPem: string;
  readonly privatePem: string;
}

function readPair(): KeyPair {
  const { keys } = JSON.parse(readFileSync(path, 'utf8'));
  const privateKey = createPrivateKey(keys['test-key-rsa'].privateKey);
  const publicKey = createPublicKey(privateKey);
  return {
    publicKey,
    privateKey,
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** The RSA key of 2048 bits in RFC 9421 appendix B.1.1. */
export const rsa = readPair();
