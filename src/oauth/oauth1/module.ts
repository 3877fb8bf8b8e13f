import { formatChallenge } from '../../http/headers/authorization.ts';
import { type IncomingRequest, isConfidential } from '../../http/message.ts';
import type { Resource } from '../../pipeline/resource.ts';
import { createOAuth1Scheme } from '../../schemes/oauth1/scheme.ts';
import type { AuthenticationTrace } from '../../schemes/trace.ts';
import type { BadVerdict, Verdict, Verifier } from '../../schemes/verifier.ts';
import { refuseScheme } from '../../schemes/verifier.ts';
import type { OAuthContext } from '../context.ts';
import { lazily, type OAuthModule, routesTo } from '../module.ts';
import { oauth1Paths as paths } from '../paths.ts';
import { oauth1AuthorizationResource } from './authorization.ts';
import { formatReportChallenge } from './error.ts';
import { hasProtocol, mayHaveSignedForm } from './parameters.ts';
import { createSignedRequests, type SignedRequests } from './signature.ts';
import { accessTokenResource, requestTokenResource } from './token-endpoints.ts';

/** Creates OAuth 1.0a: its endpoints and the scheme of signed requests. Neither is offered while no consumer is registered. */
export function createOAuth1(context: OAuthContext): OAuthModule {
  const open = (): boolean => context.consumers.size > 0;
  const signedRequests = lazily(open, () => createSignedRequests('resource', context));
  const endpoints = lazily(open, () => createEndpoints(context));
  return {
    schemes: [createOAuth1Verifier(context, signedRequests)],
    routes: routesTo(endpoints, Object.values(paths), open),
  };
}

function createEndpoints(context: OAuthContext): ReadonlyMap<string, Resource> {
  return new Map([
    [paths.requestToken, requestTokenResource(context)],
    [paths.authorize, oauth1AuthorizationResource(context)],
    [paths.accessToken, accessTokenResource(context)],
  ]);
}

/** Creates the verifier of OAuth 1.0a (RFC 5849): requests signed with the secrets of a consumer and an access token. */
function createOAuth1Verifier(
  { realm, consumers }: OAuthContext,
  signedRequests: () => SignedRequests,
): Verifier {
  const challengeWith = (problem: string): string =>
    formatChallenge('OAuth', [
      ['realm', realm],
      ['oauth_problem', problem],
    ]);
  const challenge = formatChallenge('OAuth', [['realm', realm]]);
  const { places, ownsParameter } = createOAuth1Scheme();
  const isOffered = (): boolean => consumers.size > 0;
  const readsPlain = (): boolean => consumers.some(({ plainHttp }) => plainHttp);

  const addReport = (verdict: BadVerdict): BadVerdict => {
    const report = formatReportChallenge(realm, verdict.problem);
    return report === undefined ? verdict : { ...verdict, challenge: report };
  };

  const verify = async (
    request: IncomingRequest,
    rest: string | undefined,
    authTrace: AuthenticationTrace | undefined,
  ): Promise<Verdict> => {
    const { reader, verifier } = signedRequests();
    const read = await reader.read(request, rest);
    if (read === undefined) return refuseScheme();
    const verdict = await verifier(read, authTrace);
    return verdict.outcome === 'bad' ? addReport(verdict) : verdict;
  };

  return {
    name: 'oauth',
    places,
    tlsOnly: true,
    ownsParameter,
    authenticate: (request, rest, authTrace) =>
      isOffered() ? verify(request, rest, authTrace) : refuseScheme(),
    isInQuery: (query) => isOffered() && hasProtocol(query),
    content: {
      isPossible: (request) => isOffered() && mayHaveSignedForm(request),
      isPresent: async (request) => (await signedRequests().reader.read(request, undefined)) !== undefined,
    },
    refusesSeveral: true,
    readsPlain,
    challenge: (connection) =>
      (isConfidential(connection) || readsPlain()) && isOffered() ? challenge : undefined,
    severalChallenge: () => (isOffered() ? challengeWith('parameter_rejected') : undefined),
    scopeChallenge: () => challengeWith('permission_denied'),
  };
}
