import { oauth1Error, rejectedParameters } from '../../auth/oauth1/error.ts';
import type { Clock } from '../../clock.ts';
import type { Resource } from '../../pipeline/resource.ts';
import { type Found, firstOf, type Grants, isLive } from '../grants.ts';
import type { Lifetimes } from '../lifetimes.ts';
import { formatScope } from '../scopes.ts';
import { matchesSha256 } from '../sha256.ts';
import { type SignedEndpointParts, signedAction } from './endpoint.ts';
import type { TokenSecrets } from './secrets.ts';

/** What the endpoint is made of. */
export interface AccessTokenParts extends SignedEndpointParts {
  readonly grants: Grants;
  readonly clock: Clock;
  readonly lifetimes: Lifetimes;
  readonly secretOf: TokenSecrets;
}

/** So many verifiers may be tried with a request token; with the last wrong one it is used up. */
const triesAtMost = 3;

/** Gives access tokens for request tokens that a user has allowed, the token credentials of RFC 5849 §2.3. */
export function accessTokenResource(parts: AccessTokenParts): Resource {
  const { grants, clock, lifetimes, secretOf } = parts;
  return {
    ownCredentials: true,
    POST: signedAction(parts, 'access_token', async ({ found, parameters: { protocol } }) => {
      const callback = protocol.get('oauth_callback');
      if (callback !== undefined && callback !== found?.token.details['callback'])
        throw rejectedParameters('The callback is another one than before.', ['oauth_callback']);
      const verifier = protocol.get('oauth_verifier') ?? '';
      const spent = await spend(parts, found, protocol.get('oauth_token') ?? '', verifier);
      const { client, user, scopes } = spent.token;
      const ends = clock.now() + lifetimes.oauth1Access;
      const draft = { mechanism: 'oauth1', client, user, scopes } as const;
      const { issued } = await grants.begin({ ...draft, ends }, [
        { ...draft, kind: 'access', expires: ends },
      ]);
      const access = firstOf(issued);
      // No other name begins with oauth_: there are clients that end at one that they do not know.
      return {
        oauth_token: access.value,
        oauth_token_secret: secretOf('access', access.value),
        expires_in: String(Math.floor(lifetimes.oauth1Access / 1000)),
        scope: formatScope(scopes),
      };
    }),
  };
}

/** Uses a request token up; of all who try at once one succeeds. Rejects with a Problem where the verifier is not the right one. */
async function spend(
  { grants, clock }: AccessTokenParts,
  found: Found | undefined,
  token: string,
  verifier: string,
): Promise<Found> {
  for (let current = found; current !== undefined && isLive(current, clock.now()); ) {
    const { user, details } = current.token;
    if (user === undefined || details['verifier'] === undefined)
      throw oauth1Error('permission_unknown', 'The user has not allowed this token anything yet.');
    if (matchesSha256(verifier, details['verifier'])) {
      if (await grants.spend(current)) return current;
    } else if (await countTry(grants, current)) {
      throw oauth1Error('verifier_invalid', 'The verifier is not the one that the user was given.');
    }
    // Somebody else was faster: what there is now is looked at.
    current = await grants.find(token, 'oauth1', 'request');
  }
  throw oauth1Error('token_used', 'The token was used up.');
}

/** Counts one try; false where the token was changed meanwhile. */
async function countTry(grants: Grants, found: Found): Promise<boolean> {
  const tries = Number(found.token.details['tries'] ?? '0') + 1;
  if (tries >= triesAtMost) return grants.spend(found);
  return (await grants.amend(found, { details: { tries: String(tries) } })) !== undefined;
}
