import { oauth1Error, rejectedParameters } from '../../auth/oauth1/error.ts';
import type { Clock } from '../../clock.ts';
import type { Resource } from '../../pipeline/resource.ts';
import { type Found, firstOf, type Grants, isLive } from '../grants.ts';
import type { Lifetimes } from '../lifetimes.ts';
import { formatScope } from '../scopes.ts';
import { matchesSha256 } from '../sha256.ts';
import { type SignedEndpointContext, signedAction } from './endpoint.ts';
import type { TokenSecrets } from './secrets.ts';

/** Dependencies of the access token endpoint. */
export interface AccessTokenContext extends SignedEndpointContext {
  readonly grants: Grants;
  readonly clock: Clock;
  readonly lifetimes: Lifetimes;
  readonly secretOf: TokenSecrets;
}

/** Maximum number of verifiers tried with one request token. The last wrong one uses it up. */
const maxAttempts = 3;

/** Creates the endpoint that exchanges authorized request tokens for access tokens (token credentials, RFC 5849 §2.3). */
export function accessTokenResource(context: AccessTokenContext): Resource {
  const { grants, clock, lifetimes, secretOf } = context;
  return {
    ownCredentials: true,
    POST: signedAction(context, 'access_token', async ({ found, parameters: { protocol } }) => {
      const callback = protocol.get('oauth_callback');
      if (callback !== undefined && callback !== found?.token.details['callback'])
        throw rejectedParameters('oauth_callback differs from the callback of the request token.', [
          'oauth_callback',
        ]);
      const verifier = protocol.get('oauth_verifier') ?? '';
      const spent = await useRequestToken(context, found, protocol.get('oauth_token') ?? '', verifier);
      const { client, user, scopes } = spent.token;
      const ends = clock.now() + lifetimes.oauth1Access;
      const draft = { mechanism: 'oauth1', client, user, scopes } as const;
      const { issued } = await grants.begin({ ...draft, ends }, [
        { ...draft, kind: 'access', expires: ends },
      ]);
      const access = firstOf(issued);
      // No further name begins with oauth_: some clients fail on an unknown one.
      return {
        oauth_token: access.value,
        oauth_token_secret: secretOf('access', access.value),
        expires_in: String(Math.floor(lifetimes.oauth1Access / 1000)),
        scope: formatScope(scopes),
      };
    }),
  };
}

/**
 * Marks a request token as used. Of concurrent requests one succeeds. Rejects with a Problem if the user has not allowed the
 * token, the verifier is wrong, or the token was used.
 */
async function useRequestToken(
  { grants, clock }: AccessTokenContext,
  found: Found | undefined,
  token: string,
  verifier: string,
): Promise<Found> {
  for (let current = found; current !== undefined && isLive(current, clock.now()); ) {
    const { user, details } = current.token;
    if (user === undefined || details['verifier'] === undefined)
      throw oauth1Error('permission_unknown', 'The user has not authorized this request token.');
    if (matchesSha256(verifier, details['verifier'])) {
      if (await grants.consume(current)) return current;
    } else if (await countAttempt(grants, current)) {
      throw oauth1Error('verifier_invalid', 'oauth_verifier is wrong.');
    }
    // A concurrent request changed the token: check its current state.
    current = await grants.find(token, 'oauth1', 'request');
  }
  throw oauth1Error('token_used', 'The request token has already been used.');
}

/** Counts a failed attempt. Resolves to false if the token was changed meanwhile. */
async function countAttempt(grants: Grants, found: Found): Promise<boolean> {
  const attempts = Number(found.token.details['tries'] ?? '0') + 1;
  if (attempts >= maxAttempts) return grants.consume(found);
  return (await grants.update(found, { details: { tries: String(attempts) } })) !== undefined;
}
