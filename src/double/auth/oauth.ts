import { didYouMean } from '../../did-you-mean.ts';
import type { Duration } from '../../duration.ts';
import type { Client, Consumer } from '../../oauth/clients.ts';
import { type Found, requireFirst } from '../../oauth/grants.ts';
import { readLifetimes } from '../../oauth/lifetimes.ts';
import { createTokenSecrets } from '../../oauth/oauth1/secrets.ts';
import type { Mechanism, TokenDraft } from '../../oauth/records.ts';
import { defaultScopesFor, formatScope, isWithin, parseScope } from '../../oauth/scopes.ts';
import type { Scope } from '../../principal.ts';
import { basicHeader } from '../../schemes/sent-credentials.ts';
import type { Fetch } from '../../service/fetch/fetch.ts';
import { anything, flag, object, optional, read, type ShapesOf, text, word } from '../../shape/shape.ts';
import { type Core, listNames } from '../compose.ts';
import { DoubleError } from '../error.ts';
import { toMilliseconds } from '../state/clock.ts';
import { requirePassword } from '../state/users.ts';
import type { TokenMistake } from './token-mistakes.ts';
import { checkChoice, findTokens, revokeFound, type TokenChoice } from './tokens.ts';

/** The token to issue. */
export interface IssueTokenOptions {
  /** The id of the client, or the key of the consumer of OAuth 1.0a. Default: the first registered one. */
  readonly client?: string | undefined;
  /** The user whom the token represents. Default: none, the client itself. */
  readonly user?: string | undefined;
  /** Scopes, separated by spaces or as a list. Default: `read`; with OAuth 1.0a, all that are registered for the consumer. */
  readonly scope?: string | readonly Scope[] | undefined;
  /** Seconds, or a duration such as `5m`. Default: the lifetime in the double's options. */
  readonly expiresIn?: Duration | undefined;
  /** Whether a refresh token is issued too. Default: false. */
  readonly refresh?: boolean | undefined;
  /** The audience of the token. One that is not this API makes the double refuse it. Default: this API. */
  readonly audience?: string | readonly string[] | undefined;
  /** Claims of a JWT, which take precedence over those that the double computes. Default: none. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
}

/** The members of a token to issue. */
const tokenMembers = {
  client: optional(text()),
  user: optional(anything),
  scope: optional(anything),
  expiresIn: optional(anything),
  refresh: optional(flag()),
  audience: optional(anything),
  claims: optional(anything),
} satisfies ShapesOf<IssueTokenOptions>;

const tokenShape = object(tokenMembers, undefined, { expected: "an object such as { user: 'johndoe' }" });

/** An OAuth 2.0 token, as a client receives it. */
export interface IssuedToken {
  /** The value of the access token. */
  readonly accessToken: string;
  /** How the token is used (RFC 6750). */
  readonly tokenType: 'Bearer';
  /** The lifetime in seconds. */
  readonly expiresIn: number;
  /** The scopes, separated by spaces. */
  readonly scope: string;
  /** The value of the refresh token, if one was requested. */
  readonly refreshToken: string | undefined;
}

/** Controls OAuth 2.0. */
export interface DoubleOAuth2 extends OAuthControl {
  /**
   * Issues a token without a request.
   * @throws RangeError (as a rejection) if an option is invalid, or if there is no such client or user
   * @example const { accessToken } = await double.oauth2.issueToken({ user: 'johndoe', scope: 'read write' });
   */
  issueToken(options?: IssueTokenOptions): Promise<IssuedToken>;
  /**
   * Makes the next response that a mistake concerns wrong, so that a client is shown to refuse it. Mistakes of tokens are in the access
   * token, if it is a JWT, and in the ID token; `mix-up`, `missing-issuer`, `wrong-state` and `missing-state` are in the next redirect with
   * a code; `replayed-code` refuses the next code, and `wrong-dpop-nonce` the next proof of possession.
   * @throws RangeError if there is no mistake of this name, or it is one of signed tokens and the double signs none
   * @example double.oauth2.next('token', 'wrong-nonce');
   */
  next(endpoint: 'token', mistake: TokenMistake): void;
  /**
   * Signs with another key from now on. The former key is published until its tokens are expired. Returns the id of the new key.
   * @throws RangeError if no tokens are signed
   */
  rotateKey(): string;
}

const endpointShape = word(['token']);

/**
 * Creates the control of OAuth 2.0.
 * @param issuer the issuer of tokens that no client requests
 */
export function createOAuth2Control(core: Core, fetch: Fetch, issuer: string): DoubleOAuth2 {
  return {
    issueToken: (options = {}) => issue(core, options, issuer),
    next(endpoint, mistake) {
      read(endpointShape, endpoint, 'the endpoint');
      core.tokenMistakes.plan(mistake, core.service.oauth.signs);
    },
    rotateKey() {
      const { keys } = core.service.oauth;
      if (keys !== undefined) return keys.rotate();
      throw new RangeError(
        "the double signs no tokens; start it with oauth2: { accessTokens: 'jwt' } or openid",
      );
    },
    ...createOAuthControl(core, fetch, 'oauth2'),
  };
}

/** Returns the client with this id, or the first one. Throws RangeError if there is none. */
export function findClient({ options, service }: Core, id: string | undefined): Client {
  return findRegistered('client', options.clients, service.oauth.clients, id);
}

/** Returns the client or consumer of this name, or the first one. Throws RangeError if there is none. */
function findRegistered<Registered>(
  what: 'client' | 'consumer',
  registered: Parameters<typeof listNames>[0],
  registry: { find(name: string): Registered | undefined },
  name: string | undefined,
): Registered {
  const names = [...listNames(registered)];
  const wanted = name ?? names[0];
  if (wanted === undefined)
    throw new RangeError(`the double has no ${what}; register one with the option ${what}s`);
  const found = registry.find(wanted);
  if (found === undefined)
    throw new RangeError(`the double has no ${what} ${wanted}${didYouMean(wanted, names)}`);
  return found;
}

async function issue(core: Core, options: IssueTokenOptions, issuer: string): Promise<IssuedToken> {
  read(tokenShape, options, 'a token to issue');
  const { oauth } = core.service;
  const lifetimes = readLifetimes(core.options.lifetimes);
  const { user, expiresIn } = options;
  const client = findClient(core, options.client);
  if (user !== undefined) core.users.control.credentials(user);
  const scopes = parseScopes(options.scope, client.scopes, client.id);
  const lasts = expiresIn === undefined ? lifetimes.access : parseLifetime(expiresIn);
  const now = core.time.clock.now();
  const shared = { client: client.id, user, scopes };
  const grant = { ...shared, mechanism: 'oauth2' } as const;
  const { audience, claims } = options;
  const access = await oauth.draftAccessToken({
    ...shared,
    issuer,
    expires: now + lasts,
    audience: audience === undefined ? undefined : [audience].flat(),
    claims,
  });
  const refreshing: TokenDraft = { ...grant, kind: 'refresh', expires: now + lifetimes.refresh };
  const drafts = options.refresh === true ? [access, refreshing] : [access];
  const ends = now + Math.max(lifetimes.refreshTotal, lasts);
  const { issued } = await oauth.grants.begin({ ...grant, ends }, drafts);
  const [token, refresh] = [requireFirst(issued), issued[1]];
  return {
    accessToken: token.value,
    tokenType: 'Bearer',
    expiresIn: Math.floor(lasts / 1000),
    scope: formatScope(scopes),
    refreshToken: refresh?.value,
  };
}

/** The OAuth 1.0a token to issue. It represents a user, and there are no refresh tokens. */
type IssueOAuth1TokenOptions = Omit<IssueTokenOptions, 'user' | 'refresh' | 'audience' | 'claims'> & {
  readonly user: string;
};

const { client, user, scope, expiresIn } = tokenMembers;
const oauth1TokenShape = object(
  { client, user, scope, expiresIn } satisfies ShapesOf<IssueOAuth1TokenOptions>,
  undefined,
  { expected: "an object such as { user: 'johndoe' }" },
);

/** An access token of OAuth 1.0a, as a consumer receives it. */
export interface IssuedOAuth1Token {
  /** The value of the token. */
  readonly token: string;
  /** The secret of the token, with which requests are signed. */
  readonly tokenSecret: string;
  /** The lifetime in seconds. */
  readonly expiresIn: number;
  /** The scopes, separated by spaces. */
  readonly scope: string;
}

/** Controls OAuth 1.0a. */
export interface DoubleOAuth1 extends OAuthControl {
  /**
   * Issues an access token without a request.
   * @param options `user` is required. Default of `client`: the first registered consumer; of `scope`: all that are registered for it
   * @throws RangeError (as a rejection) if an option is invalid, or if there is no such consumer or user
   * @example const { token, tokenSecret } = await double.oauth1.issueToken({ user: 'johndoe' });
   */
  issueToken(options: IssueOAuth1TokenOptions): Promise<IssuedOAuth1Token>;
}

/** Creates the control of OAuth 1.0a. */
export function createOAuth1Control(core: Core, fetch: Fetch): DoubleOAuth1 {
  return {
    issueToken: (options) => issueOAuth1(core, options),
    ...createOAuthControl(core, fetch, 'oauth1'),
  };
}

/** Returns the consumer with this key, or the first one. Throws RangeError if there is none. */
export function findConsumer({ options, service }: Core, key: string | undefined): Consumer {
  return findRegistered('consumer', options.consumers, service.oauth.consumers, key);
}

async function issueOAuth1(core: Core, options: IssueOAuth1TokenOptions): Promise<IssuedOAuth1Token> {
  read(oauth1TokenShape, options, 'a token to issue');
  const { user, expiresIn } = options;
  const { key, scopes: registered } = findConsumer(core, options.client);
  core.users.control.credentials(user);
  const scopes = parseScopes(options.scope ?? registered, registered, key);
  const lasts =
    expiresIn === undefined ? readLifetimes(core.options.lifetimes).oauth1Access : parseLifetime(expiresIn);
  const ends = core.time.clock.now() + lasts;
  const shared = { mechanism: 'oauth1', client: key, user, scopes } as const;
  const { issued } = await core.service.oauth.grants.begin({ ...shared, ends }, [
    { ...shared, kind: 'access', expires: ends },
  ]);
  const access = requireFirst(issued);
  return {
    token: access.value,
    tokenSecret: createTokenSecrets(core.masterKey)('access', access.value),
    expiresIn: Math.floor(lasts / 1000),
    scope: formatScope(scopes),
  };
}

/** Controls the tokens of one OAuth version. */
interface OAuthControl {
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
function createOAuthControl(core: Core, fetch: Fetch, mechanism: Mechanism): OAuthControl {
  const { grants } = core.service.oauth;
  const change = async (choice: TokenChoice, apply: (found: Found) => Promise<void>): Promise<number> => {
    const { clients, consumers } = core.options;
    checkChoice(choice, [...core.users.all.keys()], [...listNames(clients), ...listNames(consumers)]);
    const found = await findTokens(grants, choice, mechanism);
    for (const each of found) await apply(each);
    return found.length;
  };
  return {
    expireTokens: (choice = {}) => change(choice, (found) => grants.expire(found)),
    revokeTokens: (choice) => change(choice, (found) => revokeFound(grants, found)),
    async approve(url, approval) {
      read(approvalShape, approval, 'an approval');
      const { user, decision = 'allow' } = approval;
      const authorization = basicHeader(user, requirePassword(core.users, user));
      return approveConsent(fetch, url, authorization, decision);
    },
  };
}

/** Parses a requested scope. Throws RangeError if a scope is unknown or not registered for `owner`. */
function parseScopes(
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
function parseLifetime(expiresIn: Duration): number {
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
