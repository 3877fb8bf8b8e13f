import { decodeText } from '../../http/syntax/percent.ts';
import { uriDifference } from '../../http/uri-difference.ts';
import type { Resource } from '../../pipeline/resource.ts';
import { type Found, type Grants, isLive, requireFirst } from '../grants.ts';
import type { Reason } from '../reasons.ts';
import { formatScope } from '../scopes.ts';
import { matchesSha256 } from '../sha256.ts';
import { createSignedAction, type Explain, type SignedEndpointContext } from './endpoint.ts';
import { oauth1Error, rejectedParameters } from './error.ts';

/** Maximum number of verifiers tried with one request token. The last wrong one uses it up. */
const maxAttempts = 3;

/** Creates the endpoint that exchanges authorized request tokens for access tokens (token credentials, RFC 5849 §2.3). */
export function accessTokenResource(context: SignedEndpointContext): Resource {
  const { grants, clock, lifetimes, deriveSecret } = context;
  return {
    ownCredentials: true,
    POST: createSignedAction(
      context,
      'access_token',
      async ({ token, parameters: { protocol } }, explain) => {
        const found = await grants.find(token, 'oauth1', 'request');
        const callback = protocol.get('oauth_callback');
        if (callback !== undefined && callback !== found?.token.details['callback'])
          throw explain(
            rejectedParameters('oauth_callback differs from the callback of the request token.', [
              'oauth_callback',
            ]),
            callbackReason(callback, found?.token.details['callback'] ?? ''),
          );
        const verifier = protocol.get('oauth_verifier') ?? '';
        const spent = await useRequestToken(context, found, token, verifier, explain);
        const { client, user, scopes } = spent.token;
        const ends = clock.now() + lifetimes.oauth1Access;
        const draft = { mechanism: 'oauth1', client, user, scopes } as const;
        const { issued } = await grants.begin({ ...draft, ends }, [
          { ...draft, kind: 'access', expires: ends },
        ]);
        const access = requireFirst(issued);
        // No further name begins with oauth_: some clients fail on an unknown one.
        return {
          oauth_token: access.value,
          oauth_token_secret: deriveSecret('access', access.value),
          expires_in: String(Math.floor(lifetimes.oauth1Access / 1000)),
          scope: formatScope(scopes),
        };
      },
    ),
  };
}

/**
 * Marks a request token as used. Of concurrent requests one succeeds. Rejects with a Problem if the user has not allowed the
 * token, the verifier is wrong, or the token was used.
 */
async function useRequestToken(
  { grants, clock }: SignedEndpointContext,
  found: Found | undefined,
  token: string,
  verifier: string,
  explain: Explain,
): Promise<Found> {
  for (let current = found; current !== undefined && isLive(current, clock.now()); ) {
    const { user, details } = current.token;
    if (user === undefined || details['verifier'] === undefined)
      throw explain(oauth1Error('permission_unknown', 'The user has not authorized this request token.'), {
        check: 'permission',
        hint: 'no user has approved the request token at the authorization endpoint yet',
      });
    if (matchesSha256(verifier, details['verifier'])) {
      if (await grants.consume(current)) return current;
    } else if (await countAttempt(grants, current)) {
      throw explain(
        oauth1Error('verifier_invalid', 'oauth_verifier is wrong.'),
        verifierReason(current, verifier),
      );
    }
    // A concurrent request changed the token: check its current state.
    current = await grants.find(token, 'oauth1', 'request');
  }
  throw explain(oauth1Error('token_used', 'The request token has already been used.'), {
    check: 'reuse',
    hint: 'another request used the request token at the same time, or it expired meanwhile',
  });
}

function callbackReason(sent: string, expected: string): Reason {
  const hint = `oauth_callback is ${sent}, but the request token has ${expected}${uriDifference(sent, expected)}`;
  return { check: 'oauth_callback', hint };
}

function verifierReason({ token: { details } }: Found, sent: string): Reason {
  const left = maxAttempts - 1 - Number(details['tries'] ?? '0');
  const mistakes: readonly (readonly [what: string, verifier: string])[] = [
    ['it was sent with white space around it', sent.trim()],
    ['it was sent in another letter case', sent.toLowerCase()],
    ['it was percent-encoded twice', decodeText(sent) ?? sent],
  ];
  const mistake = mistakes.find(([, verifier]) => matchesSha256(verifier, details['verifier'] ?? ''))?.[0];
  const cause =
    mistake ?? `${sent.length} characters were sent that are not the verifier of this request token`;
  return { check: 'oauth_verifier', hint: `${cause}; attempts left with this token: ${Math.max(0, left)}` };
}

/** Counts a failed attempt. Resolves to false if the token was changed meanwhile. */
async function countAttempt(grants: Grants, found: Found): Promise<boolean> {
  const attempts = Number(found.token.details['tries'] ?? '0') + 1;
  if (attempts >= maxAttempts) return grants.consume(found);
  return (await grants.update(found, { details: { tries: String(attempts) } })) !== undefined;
}
