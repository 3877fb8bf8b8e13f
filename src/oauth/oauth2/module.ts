import { createBearerScheme } from '../../auth/bearer.ts';
import type { Resource } from '../../pipeline/resource.ts';
import { createConsents } from '../consent/consents.ts';
import type { OAuthContext } from '../context.ts';
import { lazily, type OAuthModule, routesTo } from '../module.ts';
import { oauth2Paths as paths } from '../paths.ts';
import { principalOf } from '../token-holder.ts';
import { authorizationResource } from './authorization.ts';
import { createClientAuthentication } from './client-authentication.ts';
import { introspectionResource } from './introspection.ts';
import { metadataResource } from './metadata.ts';
import { revocationResource } from './revocation.ts';
import { tokenResource } from './token.ts';

/** OAuth 2.0: its endpoints, and bearer tokens at the resources. Without a client there is nothing of it. */
export function createOAuth2(parts: OAuthContext): OAuthModule {
  const open = (): boolean => parts.clients.size > 0;
  const bearer = createBearerScheme({
    realm: parts.realm,
    offered: open,
    principalOf: (token) => principalOf(parts, token),
    bodyLimit: parts.bodyLimit,
  });
  const endpoints = lazily(open, () => endpointsOf(parts));
  return { schemes: [bearer], routes: routesTo(endpoints, Object.values(paths), open) };
}

function endpointsOf(parts: OAuthContext): Readonly<Record<(typeof paths)[keyof typeof paths], Resource>> {
  const authenticate = createClientAuthentication(parts);
  const consents = createConsents(parts);
  return {
    [paths.metadata]: metadataResource(parts),
    [paths.authorize]: authorizationResource(paths.authorize, { ...parts, consents }),
    [paths.token]: tokenResource(parts, authenticate),
    [paths.revoke]: revocationResource(parts, authenticate),
    [paths.introspect]: introspectionResource(parts, authenticate),
  };
}
