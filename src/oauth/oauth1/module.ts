import type { Resource } from '../../pipeline/resource.ts';
import { createConsents } from '../consent/consents.ts';
import type { OAuthContext } from '../context.ts';
import { lazily, type OAuthModule, routesTo } from '../module.ts';
import { oauth1Paths as paths } from '../paths.ts';
import { accessTokenResource } from './access-token.ts';
import { oauth1AuthorizationResource } from './authorization.ts';
import { requestTokenResource } from './request-token.ts';
import { createOAuth1Scheme } from './scheme.ts';
import { createTokenSecrets } from './secrets.ts';
import { createSignedRequests } from './signed-requests.ts';

/** Creates OAuth 1.0a: its endpoints and the scheme of signed requests. Neither is offered while no consumer is registered. */
export function createOAuth1(context: OAuthContext): OAuthModule {
  const open = (): boolean => context.consumers.size > 0;
  const signedRequests = lazily(open, () => createSignedRequests('resource', context));
  const endpoints = lazily(open, () => createEndpoints(context));
  return {
    schemes: [createOAuth1Scheme(context, signedRequests)],
    routes: routesTo(endpoints, Object.values(paths), open),
  };
}

function createEndpoints(
  context: OAuthContext,
): Readonly<Record<(typeof paths)[keyof typeof paths], Resource>> {
  const endpoints = { ...context, deriveSecret: createTokenSecrets(context.masterKey) };
  const consents = createConsents(context);
  return {
    [paths.requestToken]: requestTokenResource(endpoints),
    [paths.authorize]: oauth1AuthorizationResource(paths.authorize, { ...context, consents }),
    [paths.accessToken]: accessTokenResource(endpoints),
  };
}
