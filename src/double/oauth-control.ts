import type { AuthorizationServer } from '../authorization-server.ts';
import type { Clock } from '../clock.ts';
import type { Lifetimes } from '../oauth/lifetimes.ts';
import type { Mechanism } from '../oauth/records.ts';
import { type Approval, approve } from './approval.ts';
import type { Faults } from './faults.ts';
import type { Fetch } from './fetch.ts';
import type { Journal } from './journal.ts';
import { expireTokens, revokeTokens, type TokenChoice } from './tokens.ts';
import type { DoubleUsers } from './users.ts';

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
    approve: async (url, { user, decision = 'allow' }) => approve(fetch, url, basicFor(user), decision),
  };
}
