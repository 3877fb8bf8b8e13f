import type { Duration } from '../../duration.ts';
import type { Mechanism } from '../../oauth/records.ts';
import { defaultScopesFor, formatScope, isWithin, parseScope } from '../../oauth/scopes.ts';
import type { Scope } from '../../principal.ts';
import { basicHeader } from '../../schemes/sent-credentials.ts';
import type { Fetch } from '../../service/fetch/fetch.ts';
import { anything, object, optional, read, type ShapesOf, word } from '../../shape/shape.ts';
import { type Core, listNames } from '../compose.ts';
import { DoubleError } from '../error.ts';
import { toMilliseconds } from '../state/clock.ts';
import { requirePassword } from '../state/users.ts';
import { checkChoice, expireTokens, revokeTokens, type TokenChoice } from './tokens.ts';

/** Controls the tokens of one OAuth version. */
export interface OAuthControl {
  /**
   * Makes tokens expire now.
   * @param choice the value of a token, or a filter. Default: all tokens of this version of OAuth
   * @returns the number of tokens
   * @throws RangeError (as a rejection) if the filter contains an unknown member or name
   * @example await double.oauth2.expireTokens({ client: 'app' });
   */
  expireTokens(choice?: TokenChoice): Promise<number>;
  /**
   * Revokes tokens. A refresh token or a code revokes its whole grant.
   * @param choice the value of a token, or a filter; `{}` matches all tokens of this version of OAuth
   * @returns the number of tokens that matched
   * @throws RangeError (as a rejection) if the filter contains an unknown member or name
   */
  revokeTokens(choice: TokenChoice): Promise<number>;
  /**
   * Decides as a user whom a client redirected to `url`. Returns the URL to which the server redirects the user. With the
   * callback `oob` of OAuth 1.0a, returns `oob:?oauth_token=…&oauth_verifier=…`.
   * @throws DoubleError (`unavailable`, as a rejection) with the response of the server, if there is no consent page at `url`
   * @example const back = await double.oauth2.approve(client.authorizationUrl(), { user: 'johndoe' });
   */
  approve(url: string, approval: Approval): Promise<string>;
}

const approvalShape = object(
  { user: optional(anything), decision: optional(word(['allow', 'deny'])) } satisfies ShapesOf<Approval>,
  undefined,
  { expected: "an object such as { user: 'johndoe' }" },
);

/**
 * Creates the control that both OAuth versions share.
 * @param fetch sends requests to any origin of the double
 */
export function createOAuthControl(core: Core, fetch: Fetch, mechanism: Mechanism): OAuthControl {
  const { grants } = core.service.oauth;
  const check = (choice: TokenChoice): void => {
    const { clients, consumers } = core.options;
    checkChoice(choice, [...core.users.all.keys()], [...listNames(clients), ...listNames(consumers)]);
  };
  return {
    async expireTokens(choice = {}) {
      check(choice);
      return expireTokens(grants, choice, mechanism);
    },
    async revokeTokens(choice) {
      check(choice);
      return revokeTokens(grants, choice, mechanism);
    },
    async approve(url, approval) {
      read(approvalShape, approval, 'an approval');
      const { user, decision = 'allow' } = approval;
      const authorization = basicHeader(user, requirePassword(core.users, user));
      return approveConsent(fetch, url, authorization, decision);
    },
  };
}

/** Parses a requested scope. Throws RangeError if a scope is unknown or not registered for `owner`. */
export function parseScopes(
  requested: string | readonly Scope[] | undefined,
  registered: readonly Scope[],
  owner: string,
): readonly Scope[] {
  const wanted = requested ?? defaultScopesFor(registered);
  const scopes = typeof wanted === 'string' ? parseScope(wanted, registered) : wanted;
  if (scopes !== undefined && isWithin(scopes, registered)) return scopes;
  throw new RangeError(
    `the scope ${String(wanted)} exceeds the scopes registered for ${owner}: ${formatScope(registered)}`,
  );
}

/** Converts a lifetime, in seconds or as a duration such as `5m`, to ms. */
export function parseLifetime(expiresIn: Duration): number {
  return typeof expiresIn === 'number' ? expiresIn * 1000 : toMilliseconds(expiresIn);
}

/** A user's decision on the consent page. */
interface Approval {
  /** The name of the user, who signs in with the password. */
  readonly user: string;
  /** The decision. Default: `allow`. */
  readonly decision?: 'allow' | 'deny';
}

/**
 * Requests the consent page at `url` and submits the decision, as a user's browser does. Resolves to the URL to which the
 * server redirects the browser, with the code, the verifier or the error. With the callback `oob`, the server shows the
 * verifier on a page instead; then resolves to `oob:?` and the parameters of that page. Rejects with DoubleError (`unavailable`), which contains
 * the server's response, if there is no consent page.
 */
async function approveConsent(
  fetch: Fetch,
  url: string,
  authorization: string,
  decision: 'allow' | 'deny',
): Promise<string> {
  const headers = { Authorization: authorization, Accept: 'application/json' };
  const common = { headers, secure: true, redirect: 'manual' } as const;
  const page = await fetch(url, common);
  if (page.status === 303) return readLocation(page);
  const ticket = await ticketIn(page);
  const body = new URLSearchParams({ consent_ticket: ticket, decision });
  const endpoint = page.url.replace(/[?#].*$/s, '');
  const answer = await fetch(endpoint, { ...common, method: 'POST', body });
  return answer.status === 200 ? `oob:?${await readShownParameters(answer)}` : readLocation(answer);
}

/** Returns the members of the page after a decision without a redirect (RFC 5849 §2.2) as the parameters of a callback. */
async function readShownParameters(page: Response): Promise<URLSearchParams> {
  const content: unknown = await page.json();
  const members = Object.entries(typeof content === 'object' && content !== null ? content : {});
  return new URLSearchParams(members.map(([name, value]): [string, string] => [name, String(value)]));
}

async function ticketIn(response: Response): Promise<string> {
  const text = await response.text();
  const content: unknown = response.status === 200 ? JSON.parse(text) : undefined;
  if (typeof content === 'object' && content !== null && 'consent_ticket' in content) {
    const { consent_ticket: ticket } = content;
    if (typeof ticket === 'string') return ticket;
  }
  throw new DoubleError('unavailable', `the server sent no consent page, but ${response.status} ${text}`);
}

function readLocation(response: Response): string {
  const location = response.headers.get('location');
  if (location !== null) return location;
  throw new DoubleError('unavailable', `the server sent no redirect, but ${response.status}`);
}
