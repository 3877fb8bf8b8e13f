import { createBearerScheme } from '../../auth/bearer.ts';
import type { Resource } from '../../pipeline/resource.ts';
import { createConsents } from '../consent/consents.ts';
import type { OAuthContext } from '../context.ts';
import { lazily, type OAuthModule, routesTo } from '../module.ts';
import { oauth2Paths as paths } from '../paths.ts';
import type { Reason } from '../reasons.ts';
import { findPrincipal } from '../token-holder.ts';
import { authorizationResource } from './authorization.ts';
import { createClientAuthentication } from './client-authentication.ts';
import { introspectionResource } from './introspection.ts';
import { metadataResource } from './metadata.ts';
import { accessReason } from './reasons.ts';
import { revocationResource } from './revocation.ts';
import { tokenResource } from './token.ts';

/** Creates OAuth 2.0: its endpoints and the scheme of bearer tokens. Neither is offered while no client is registered. */
export function createOAuth2(context: OAuthContext): OAuthModule {
  const open = (): boolean => context.clients.size > 0;
  const bearer = createBearerScheme({
    realm: context.realm,
    offered: open,
    findPrincipal: (token) => findPrincipal(context, token),
    findReason: (token) => bearerReason(context, token),
    explain: context.explain,
    bodyLimit: context.bodyLimit,
  });
  const endpoints = lazily(open, () => createEndpoints(context));
  return { schemes: [bearer], routes: routesTo(endpoints, Object.values(paths), open) };
}

/** Returns why a bearer token is not valid. */
async function bearerReason(context: OAuthContext, token: string): Promise<Reason> {
  const { grants } = context;
  const [found, code, refresh, oauth1] = await Promise.all([
    grants.find(token, 'oauth2', 'access'),
    grants.find(token, 'oauth2', 'code'),
    grants.find(token, 'oauth2', 'refresh'),
    grants.find(token, 'oauth1', 'access'),
  ]);
  return accessReason(context, found, code ?? refresh ?? oauth1);
}

function createEndpoints(
  context: OAuthContext,
): Readonly<Record<(typeof paths)[keyof typeof paths], Resource>> {
  const authenticate = createClientAuthentication(context);
  const consents = createConsents(context);
  return {
    [paths.metadata]: metadataResource(context),
    [paths.authorize]: authorizationResource(paths.authorize, { ...context, consents }),
    [paths.token]: tokenResource(context, authenticate),
    [paths.revoke]: revocationResource(context, authenticate),
    [paths.introspect]: introspectionResource(context, authenticate),
  };
}
