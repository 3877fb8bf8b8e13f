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

/** A signature, and what it should be that of. */
export interface ClaimedSignature {
  readonly method: OAuth1Method;
  /** '' where the method has none. */
  readonly baseString: string;
  readonly consumer: Consumer | undefined;
  /** '' where there is no token. */
  readonly tokenSecret: string;
  readonly signature: string;
}

/** Bits of the key that stands where a consumer has none. */
const nobodysKeyBits = 2048;

/** What a consumer's signatures are checked with. */
interface Checks {
  /** What its secret contributes to a key; undefined where it has none. */
  readonly keyText: string | undefined;
  /** Undefined where it has no RSA key. */
  readonly isSignedByKey: SignatureCheck | undefined;
}

/**
 * Makes what says whether a signature is the consumer's. Where there is no consumer, no secret or no key, one that nobody has is
 * taken, so that it costs the same. `random` gives that many random bytes.
 */
export function createSignatureCheck(
  random: (size: number) => Uint8Array,
): (claimed: ClaimedSignature) => boolean {
  const nobodysKeyText = keyTextOf(Buffer.from(random(32)).toString('base64url'), '');
  const isSignedByNobody = createKeyCheck(keyOfNobody(random(nobodysKeyBits / 8)));
  const known = new WeakMap<Consumer, Checks>();
  const checksOf = (consumer: Consumer): Checks => {
    const checks = known.get(consumer) ?? checksFor(consumer);
    known.set(consumer, checks);
    return checks;
  };
  return ({ method, baseString, consumer, tokenSecret, signature }) => {
    const { keyText, isSignedByKey } = consumer === undefined ? nothing : checksOf(consumer);
    if (method === 'RSA-SHA1')
      return (isSignedByKey ?? isSignedByNobody)(baseString, signature) && isSignedByKey !== undefined;
    // A token secret is base64url, and so the same when it is encoded.
    const expected = signatureOf(method, baseString, (keyText ?? nobodysKeyText) + tokenSecret);
    return isSameSignature(expected, signature) && keyText !== undefined;
  };
}

const nothing: Checks = { keyText: undefined, isSignedByKey: undefined };

/** Made once for each consumer, so that it does not cost a known one more. */
function checksFor({ secret, rsaPublicKey }: Consumer): Checks {
  return {
    keyText: secret === undefined ? undefined : keyTextOf(secret, ''),
    isSignedByKey: rsaPublicKey === undefined ? undefined : createKeyCheck(createPublicKey(rsaPublicKey)),
  };
}

/** A number as long as a modulus: to verify with it takes as long, and nothing that it verifies counts. */
function keyOfNobody(octets: Uint8Array): KeyObject {
  const modulus = Buffer.from(octets);
  modulus[0] = 0x80 | (modulus[0] ?? 0);
  modulus[modulus.length - 1] = 1 | (modulus.at(-1) ?? 0);
  const key = { kty: 'RSA', n: modulus.toString('base64url'), e: 'AQAB' };
  return createPublicKey({ key, format: 'jwk' });
}
