import { createPublicKey, type KeyObject } from 'node:crypto';

/**
 * Creates a function that returns an Ed25519 key to verify against in place of a missing one, so that every refusal takes the same
 * time: the public key of RFC 8032 §7.1, test 1. A signature by it is never accepted.
 */
export function createDecoyKey(): () => KeyObject {
  let key: KeyObject | undefined;
  return () => {
    key ??= createPublicKey({
      key: {
        kty: 'OKP',
        crv: 'Ed25519',
        x: Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex').toString(
          'base64url',
        ),
      },
      format: 'jwk',
    });
    return key;
  };
}
