import { decodeKey } from './declared/key.ts';

/** Minimum length (bytes) of a key that cannot be guessed. */
const minKeyLength = 16;

/**
 * Returns a key that a client may have made from a secret by mistake, if it cannot be guessed: otherwise a hint would confirm a
 * guess at a part of the secret. It must be made from the whole secret.
 */
export function requireUnguessable(key: Buffer | undefined): Buffer | undefined {
  return key !== undefined && key.length >= minKeyLength ? key : undefined;
}

/**
 * Decodes a secret that a client may have decoded by mistake. Returns undefined if the decoding does not consume the whole secret,
 * or the result could be guessed: then no mistake is tried.
 */
export function decodeSecret(secret: string, encoding: 'hex' | 'base64' | 'latin1'): Buffer | undefined {
  if (encoding !== 'latin1') return requireUnguessable(decodeKey(secret, encoding));
  const bytes = Buffer.from(secret, 'latin1');
  return requireUnguessable(bytes.toString('latin1') === secret ? bytes : undefined);
}

/** Returns the secret after a prefix such as `whsec_`; undefined if it has none. */
export function removePrefix(text: string): string | undefined {
  return /^[a-z]{2,8}_(?:[a-z]{2,8}_)?(.{16,})$/s.exec(text)?.[1];
}
