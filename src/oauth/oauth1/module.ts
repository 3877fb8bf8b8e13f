import type { RefusedNonce } from '../../auth/nonce-claim.ts';
import {
  createOAuth1Scheme,
  type SignedAdmission,
  type SignedAttempt,
  type SignedRefusal,
} from '../../auth/oauth1/scheme.ts';
import { tooManyFailures } from '../../auth/rate-limit.ts';
import { Problem } from '../../http/problem.ts';
import type { Resource } from '../../pipeline/resource.ts';
import type { Principal } from '../../principal.ts';
import { createConsents } from '../consent/consents.ts';
import type { OAuthContext } from '../context.ts';
import { lazily, type OAuthModule, routesTo } from '../module.ts';
import { oauth1Paths as paths } from '../paths.ts';
import { commonScopes } from '../scopes.ts';
import { accessTokenResource } from './access-token.ts';
import { oauth1AuthorizationResource } from './authorization.ts';
import { claimedBy, nonceProblem } from './nonces.ts';
import { type OAuth1Parameters, placeElsewhere, readOAuth1Parameters } from './parameters.ts';
import { requestTokenResource } from './request-token.ts';
import { createTokenSecrets } from './secrets.ts';
import { checks, createVerification, type Verified, type Verify } from './verification.ts';

/** Creates OAuth 1.0a: its endpoints and the scheme of signed requests. Neither is offered while no consumer is registered. */
export function createOAuth1(context: OAuthContext): OAuthModule {
  const { realm, consumers } = context;
  const open = (): boolean => consumers.size > 0;
  const verification = lazily(open, () => createVerification(context));
  const endpoints = lazily(open, () => endpointsOf(context, verification()));
  const scheme = createOAuth1Scheme({
    realm,
    offered: open,
    elsewhere: (request) => placeElsewhere(request),
    verify: (attempt) => verifyRequest(attempt, verification(), context),
  });
  return { schemes: [scheme], routes: routesTo(endpoints, Object.values(paths), open) };
}

function endpointsOf(
  context: OAuthContext,
  verify: Verify,
): Readonly<Record<(typeof paths)[keyof typeof paths], Resource>> {
  const endpoints = { ...context, verify, secretOf: createTokenSecrets(context.masterKey) };
  const consents = createConsents(context);
  return {
    [paths.requestToken]: requestTokenResource(endpoints),
    [paths.authorize]: oauth1AuthorizationResource(paths.authorize, { ...context, consents }),
    [paths.accessToken]: accessTokenResource(endpoints),
  };
}

/** Verifies a request to a resource. Resolves to undefined if it has no protocol parameters. */
async function verifyRequest(
  { request, rest, authTrace, deferrable }: SignedAttempt,
  verify: Verify,
  context: OAuthContext,
): Promise<SignedAdmission | SignedRefusal | undefined> {
  const { bodyLimit, rateLimiter } = context;
  let parameters: OAuth1Parameters | undefined;
  const refuse = (problem: Problem): SignedRefusal => {
    authTrace?.fail(checks[authTrace.passed.length] ?? 'parse', problem.members);
    return { problem, claimed: parameters && claimedBy(parameters) };
  };
  try {
    parameters = await readOAuth1Parameters(request, rest, bodyLimit);
    if (parameters === undefined) return undefined;
    if (rateLimiter.blocksPair(request.connection.peer, claimedBy(parameters)))
      return { problem: tooManyFailures(rateLimiter, 'peer-and-user'), claimed: undefined };
    const verified = await verify(request, parameters, 'resource', authTrace, deferrable);
    const isDeferred = deferrable && verified.nonce !== undefined;
    const refuseNonce = (claimed: RefusedNonce): SignedRefusal => {
      authTrace?.retract('nonce');
      return refuse(nonceProblem(claimed, context));
    };
    return { principal: principalOf(verified), refuse: isDeferred ? refuseNonce : undefined };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return refuse(error);
  }
}

function principalOf({ consumer, found, nonce }: Verified): Principal {
  const { user, scopes = [] } = found?.token ?? {};
  // A request that is verified for a resource has a token that a user authorized.
  if (user === undefined) throw new Error('an access token of OAuth 1.0a has no user');
  // A scope that was removed from the consumer's registration is removed from its tokens too.
  const lent = { client: consumer.key, scopes: commonScopes(scopes, consumer.scopes), users: undefined };
  return { name: user, scheme: 'oauth', lent, ...(nonce === undefined ? {} : { nonce }) };
}
