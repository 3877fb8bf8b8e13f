import { createBearerScheme } from '../auth/bearer.ts';
import type { Scheme } from '../auth/scheme.ts';
import type { Resource } from '../resource.ts';
import type { Route } from '../router.ts';
import { principalOf } from './access.ts';
import { authorizationResource } from './authorization.ts';
import { createClientAuthentication } from './client-authentication.ts';
import { createConsents } from './consent.ts';
import { introspectionResource } from './introspection.ts';
import { metadataResource, paths } from './metadata.ts';
import type { OAuthParts } from './parts.ts';
import { revocationResource } from './revocation.ts';
import { tokenResource } from './token.ts';

/** What a mechanism adds to a service. */
export interface Mechanics {
  readonly schemes: readonly Scheme[];
  readonly routes: readonly Route[];
}

/** OAuth 2.0: its endpoints, and bearer tokens at the resources. Without a client there is nothing of it. */
export function createOAuth2(parts: OAuthParts): Mechanics {
  const open = (): boolean => parts.clients.size > 0;
  const authenticate = createClientAuthentication(parts);
  const consents = createConsents(parts);
  const resources: readonly (readonly [string, Resource])[] = [
    [paths.metadata, metadataResource(parts)],
    [paths.authorize, authorizationResource(paths.authorize, { ...parts, consents })],
    [paths.token, tokenResource(parts, authenticate)],
    [paths.revoke, revocationResource(parts, authenticate)],
    [paths.introspect, introspectionResource(parts, authenticate)],
  ];
  const bearer = createBearerScheme({
    realm: parts.realm,
    offered: open,
    principalOf: (token) => principalOf(parts, token),
  });
  return {
    schemes: [bearer],
    routes: resources.map(([template, resource]) => ({ template, resource, open })),
  };
}
