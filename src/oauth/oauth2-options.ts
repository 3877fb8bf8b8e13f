import { knownScopes, type Scope } from '../principal.ts';

/** The options of OAuth 2.0. Without them, access tokens are opaque, and the scopes are `read` and `write`. */
export interface OAuth2Options {
  /**
   * The scopes that exist. `read` permits GET, HEAD and OPTIONS, and `write` all other methods, if they are listed; the others have the
   * meaning that access rules such as `scope:orders.read` give them. Default: `read` and `write`. The scopes of a partner's document exist too.
   */
  readonly scopes?: readonly Scope[] | undefined;
}

/** The options of OAuth 2.0 with their defaults. */
export interface OAuth2Settings {
  /** All scopes that exist. */
  readonly scopes: readonly Scope[];
}

/**
 * Returns the options of OAuth 2.0 with their defaults.
 * @param documented the scopes of a partner's document
 */
export function readOAuth2(
  { scopes = knownScopes }: OAuth2Options = {},
  documented: readonly Scope[] = [],
): OAuth2Settings {
  return { scopes: [...new Set<Scope>([...scopes, ...documented])] };
}
