import { createHmac, createSecretKey } from 'node:crypto';

/** What a token secret is derived for; one token has another secret as each. */
export type SecretKind = 'request' | 'access';

/** Gives the secret of a token, which is kept nowhere: whoever has the key makes it again. */
export type TokenSecrets = (kind: SecretKind, token: string) => string;

/** Makes token secrets out of a key of 32 bytes; each is 43 characters of base64url. */
export function createTokenSecrets(masterKey: Uint8Array): TokenSecrets {
  const key = createSecretKey(masterKey);
  return (kind, token) => createHmac('sha256', key).update(`${kind}|${token}`).digest('base64url');
}
