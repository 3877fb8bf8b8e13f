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

/** What a test does with the tokens of either mechanism. */
export interface OAuthControl {
  /** Makes tokens expire now: one, or all that fit. Gives how many. */
  expire(choice: TokenChoice): Promise<number>;
  /** Ends tokens: one, or all that fit; with a refresh token or a code everything of its grant. Gives how many were meant. */
  revoke(choice: TokenChoice): Promise<number>;
  /**
   * Decides as a user who was sent to `url` by a client; gives where the client gets the user back.
   * @example const back = await double.oauth2.approve(client.authorizationUrl(), { user: 'johndoe' });
   */
  approve(url: string, approval: Approval): Promise<string>;
}

/** What the control of either mechanism is made of. */
export interface OAuthControlParts {
  readonly oauth: AuthorizationServer;
  readonly lifetimes: Lifetimes;
  readonly clock: Clock;
  readonly users: DoubleUsers;
  readonly fetch: Fetch;
  readonly faults: Faults;
  readonly journal: Journal;
  /** The value of Authorization with which a user approves. */
  readonly basicFor: (user: string) => string;
}

/** Makes what both mechanisms have in common. */
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

/** Scopes as they are wished for. Throws RangeError where one is not known, or not among the registered ones. */
export function scopesOf(
  wished: string | readonly Scope[] = defaultScopes,
  registered: readonly Scope[],
  who: string,
): readonly Scope[] {
  const scopes = typeof wished === 'string' ? parseScope(wished) : wished;
  if (scopes !== undefined && isWithin(scopes, registered)) return scopes;
  throw new RangeError(
    `the scope ${String(wished)} is more than ${who} is registered for: ${formatScope(registered)}`,
  );
}

/** Seconds, or a time such as `5m`, in ms. */
export function lifetimeOf(expiresIn: number | string): number {
  return typeof expiresIn === 'number' ? expiresIn * 1000 : lengthOf(expiresIn);
}
