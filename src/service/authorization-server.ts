import { clientsOf, consumersOf } from '../accounts/registration.ts';
import { createAuthenticator } from '../auth/authenticate.ts';
import type { Scheme } from '../auth/scheme.ts';
import { type Client, type Consumer, createRegistry, type Registry } from '../oauth/clients.ts';
import type { OAuthContext } from '../oauth/context.ts';
import { createGrants, type Grants } from '../oauth/grants.ts';
import { defaultLifetimes } from '../oauth/lifetimes.ts';
import { createOAuth1 } from '../oauth/oauth1/module.ts';
import { createOAuth2 } from '../oauth/oauth2/module.ts';
import type { GrantEvent } from '../oauth/records.ts';
import { RevokeOnRemoval, type Role } from '../oauth/revoke-on-removal.ts';
import type { Route } from '../pipeline/router.ts';
import type { Store } from '../store/store.ts';
import type { ServiceOptions } from './options.ts';

/** Both mechanisms of OAuth, composed out of what the service has. */
export interface AuthorizationServer {
  readonly schemes: readonly Scheme[];
  readonly routes: readonly Route[];
  readonly grants: Grants;
  readonly clients: Registry<Client>;
  readonly consumers: Registry<Consumer>;
  /** What was granted to names that nobody has any more. */
  readonly departures: RevokeOnRemoval;
}

/** What the service gives to it. */
export interface AuthorizationParts
  extends Omit<OAuthContext, 'grants' | 'clients' | 'consumers' | 'approver' | 'lifetimes' | 'masterKey'> {
  readonly store: Store;
  readonly basic: Scheme;
  readonly granted: ((event: GrantEvent) => void) | undefined;
  /** The names of all users. */
  readonly users: Iterable<string>;
}

/** Composes the authorization server. Throws RangeError on clients, consumers or lifetimes that cannot be. */
export function createAuthorizationServer(
  options: ServiceOptions,
  { store, basic, granted, users, ...given }: AuthorizationParts,
): AuthorizationServer {
  const { clock, random, rateLimiter } = given;
  const second = registered(options.clients, (all) => clientsOf(all));
  const first = registered(options.consumers, (all) => consumersOf(all));
  const names = { user: new Set(users), client: new Set(second.keys()), consumer: new Set(first.keys()) };
  const told = granted ?? (() => {});
  const revocation = new RevokeOnRemoval(names, store, clock, told);
  if (options.store !== undefined) revocation.compare(rolesIn(options));
  const grants = createGrants({ store, clock, random, onEvent: told, revocation });
  const clients = following(createRegistry(second), (all) => revocation.setNames('client', all));
  const consumers = following(createRegistry(first), (all) => revocation.setNames('consumer', all));
  const parts: OAuthContext = {
    ...given,
    grants,
    clients,
    consumers,
    approver: createAuthenticator([basic], rateLimiter),
    lifetimes: { ...defaultLifetimes, ...options.lifetimes },
    masterKey: options.masterKey ?? random(32),
  };
  const mechanisms = [createOAuth2(parts), createOAuth1(parts)];
  return {
    schemes: mechanisms.flatMap(({ schemes }) => schemes),
    routes: mechanisms.flatMap(({ routes }) => routes),
    ...{ grants, clients, consumers, departures: revocation },
  };
}

/** Nobody where nobody is registered, without loading what reads a registration. */
function registered<Options extends object, T>(
  options: Options | undefined,
  read: (options: Options) => ReadonlyMap<string, T>,
): ReadonlyMap<string, T> {
  if (options === undefined) return new Map();
  const count = options instanceof Map ? options.size : Object.keys(options).length;
  return count === 0 ? new Map() : read(options);
}

/** Of whom the options say who there is: who leaves them out may say so later. */
function rolesIn({ users, clients, consumers }: ServiceOptions): readonly Role[] {
  const said = { user: users, client: clients, consumer: consumers };
  return (['user', 'client', 'consumer'] as const).filter((role) => said[role] !== undefined);
}

/** The registry, with `told` given all names when others take their place. */
function following<T>(registry: Registry<T>, told: (names: Iterable<string>) => void): Registry<T> {
  return {
    find: (name) => registry.find(name),
    some: (is) => registry.some(is),
    get size() {
      return registry.size;
    },
    replace(all) {
      registry.replace(all);
      told(all.keys());
    },
  };
}
