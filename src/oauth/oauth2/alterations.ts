import type { RedirectParameters } from '../redirect.ts';
import type { OAuthError } from './oauth-error.ts';
import type { SigningKeys } from './signing-keys.ts';

/** The members of a response of the token endpoint. */
export type TokenResponse = Readonly<Record<string, unknown>>;

/** Makes responses wrong, so that a client is shown to refuse them. Only a double has it. Undefined leaves a response as it is. */
export interface Alterations {
  /** Returns the error for a request of the token endpoint, before anything is used up. */
  refuseProof(isProved: boolean): OAuthError | undefined;
  /** Returns the response to send for a successful one, or the error. */
  token(
    response: TokenResponse,
    keys: SigningKeys | undefined,
    grantType: string,
  ): TokenResponse | OAuthError | undefined;
  /** Returns the parameters of a redirect with a code. */
  redirect(parameters: RedirectParameters): RedirectParameters | undefined;
}
