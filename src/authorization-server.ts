import { createAuthenticator } from './auth/authenticate.ts';
import type { Scheme } from './auth/scheme.ts';
import { type Client, type Consumer, createRegistry, type Registry } from './oauth/clients.ts';
import { createGrants, type GrantEvent, type Grants } from './oauth/grants.ts';
import { defaultLifetimes } from './oauth/lifetimes.ts';
import { createOAuth1 } from './oauth/oauth1.ts';
import { createOAuth2 } from './oauth/oauth2.ts';
import type { OAuthParts } from './oauth/parts.ts';
import { clientsOf, consumersOf } from './registration.ts';
import type { Route } from './router.ts';
import type { ServiceOptions } from './service-options.ts';
import type { Store } from './store/store.ts';

/** Both mechanisms of OAuth, composed out of what the service has. */
export interface AuthorizationServer {
  readonly schemes: readonly Scheme[];
  readonly routes: readonly Route[];
  readonly grants: Grants;
  readonly clients: Registry<Client>;
  readonly consumers: Registry<Consumer>;
}

/** What the service gives to it. */
export interface AuthorizationParts
  extends Omit<OAuthParts, 'grants' | 'clients' | 'consumers' | 'approver' | 'lifetimes' | 'masterKey'> {
  readonly store: Store;
  readonly basic: Scheme;
  readonly granted: ((event: GrantEvent) => void) | undefined;
}

/** Composes the authorization server. Throws RangeError on clients, consumers or lifetimes that cannot be. */
export function createAuthorizationServer(
  options: ServiceOptions,
  { store, basic, granted, ...given }: AuthorizationParts,
): AuthorizationServer {
  const { clock, random, throttle } = given;
  const clients = createRegistry(clientsOf(options.clients ?? {}));
  const consumers = createRegistry(consumersOf(options.consumers ?? {}));
  const grants = createGrants({ store, clock, random, ...(granted && { told: granted }) });
  const parts: OAuthParts = {
    ...given,
    grants,
    clients,
    consumers,
    approver: createAuthenticator([basic], throttle),
    lifetimes: { ...defaultLifetimes, ...options.lifetimes },
    masterKey: options.masterKey ?? random(32),
  };
  const second = createOAuth2(parts);
  const first = createOAuth1(parts);
  return {
    schemes: [...second.schemes, ...first.schemes],
    routes: [...second.routes, ...first.routes],
    ...{ grants, clients, consumers },
  };
}
