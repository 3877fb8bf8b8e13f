import type { Clock } from '../../clock.ts';
import type { Lifetimes } from '../../oauth/lifetimes.ts';
import type { Mechanism } from '../../oauth/records.ts';
import { defaultScopes, formatScope, isWithin, parseScope } from '../../oauth/scopes.ts';
import type { Scope } from '../../principal.ts';
import type { AuthorizationServer } from '../../service/authorization-server.ts';
import type { Faults } from '../faults/faults.ts';
import type { Fetch } from '../fetch/fetch.ts';
import type { Journal } from '../journal/journal.ts';
import { lengthOf } from '../state/clock.ts';
import type { DoubleUsers } from '../state/users.ts';
import { type Approval, approveConsent } from './consent.ts';
import { expireTokens, revokeTokens, type TokenChoice } from './tokens.ts';

/** Controls the tokens of one OAuth version. */
export interface OAuthControl {
  /** Makes tokens expire now: one token, or all that match. Returns their number. */
  expire(choice: TokenChoice): Promise<number>;
  /**
   * Revokes tokens: one token, or all that match. A refresh token or a code revokes its whole grant. Returns the number of
   * tokens that matched.
   */
  revoke(choice: TokenChoice): Promise<number>;
  /**
   * Decides as a user whom a client redirected to `url`. Returns the URL to which the server redirects the user.
   * @example const back = await double.oauth2.approve(client.authorizationUrl(), { user: 'johndoe' });
   */
  approve(url: string, approval: Approval): Promise<string>;
}

/** The parts from which `createOAuthControl` builds. */
/** What the control of either mechanism is made of. */
export interface OAuthControlParts {
  readonly oauth: AuthorizationServer;
  readonly lifetimes: Lifetimes;
  readonly clock: Clock;
  readonly users: DoubleUsers;
  readonly fetch: Fetch;
  readonly faults: Faults;
  readonly journal: Journal;
  /** Returns the value of `Authorization` with which a user approves. */
  readonly basicFor: (user: string) => string;
}

/** Creates the control that both OAuth versions share. */
export function createOAuthControl(
  { oauth: { grants }, fetch, basicFor }: OAuthControlParts,
  mechanism: Mechanism,
): OAuthControl {
  return {
    expire: (choice) => expireTokens(grants, choice, mechanism),
    revoke: (choice) => revokeTokens(grants, choice, mechanism),
    approve: async (url, { user, decision = 'allow' }) =>
      approveConsent(fetch, url, basicFor(user), decision),
  };
}

/** Parses a requested scope. Throws RangeError if a scope is unknown or not registered for `owner`. */
export function scopesOf(
  requested: string | readonly Scope[] = defaultScopes,
  registered: readonly Scope[],
  owner: string,
): readonly Scope[] {
  const scopes = typeof requested === 'string' ? parseScope(requested) : requested;
  if (scopes !== undefined && isWithin(scopes, registered)) return scopes;
  throw new RangeError(
    `the scope ${String(requested)} exceeds the scopes registered for ${owner}: ${formatScope(registered)}`,
  );
}

/** Converts a lifetime, in seconds or as a duration such as `5m`, to ms. */
/** Seconds, or a time such as `5m`, in ms. */
export function lifetimeOf(expiresIn: number | string): number {
  return typeof expiresIn === 'number' ? expiresIn * 1000 : lengthOf(expiresIn);
}
