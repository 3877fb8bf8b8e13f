import { hmacSha256 } from '../../hmac-sha256.ts';

/** The kind of token that a secret is derived for. Each kind has its own secrets. */
export type SecretKind = 'request' | 'access';

/** Returns the secret of a token. It is not stored, but derived from the master key again when needed. */
type TokenSecrets = (kind: SecretKind, token: string) => string;

/**
 * Creates the function that derives token secrets. A secret is 43 characters of base64url.
 *
 * @param masterKey 32 bytes.
 */
export function createTokenSecrets(masterKey: Uint8Array): TokenSecrets {
  return (kind, token) => hmacSha256(masterKey, `${kind}|${token}`).toString('base64url');
}
