import { createPublicKey, type KeyObject } from 'node:crypto';

const x = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';

/**
 * Creates a function that returns an Ed25519 key to verify against in place of a missing one, so that every refusal takes the same
 * time: the public key of RFC 8037, appendix A. A signature by it is never accepted.
 */
export function createDecoyKey(): () => KeyObject {
  let key: KeyObject | undefined;
  return () => {
    key ??= createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return key;
  };
}
