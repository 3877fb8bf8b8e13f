import { didYouMean } from '../../did-you-mean.ts';
import type { Consumer } from '../../oauth/clients.ts';
import { requireFirst } from '../../oauth/grants.ts';
import { readLifetimes } from '../../oauth/lifetimes.ts';
import { createTokenSecrets } from '../../oauth/oauth1/secrets.ts';
import { formatScope } from '../../oauth/scopes.ts';
import type { Fetch } from '../../service/fetch/fetch.ts';
import { object, read, type ShapesOf } from '../../shape/shape.ts';
import { type Core, listNames } from '../compose.ts';
import { createOAuthControl, type OAuthControl, parseLifetime, parseScopes } from './oauth-control.ts';
import { type IssueTokenOptions, tokenMembers } from './oauth2.ts';

/** The OAuth 1.0a token to issue. It represents a user, and there are no refresh tokens. */
type IssueOAuth1TokenOptions = Omit<IssueTokenOptions, 'user' | 'refresh' | 'audience' | 'claims'> & {
  readonly user: string;
};

const { client, user, scope, expiresIn } = tokenMembers;
const tokenShape = object(
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
    issueToken: (options) => issue(core, options),
    ...createOAuthControl(core, fetch, 'oauth1'),
  };
}

/** Returns the consumer with this key, or the first one. Throws RangeError if there is none. */
export function findConsumer(core: Core, name: string | undefined): Consumer {
  const { consumers } = core.options;
  const [first] = listNames(consumers);
  const key = name ?? first;
  if (key === undefined)
    throw new RangeError('the double has no consumer; register one with the option consumers');
  const consumer = core.service.oauth.consumers.find(key);
  if (consumer === undefined)
    throw new RangeError(`the double has no consumer ${key}${didYouMean(key, [...listNames(consumers)])}`);
  return consumer;
}

async function issue(core: Core, options: IssueOAuth1TokenOptions): Promise<IssuedOAuth1Token> {
  read(tokenShape, options, 'a token to issue');
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
