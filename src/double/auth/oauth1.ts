import { didYouMean } from '../../did-you-mean.ts';
import { formType } from '../../http/headers/media-type.ts';
import type { Consumer } from '../../oauth/clients.ts';
import { firstOf } from '../../oauth/grants.ts';
import { createTokenSecrets } from '../../oauth/oauth1/secrets.ts';
import { oauth1Paths as paths } from '../../oauth/paths.ts';
import { formatScope } from '../../oauth/scopes.ts';
import type { Scope } from '../../principal.ts';
import { checkMembers, checkText } from '../../service/argument-checks.ts';
import { createEndpoints, type Endpoints } from './endpoints.ts';
import {
  createOAuthControl,
  lifetimeOf,
  type OAuthControl,
  type OAuthControlParts,
  scopesOf,
} from './oauth-control.ts';

/** The OAuth 1.0a token to issue. */
export interface OAuth1TokenWish {
  /** The consumer's key. Default: the first registered consumer. */
  readonly client?: string;
  /** The user whom the token represents. */
  readonly user: string;
  /** Scopes, separated by spaces or as a list. Default: all that are registered for the consumer. */
  readonly scope?: string | readonly Scope[];
  /** Seconds, or a duration such as `5m`. Default: the lifetime in the double's options. */
  readonly expiresIn?: number | string;
}

/** The names of the members. The type checks that the list is complete. */
const wishNames: Readonly<Record<keyof OAuth1TokenWish, true>> = {
  client: true,
  user: true,
  scope: true,
  expiresIn: true,
};

/** An access token of OAuth 1.0a, as a consumer receives it. */
export interface IssuedOAuth1Token {
  readonly token: string;
  readonly tokenSecret: string;
  /** Seconds. */
  readonly expiresIn: number;
  readonly scope: string;
}

/** The name of an endpoint of OAuth 1.0a. */
export type OAuth1Endpoint = keyof typeof paths;

/** Controls OAuth 1.0a. */
export interface DoubleOAuth1 extends Endpoints<OAuth1Endpoint>, OAuthControl {
  /**
   * Issues an access token without a request.
   * @example const { token, tokenSecret } = await double.oauth1.issueToken({ user: 'johndoe' });
   */
  issueToken(wish: OAuth1TokenWish): Promise<IssuedOAuth1Token>;
}

/** The parts from which `createOAuth1Control` builds. */
export interface OAuth1ControlParts extends OAuthControlParts {
  readonly consumers: () => Iterable<string>;
  readonly masterKey: Uint8Array;
}

/** Creates the control of OAuth 1.0a. */
export function createOAuth1Control(parts: OAuth1ControlParts): DoubleOAuth1 {
  const { faults, journal } = parts;
  const write = (error: string): string => new URLSearchParams({ oauth_problem: error }).toString();
  return {
    ...createEndpoints({ faults, journal, paths, write, type: formType }),
    issueToken: (wish) => issue(parts, wish),
    ...createOAuthControl(parts, 'oauth1'),
  };
}

/** Returns the consumer with this key, or the first one. Throws RangeError if there is none. */
export function consumerOf({ oauth, consumers }: OAuth1ControlParts, name: string | undefined): Consumer {
  const [first] = consumers();
  const key = name ?? first;
  if (key === undefined)
    throw new RangeError('the double has no consumer; register one with the option consumers');
  const consumer = oauth.consumers.find(key);
  if (consumer === undefined)
    throw new RangeError(`the double has no consumer ${key}${didYouMean(key, [...consumers()])}`);
  return consumer;
}

async function issue(parts: OAuth1ControlParts, wish: OAuth1TokenWish): Promise<IssuedOAuth1Token> {
  checkMembers(wish, Object.keys(wishNames), 'a token to issue', "such as { user: 'johndoe' }");
  const { user, expiresIn } = wish;
  checkText(wish.client, 'consumer of a token to issue');
  const { key, scopes: registered } = consumerOf(parts, wish.client);
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
