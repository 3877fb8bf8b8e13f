import { listRegistered, type RegisteredBy } from '../accounts/registered.ts';
import { readClients, readConsumers } from '../accounts/registration.ts';
import { createAuthenticator } from '../auth/authenticate.ts';
import type { SchemeLimits } from '../auth/scheme-limits.ts';
import type { Verifier } from '../auth/verifier.ts';
import { type Client, type Consumer, createRegistry, type Registry } from '../oauth/clients.ts';
import { grantsResource } from '../oauth/consent/grants-resource.ts';
import { createPageTickets } from '../oauth/consent/page-ticket.ts';
import type { OAuthContext } from '../oauth/context.ts';
import { createGrants, type Grants } from '../oauth/grants.ts';
import { readLifetimes } from '../oauth/lifetimes.ts';
import { createOAuth1 } from '../oauth/oauth1/module.ts';
import { createOAuth2 } from '../oauth/oauth2/module.ts';
import { grantsPath } from '../oauth/paths.ts';
import type { TokenEvent } from '../oauth/records.ts';
import { RevokeOnRemoval, type Role } from '../oauth/revoke-on-removal.ts';
import type { Route } from '../pipeline/router.ts';
import type { Store } from '../store/store.ts';
import type { ServiceOptions } from './options.ts';

/** The authorization server: OAuth 1.0a and 2.0. */
export interface AuthorizationServer {
  readonly schemes: readonly Verifier[];
  readonly routes: readonly Route[];
  readonly grants: Grants;
  readonly clients: Registry<Client>;
  readonly consumers: Registry<Consumer>;
  /** Revokes what was granted to users, clients and consumers that are removed. */
  readonly departures: RevokeOnRemoval;
}

/** The parts of the service that the authorization server needs. */
interface AuthorizationParts
  extends Omit<OAuthContext, 'grants' | 'clients' | 'consumers' | 'approver' | 'lifetimes' | 'masterKey'> {
  readonly store: Store;
  readonly basic: Verifier;
  readonly limits: SchemeLimits;
  readonly onGrantEvent: ((event: TokenEvent) => void) | undefined;
  /** The names of all users. */
  readonly users: Iterable<string>;
}

/** Creates the authorization server. Throws RangeError on invalid clients, consumers or lifetimes. */
export function createAuthorizationServer(
  options: ServiceOptions,
  { store, basic, limits, onGrantEvent = () => {}, users, ...others }: AuthorizationParts,
): AuthorizationServer {
  const { clock, random, rateLimiter } = others;
  const clientsById = readRegistrations(options.clients, (all) => readClients(all, others.settings.scopes));
  const consumersByKey = readRegistrations(options.consumers, (all) => readConsumers(all));
  const names = {
    user: new Set(users),
    client: new Set(clientsById.keys()),
    consumer: new Set(consumersByKey.keys()),
  };
  const revocation = new RevokeOnRemoval(names, store, clock, onGrantEvent);
  if (options.store !== undefined) revocation.compare(rolesIn(options));
  const grants = createGrants({ store, clock, random, onEvent: onGrantEvent, revocation });
  const clients = observeRegistry(createRegistry(clientsById), (all) => revocation.setNames('client', all));
  const consumers = observeRegistry(createRegistry(consumersByKey), (all) =>
    revocation.setNames('consumer', all),
  );
  const context: OAuthContext = {
    ...others,
    grants,
    clients,
    consumers,
    approver: createAuthenticator([basic], rateLimiter, limits),
    lifetimes: readLifetimes(options.lifetimes),
    masterKey: options.masterKey ?? random(32),
  };
  const modules = [createOAuth2(context), createOAuth1(context)];
  const tickets = createPageTickets({ ...context, lifetime: context.lifetimes.ticket });
  const page: Route = {
    template: grantsPath,
    resource: grantsResource({ ...context, tickets }),
    open: () => clients.size > 0 || consumers.size > 0,
  };
  return {
    schemes: modules.flatMap(({ schemes }) => schemes),
    routes: [...modules.flatMap(({ routes }) => routes), page],
    grants,
    clients,
    consumers,
    departures: revocation,
  };
}

/** Reads registrations. If there are none, the module that reads them does no work. */
function readRegistrations<Option, T>(
  options: RegisteredBy<Option> | undefined,
  read: (options: RegisteredBy<Option>) => ReadonlyMap<string, T>,
): ReadonlyMap<string, T> {
  return options === undefined || listRegistered(options).length === 0 ? new Map() : read(options);
}

/** Returns the roles whose names the options list. Names of the other roles may be passed later. */
function rolesIn({ users, clients, consumers }: ServiceOptions): readonly Role[] {
  const listed = { user: users, client: clients, consumer: consumers };
  return (['user', 'client', 'consumer'] as const).filter((role) => listed[role] !== undefined);
}

/** Returns the registry such that `onReplace` is called with all names when its entries are replaced. */
function observeRegistry<T>(
  registry: Registry<T>,
  onReplace: (names: Iterable<string>) => void,
): Registry<T> {
  return {
    find: (name) => registry.find(name),
    some: (is) => registry.some(is),
    get size() {
      return registry.size;
    },
    replace(all) {
      registry.replace(all);
      onReplace(all.keys());
    },
  };
}
