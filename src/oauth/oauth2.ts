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

/**
 * Makes it now where there is already somebody whom it is for, so that what it draws comes before all that requests draw;
 * and otherwise when somebody comes, since to most servers nobody does.
 */
export function madeFor<T>(somebody: () => boolean, make: () => T): () => T {
  let made = somebody() ? make() : undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** The routes of endpoints, each of which is made with the others. */
export function routesTo<Path extends string>(
  endpoints: () => Readonly<Record<Path, Resource>>,
  templates: readonly Path[],
  open: () => boolean,
): readonly Route[] {
  return templates.map((template) => ({
    template,
    get resource() {
      return endpoints()[template];
    },
    open,
  }));
}

/** OAuth 2.0: its endpoints, and bearer tokens at the resources. Without a client there is nothing of it. */
export function createOAuth2(parts: OAuthParts): Mechanics {
  const open = (): boolean => parts.clients.size > 0;
  const bearer = createBearerScheme({
    realm: parts.realm,
    offered: open,
    principalOf: (token) => principalOf(parts, token),
  });
  const endpoints = madeFor(open, () => endpointsOf(parts));
  return { schemes: [bearer], routes: routesTo(endpoints, Object.values(paths), open) };
}

function endpointsOf(parts: OAuthParts): Readonly<Record<(typeof paths)[keyof typeof paths], Resource>> {
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
