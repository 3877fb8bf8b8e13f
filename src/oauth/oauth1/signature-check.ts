import { createPublicKey, type KeyObject } from 'node:crypto';
import {
  createKeyCheck,
  isSameSignature,
  keyTextOf,
  type OAuth1Method,
  type SignatureCheck,
  signatureOf,
} from '../../signature/oauth1.ts';
import type { Consumer } from '../clients.ts';

/** A signature, and the input that it is checked against. */
export interface ClaimedSignature {
  readonly method: OAuth1Method;
  /** Empty for PLAINTEXT. */
  readonly baseString: string;
  readonly consumer: Consumer | undefined;
  /** Empty without a token. */
  readonly tokenSecret: string;
  readonly signature: string;
}

/** Modulus length (bits) of the dummy RSA key. */
const dummyKeyBits = 2048;

/** The prepared keys of a consumer. */
interface Checks {
  /** The part of the HMAC key from the consumer's secret; undefined without a secret. */
  readonly keyText: string | undefined;
  /** Undefined without an RSA key. */
  readonly isSignedByKey: SignatureCheck | undefined;
}

/**
 * Creates the function that checks the signature of a consumer. Without a consumer, a secret or a key it checks with a dummy one,
 * so that the time is the same.
 *
 * @param random Returns that many random bytes.
 */
export function createSignatureCheck(
  random: (size: number) => Uint8Array,
): (claimed: ClaimedSignature) => boolean {
  const dummyKeyText = keyTextOf(Buffer.from(random(32)).toString('base64url'), '');
  const isSignedByDummy = createKeyCheck(createDummyKey(random(dummyKeyBits / 8)));
  const cache = new WeakMap<Consumer, Checks>();
  const checksOf = (consumer: Consumer): Checks => {
    const checks = cache.get(consumer) ?? checksFor(consumer);
    cache.set(consumer, checks);
    return checks;
  };
  return ({ method, baseString, consumer, tokenSecret, signature }) => {
    const { keyText, isSignedByKey } = consumer === undefined ? noChecks : checksOf(consumer);
    if (method === 'RSA-SHA1')
      return (isSignedByKey ?? isSignedByDummy)(baseString, signature) && isSignedByKey !== undefined;
    // A token secret is base64url, which percent-encoding does not change.
    const expected = signatureOf(method, baseString, (keyText ?? dummyKeyText) + tokenSecret);
    return isSameSignature(expected, signature) && keyText !== undefined;
  };
}

const noChecks: Checks = { keyText: undefined, isSignedByKey: undefined };

/** Prepares the keys of a consumer. The result is cached, so that a registered consumer does not cost more time. */
function checksFor({ secret, rsaPublicKey }: Consumer): Checks {
  return {
    keyText: secret === undefined ? undefined : keyTextOf(secret, ''),
    isSignedByKey: rsaPublicKey === undefined ? undefined : createKeyCheck(createPublicKey(rsaPublicKey)),
  };
}

/** Creates a key from a random modulus. Verification with it takes as long as with a real key, and its result is ignored. */
function createDummyKey(octets: Uint8Array): KeyObject {
  const modulus = Buffer.from(octets);
  modulus[0] = 0x80 | (modulus[0] ?? 0);
  modulus[modulus.length - 1] = 1 | (modulus.at(-1) ?? 0);
  const key = { kty: 'RSA', n: modulus.toString('base64url'), e: 'AQAB' };
  return createPublicKey({ key, format: 'jwk' });
}
