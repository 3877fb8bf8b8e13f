import { createPrivateKey, KeyObject } from 'node:crypto';
import { grammar } from '../shape/shape.ts';

/**
 * Parses a private key: PEM (PKCS #8), or a key of node:crypto. The message of an error contains nothing of the key.
 * @param what names the key in messages: `scheme.key.privateKey`
 * @throws RangeError on a public key, an encrypted one, or anything else that is not a private key
 */
export function parsePrivateKey(source: unknown, what: string): KeyObject {
  if (source instanceof KeyObject) {
    if (source.type === 'private') return source;
    throw new RangeError(`${what} is a ${source.type} key; a private key is required`);
  }
  if (typeof source !== 'string')
    throw new RangeError(`${what} must be a private key in PEM format (PKCS #8)`);
  if (/ENCRYPTED/.test(source)) throw new RangeError(`${what} is encrypted; it must not be`);
  if (/PUBLIC KEY/.test(source)) throw new RangeError(`${what} is a public key; a private key is required`);
  try {
    return createPrivateKey(source);
  } catch {
    throw new RangeError(`${what} is not a private key in PEM format (PKCS #8)`);
  }
}

/** Describes a private key. */
export const privateKeyShape = grammar({ type: 'string' }, 'a private key', parsePrivateKey);
