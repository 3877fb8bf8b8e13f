import { listRegistered, type RegisteredBy } from '../accounts/registered.ts';
import { readClients, readConsumers } from '../accounts/registration.ts';
import type { UserRights } from '../accounts/user-rights.ts';
import { readDuration } from '../duration.ts';
import { createRegistry } from '../oauth/clients.ts';
import { grantsResource } from '../oauth/consent/grants-resource.ts';
import type { OAuthContext } from '../oauth/context.ts';
import { Grants } from '../oauth/grants.ts';
import { readLifetimes } from '../oauth/lifetimes.ts';
import { createOAuth1 } from '../oauth/oauth1/module.ts';
import { draftAccessToken } from '../oauth/oauth2/access-tokens.ts';
import { createOAuth2 } from '../oauth/oauth2/module.ts';
import type { SigningKeys } from '../oauth/oauth2/signing-keys.ts';
import type { TokenSigner } from '../oauth/oauth2/token-signer.ts';
import type { TrustedIssuers, TrustedIssuersOptions } from '../oauth/oauth2/trusted-issuers.ts';
import { signsTokens } from '../oauth/oauth2-options.ts';
import { grantsPath } from '../oauth/paths.ts';
import type { TokenEvent } from '../oauth/records.ts';
import { RevokeOnRemoval, type Role } from '../oauth/revoke-on-removal.ts';
import type { Route } from '../pipeline/router.ts';
import { createAuthenticator } from '../schemes/authenticate.ts';
import type { Verifier } from '../schemes/verifier.ts';
import type { Store } from '../store/store.ts';
import type { ServiceOptions } from './options.ts';

/** The authorization server: OAuth 1.0a and 2.0. */
export type AuthorizationServer = ReturnType<typeof createAuthorizationServer>;

/** The parts of the service that the authorization server needs. */
interface AuthorizationParts
  extends Omit<
    OAuthContext,
    | 'grants'
    | 'clients'
    | 'consumers'
    | 'approver'
    | 'lifetimes'
    | 'masterKey'
    | 'signer'
    | 'issuers'
    | 'here'
  > {
  readonly store: Store;
  readonly basic: Verifier;
  readonly limits: UserRights;
  readonly onGrantEvent: ((event: TokenEvent) => void) | undefined;
  /** The names of all users. */
  readonly users: Iterable<string>;
}

/** Creates the authorization server. Throws RangeError on invalid clients, consumers or lifetimes. */
export function createAuthorizationServer(
  options: ServiceOptions,
  { store, basic, limits, onGrantEvent = () => {}, users, ...others }: AuthorizationParts,
) {
  const { clock, random, rateLimiter, settings } = others;
  const here = others.alterations === undefined ? 'this service' : 'this double';
  const loaded = loadExtensions(options, {
    ...others,
    here,
    isRegistered: (user) => revocation.isUsed('user', user),
  });
  const clientsById = readRegistrations(options.clients, (all) =>
    readClients(all, settings.scopes, settings.documented),
  );
  const consumersByKey = readRegistrations(options.consumers, (all) => readConsumers(all));
  const names = {
    user: new Set(users),
    client: new Set(clientsById.keys()),
    consumer: new Set(consumersByKey.keys()),
  };
  const revocation = new RevokeOnRemoval(names, store, clock, onGrantEvent);
  if (options.store !== undefined) revocation.compare(rolesIn(options));
  const grants = new Grants({ store, clock, random, onEvent: onGrantEvent, revocation });
  const clients = createRegistry(clientsById, (all) => revocation.setNames('client', all));
  const consumers = createRegistry(consumersByKey, (all) => revocation.setNames('consumer', all));
  const context: OAuthContext = {
    ...others,
    grants,
    clients,
    consumers,
    approver: createAuthenticator([basic], rateLimiter, limits),
    lifetimes: readLifetimes(options.lifetimes),
    masterKey: options.masterKey ?? random(32),
    here,
    signer: () => loaded.signer,
    issuers: () => loaded.issuers,
  };
  const modules = [createOAuth2(context), createOAuth1(context)];
  const page: Route = {
    template: grantsPath,
    resource: grantsResource(context),
    open: () => clients.size > 0 || consumers.size > 0,
  };
  return {
    schemes: modules.flatMap(({ schemes }) => schemes),
    routes: [...modules.flatMap(({ routes }) => routes), page],
    grants,
    clients,
    consumers,
    /** Revokes what was granted to users, clients and consumers that are removed. */
    departures: revocation,
    /** Resolves when the code that signed tokens need is loaded; undefined if none is needed. */
    ready: loaded.ready,
    /** Whether tokens are signed. */
    signs: signsTokens(settings),
    /** Returns the draft of an access token. */
    draftAccessToken: (parts: Parameters<typeof draftAccessToken>[1]) => draftAccessToken(context, parts),
    /** The keys that sign tokens; undefined if none are signed. */
    get keys(): SigningKeys | undefined {
      return loaded.signer?.keys;
    },
  };
}

/** What signs tokens, and what verifies those of others. Both are undefined until their code is loaded. */
interface Extensions {
  signer: TokenSigner | undefined;
  issuers: TrustedIssuers | undefined;
  /** Resolves when the code is loaded; undefined if none is needed. */
  readonly ready: Promise<void> | undefined;
}

/** Loads the code that signed tokens need, if the options need some. */
function loadExtensions(
  { signingKeys = [], lifetimes, clients = {} }: ServiceOptions,
  {
    clock,
    accounts,
    settings,
    here,
    isRegistered,
  }: Pick<OAuthContext, 'clock' | 'accounts' | 'settings' | 'here'> &
    Pick<TrustedIssuersOptions, 'isRegistered'>,
): Extensions {
  const { issuers, signing: algorithm } = settings;
  const own = listRegistered(clients).map(([, client]) => readDuration(client.lifetimes?.access, 1000) ?? 0);
  const lifetime = Math.max(readLifetimes(lifetimes).access, ...own);
  const loadSigner = async (): Promise<void> => {
    const { createTokenSigner } = await import('../oauth/oauth2/token-signer.ts');
    extensions.signer = createTokenSigner(signingKeys, { algorithm, clock, lifetime });
  };
  const loadIssuers = async (): Promise<void> => {
    const [{ createTrustedIssuers }, { fetchJson }] = await Promise.all([
      import('../oauth/oauth2/trusted-issuers.ts'),
      import('../net/fetch-json.ts'),
    ]);
    extensions.issuers = createTrustedIssuers(issuers, {
      clock,
      accounts,
      here,
      isRegistered,
      fetchJson: (url) => fetchJson(url, keyLimits),
    });
  };
  const loading = [
    ...(signsTokens(settings) ? [loadSigner()] : []),
    ...(Object.keys(issuers).length > 0 ? [loadIssuers()] : []),
  ];
  const ready = loading.length === 0 ? undefined : Promise.all(loading).then(() => {});
  const extensions: Extensions = { signer: undefined, issuers: undefined, ready };
  return extensions;
}

/** The limits of a set of keys that is fetched. */
const keyLimits = { timeout: 2000, length: 262_144 };

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
