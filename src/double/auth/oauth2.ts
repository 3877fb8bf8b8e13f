import { didYouMean } from '../../did-you-mean.ts';
import type { Duration } from '../../duration.ts';
import type { Client } from '../../oauth/clients.ts';
import { requireFirst } from '../../oauth/grants.ts';
import { readLifetimes } from '../../oauth/lifetimes.ts';
import type { TokenDraft } from '../../oauth/records.ts';
import { formatScope } from '../../oauth/scopes.ts';
import type { Scope } from '../../principal.ts';
import type { Fetch } from '../../service/fetch/fetch.ts';
import { anything, flag, object, optional, read, type ShapesOf, text, word } from '../../shape/shape.ts';
import { type Core, listNames } from '../compose.ts';
import { createOAuthControl, type OAuthControl, parseLifetime, parseScopes } from './oauth-control.ts';
import type { TokenMistake } from './token-mistakes.ts';

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
export const tokenMembers = {
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
export function findClient(core: Core, name: string | undefined): Client {
  const { clients } = core.options;
  const [first] = listNames(clients);
  const id = name ?? first;
  if (id === undefined)
    throw new RangeError('the double has no client; register one with the option clients');
  const client = core.service.oauth.clients.find(id);
  if (client === undefined)
    throw new RangeError(`the double has no client ${id}${didYouMean(id, [...listNames(clients)])}`);
  return client;
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
  const draft = (kind: 'refresh', lifetime: number): TokenDraft => ({
    mechanism: 'oauth2',
    kind,
    client: client.id,
    user,
    scopes,
    expires: now + lifetime,
  });
  const { audience, claims } = options;
  const access = await oauth.draftAccessToken({
    issuer,
    client: client.id,
    user,
    scopes,
    expires: now + lasts,
    audience: audience === undefined ? undefined : [audience].flat(),
    claims,
  });
  const drafts = [access, ...(options.refresh === true ? [draft('refresh', lifetimes.refresh)] : [])];
  const ends = now + Math.max(lifetimes.refreshTotal, lasts);
  const { issued } = await oauth.grants.begin(
    { mechanism: 'oauth2', client: client.id, user, scopes, ends },
    drafts,
  );
  const [token, refresh] = [requireFirst(issued), issued[1]];
  return {
    accessToken: token.value,
    tokenType: 'Bearer',
    expiresIn: Math.floor(lasts / 1000),
    scope: formatScope(scopes),
    refreshToken: refresh?.value,
  };
}
