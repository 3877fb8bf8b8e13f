import { didYouMean } from '../../did-you-mean.ts';
import type { Consumer } from '../../oauth/clients.ts';
import { firstOf } from '../../oauth/grants.ts';
import { createTokenSecrets } from '../../oauth/oauth1/secrets.ts';
import { oauth1Paths as paths } from '../../oauth/paths.ts';
import { formatScope } from '../../oauth/scopes.ts';
import type { Scope } from '../../principal.ts';
import { createEndpoints, type Endpoints } from './endpoints.ts';
import {
  createOAuthControl,
  lifetimeOf,
  type OAuthControl,
  type OAuthControlParts,
  scopesOf,
} from './oauth-control.ts';

/** What token of OAuth 1.0a is wanted. */
export interface OAuth1TokenWish {
  /** The first consumer that is registered when left out. */
  readonly consumer?: string;
  /** Whose token it is. */
  readonly user: string;
  /** Words with a space between them, or a list; all that the consumer is registered for when left out. */
  readonly scope?: string | readonly Scope[];
  /** Seconds, or a time such as `5m`; the lifetime of the double's options when left out. */
  readonly expiresIn?: number | string;
}

/** An access token of OAuth 1.0a as a consumer would have got it. */
export interface OAuth1IssuedToken {
  readonly token: string;
  readonly tokenSecret: string;
  /** Seconds. */
  readonly expiresIn: number;
  readonly scope: string;
}

/** The endpoints of OAuth 1.0a. */
export type OAuth1Endpoint = keyof typeof paths;

/** What a test does with OAuth 1.0a. */
export interface OAuth1Control extends Endpoints<OAuth1Endpoint>, OAuthControl {
  /**
   * Draws an access token without any request.
   * @example const { token, tokenSecret } = await double.oauth1.issueToken({ user: 'johndoe' });
   */
  issueToken(wish: OAuth1TokenWish): Promise<OAuth1IssuedToken>;
}

/** What the control of OAuth 1.0a is made of. */
export interface OAuth1ControlParts extends OAuthControlParts {
  readonly consumers: () => Iterable<string>;
  readonly masterKey: Uint8Array;
}

/** Makes the control of OAuth 1.0a. */
export function createOAuth1Control(parts: OAuth1ControlParts): OAuth1Control {
  const { faults, journal } = parts;
  const write = (error: string): string => new URLSearchParams({ oauth_problem: error }).toString();
  return {
    ...createEndpoints({ faults, journal, paths, write, type: 'application/x-www-form-urlencoded' }),
    issueToken: (wish) => issue(parts, wish),
    ...createOAuthControl(parts, 'oauth1'),
  };
}

/** The consumer of that key, or the first one. Throws RangeError where there is none. */
export function consumerOf({ oauth, consumers }: OAuth1ControlParts, name: string | undefined): Consumer {
  const [first] = consumers();
  const key = name ?? first;
  if (key === undefined)
    throw new RangeError('the double has no consumer; give some in its options: consumers');
  const consumer = oauth.consumers.find(key);
  if (consumer === undefined)
    throw new RangeError(`${key} is no consumer of this double${didYouMean(key, [...consumers()])}`);
  return consumer;
}

async function issue(parts: OAuth1ControlParts, wish: OAuth1TokenWish): Promise<OAuth1IssuedToken> {
  const { user, expiresIn } = wish;
  const { key, scopes: registered } = consumerOf(parts, wish.consumer);
  parts.users.credentials(user);
  const scopes = scopesOf(wish.scope ?? registered, registered, key);
  const lasts = expiresIn === undefined ? parts.lifetimes.oauth1Access : lifetimeOf(expiresIn);
  const ends = parts.clock.now() + lasts;
  const shared = { mechanism: 'oauth1', client: key, user, scopes } as const;
  const { issued } = await parts.oauth.grants.begin({ ...shared, ends }, [
    { ...shared, kind: 'access', expires: ends },
  ]);
  const access = firstOf(issued);
  return {
    token: access.value,
    tokenSecret: createTokenSecrets(parts.masterKey)('access', access.value),
    expiresIn: Math.floor(lasts / 1000),
    scope: formatScope(scopes),
  };
}
