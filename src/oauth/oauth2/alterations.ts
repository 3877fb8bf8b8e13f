import type { SigningKeys } from './signing-keys.ts';

/** Makes responses wrong, so that a client is shown to refuse them. Only a double has it. */
export interface Alterations {
  /** Returns the response to send. Throws an OAuthError to refuse the request. */
  token(
    response: Readonly<Record<string, unknown>>,
    keys: SigningKeys | undefined,
  ): Readonly<Record<string, unknown>>;
  /** Returns the issuer that a redirect with a code names (RFC 9207). */
  issuer(issuer: string): string;
}
