import { listRegistered } from '../accounts/registered.ts';
import type { QuotaSnapshot } from '../auth/quota.ts';
import type { VerifiedScheme } from '../auth/verified-scheme.ts';
import { systemClock } from '../clock.ts';
import type { Collection } from '../collections/declaration.ts';
import { formatDate } from '../http/headers/date.ts';
import type { Response } from '../http/message.ts';
import type { RemovedNames } from '../oauth/revoke-on-removal.ts';
import type { Observer } from '../pipeline/observer.ts';
import { computeNoncesWindow, listSchemes } from '../service/authentication.ts';
import { defaultLimits, type ServiceOptions } from '../service/options.ts';
import { type ControllableService, createControllableService } from '../service/service.ts';
import { checkDistinctSecrets } from '../service/user-checks.ts';
import { createMemoryStore } from '../store/memory.ts';
import { bucketSpanFor, createNonces } from '../store/nonces/nonces.ts';
import type { Store } from '../store/store.ts';
import { tokenUser } from './auth/token-user.ts';
import { type ClaimedUser, claimedUserBy } from './claimed-user.ts';
import { createEvents, type Events } from './events.ts';
import { createFaults, type FaultsPart } from './faults/faults.ts';
import { createJournal, type JournalPart } from './journal/journal.ts';
import { KnownCredentials } from './journal/known-credentials.ts';
import { MatchedRequests } from './matched-requests.ts';
import type { DoubleOptions } from './options.ts';
import type { PartnerPart, PreparedPartner } from './partner/partner.ts';
import { createDoubleTime, type DoubleTime } from './state/clock.ts';
import { createDoubleNonces, type DoubleNonces } from './state/nonces.ts';
import type { SeededRandom } from './state/random.ts';
import { createDoubleRoutes, type DoubleRoutes } from './state/routes.ts';
import { createItems, type Items } from './state/seed.ts';
import type { Snapshottable } from './state/snapshot.ts';
import { createState, type State } from './state/state.ts';
import { createDoubleUsers, type DoubleUsers } from './state/users.ts';
import { createStubs, type StubsPart } from './stubs/stubs.ts';

/** The collections that a service serves, and the store that holds their items. */
export interface ServedData {
  readonly collections: () => readonly Collection[];
  readonly store: Store;
}

/** A service that can be controlled, with the parts that control it. */
export interface ComposedService {
  /** The options that the control functions read. */
  readonly options: Pick<DoubleOptions, 'clients' | 'consumers' | 'lifetimes' | 'publicUrl' | 'aliases'>;
  readonly service: ControllableService;
  /** The configured schemes. */
  readonly schemes: readonly VerifiedScheme[];
  readonly time: DoubleTime;
  readonly users: DoubleUsers;
  readonly nonces: Pick<DoubleNonces, 'burn' | 'size'>;
  readonly faults: FaultsPart;
  readonly journal: JournalPart;
  readonly events: Events;
  /** The key from which token secrets of OAuth 1.0a are derived. */
  readonly masterKey: Uint8Array;
  readonly random: (size: number) => Uint8Array;
  readonly stubs: StubsPart;
  /** The partner's document; undefined if there is none. */
  readonly partner: PartnerPart | undefined;
  /** The collections and their store. */
  readonly data: ServedData;
}

/** A controlled service that holds all data in memory. */
export interface ComposedDouble extends ComposedService {
  readonly nonces: DoubleNonces;
  readonly routes: DoubleRoutes;
  readonly items: Items;
  readonly state: State;
}

/** The length in bytes of the key from which token secrets are derived. */
const masterKeyBytes = 32;

/**
 * Composes a double of parts whose whole state is in memory and can be restored.
 * @param prepared the partner's document. Default: none
 * @param limitedExplanations whether an explanation takes at most 10 ms, as in a server. Default: false
 * @throws RangeError or DeclarationError if an option is invalid
 */
export function composeDouble(
  options: DoubleOptions,
  random: SeededRandom,
  prepared?: PreparedPartner,
  limitedExplanations = false,
): ComposedDouble {
  const { randomSeed: _, now, https: __, users: declared = {}, seed = {}, ...others } = options;
  const { journal: bounds, pendingFaults: ___, unref: ____, tls = 'assumed', ...placed } = others;
  const { port: _____, securePort: ______, aliases = [], stubs: declaredStubs, ...served } = placed;
  const { partner: _______, ...given } = served;
  const { onError } = options;
  const schemes = listSchemes(options);
  const events = createEvents(onError);
  const time = createDoubleTime(systemClock, now, () => nonces.restoreClaims());
  const nonces = createComposedNonces({ ...options, schemes }, random, time, events, () =>
    faults.burnsNonce(),
  );
  const store = createMemoryStore({ storeId: Buffer.from(random.bytes(4)).toString('hex') });
  const routes = createDoubleRoutes(options);
  const { xmlDepth: maxDepth } = { ...defaultLimits, ...options.limits };
  const users = createDoubleUsers(declared, random.bytes);
  const claimedUser = claimedUserBy(users, (request) => service.claimedName(request));
  const requests = createMatchedRequests(options, claimedUser, () => service);
  const partner = prepared?.create({
    seed: random.seed,
    now: () => time.clock.now(),
    maxDepth,
    strictQuery: options.strictQuery ?? true,
    isCredential: (name) => service.isCredentialParameter(name),
    onError,
    requests,
  });
  const stubs = createStubs({ schemes, maxDepth, check: partner, requests, stubs: declaredStubs });
  const items = createItems(store, () => routes.state.collections, time.clock, seed);
  const masterKey = random.bytes(masterKeyBytes);
  const faults = createFaults({
    clock: time.clock,
    users,
    claimedUser,
    requests,
    complete: (response, request, trace) => service.share(response, request, trace),
    grants: () => service.oauth.grants,
    names: () => [...users.all.keys(), ...listNames(registered.clients)],
  });
  const known = new KnownCredentials(masterKey);
  known.addUsers(users.all);
  known.addRegistered(options);
  const journal = createJournal(
    {
      ...bounds,
      clock: time.clock,
      known,
      limitedExplanations,
      onEntry: (entry) => events.emit('request', entry),
    },
    { claimedUser, schemes },
  );
  let registered: Pick<ServiceOptions, 'clients' | 'consumers'> = options;
  const observer = skewDates(time, journal.observer(faults));
  const controllable = createControllableService(
    {
      // A test suite fails to authenticate far more often than the default limit permits.
      maxAuthFailures: 0,
      strictQuery: true,
      ...given,
      ...routes.state,
      clock: faults.clock,
      random: known.remembering(random.bytes),
      store,
      nonces,
      masterKey,
      users: users.all,
      observer: partner === undefined ? observer : partner.observe(observer),
    },
    {
      onGrantEvent: (event) => events.emit(event.type, event),
      aliases,
      layer: stubs.layer,
      fallbacks: [...(partner === undefined ? [] : [partner.fallback]), stubs.fallback],
      scopes: prepared?.scopes,
      assumesTls: tls === 'assumed',
    },
  );
  const service = observeRegistrations(controllable, (changed) => {
    registered = { ...registered, ...changed };
    known.addRegistered(changed);
  });
  users.onChange((all) => {
    checkDistinctSecrets({ ...registered, users: all });
    service.replaceUsers(all);
    known.addUsers(all);
    known.addPrivateKeys(users.listPrivateKeys());
  });
  routes.onChange((state) => service.replaceServed(state));
  const revocation = createRevocationState(service);
  const state = createState({
    items,
    departures: revocation,
    users,
    routes,
    stubs,
    ...(partner !== undefined && { partner }),
    nonces,
    random,
    time,
    quotas: createQuotaState(service),
    faults,
    journal,
  });
  return {
    get options() {
      return { ...options, ...registered };
    },
    events,
    faults,
    journal,
    time,
    nonces,
    routes,
    stubs,
    partner,
    items,
    users,
    masterKey,
    service,
    schemes,
    state,
    random: random.bytes,
    data: { collections: () => routes.state.collections, store },
  };
}

/** Creates what compares requests with rules. */
export function createMatchedRequests(
  { limits, onError }: Pick<ServiceOptions, 'limits' | 'onError'>,
  claimedUser: ClaimedUser,
  service: () => ControllableService,
): MatchedRequests {
  const { body: bodyLimit, xmlDepth: maxDepth } = { ...defaultLimits, ...limits };
  return new MatchedRequests({
    // The store may fail; then the request names no user.
    findUser: async (request) =>
      claimedUser(request) ?? (await tokenUser(request, service().oauth.grants).catch(() => undefined)),
    findScheme: (request) => service().claimedScheme(request),
    bodyLimit,
    maxDepth,
    onError,
  });
}

/** Calls `onChange` after clients or consumers of the service were replaced. */
function observeRegistrations(
  service: ControllableService,
  onChange: (changed: Pick<ServiceOptions, 'clients' | 'consumers'>) => void,
): ControllableService {
  return {
    ...service,
    get router() {
      return service.router;
    },
    replaceClients(clients) {
      service.replaceClients(clients);
      onChange({ clients });
    },
    replaceConsumers(consumers) {
      service.replaceConsumers(consumers);
      onChange({ consumers });
    },
  };
}

/** The removed names whose tokens were revoked, as a part of snapshots. Initially there are none. */
function createRevocationState({
  oauth: { departures: revocation },
}: ControllableService): Snapshottable<RemovedNames> {
  const initial = revocation.snapshot();
  return {
    snapshot: () => revocation.snapshot(),
    restore: (names) => revocation.restore(names),
    reset: () => revocation.restore(initial),
  };
}

/** The counts of requests, as a part of snapshots. Initially there are none. */
function createQuotaState({ quotas }: ControllableService): Snapshottable<QuotaSnapshot> {
  return {
    snapshot: () => quotas.snapshot(),
    restore: (counts) => quotas.restore(counts),
    reset: () => quotas.restore(new Map()),
  };
}

function createComposedNonces(
  options: Pick<DoubleOptions, 'window' | 'lifetimes' | 'maxNonces' | 'maxNoncesPerUser'> & {
    readonly schemes: readonly VerifiedScheme[];
  },
  random: SeededRandom,
  time: DoubleTime,
  events: Events,
  burns: () => boolean,
) {
  const key = random.bytes(16);
  const { maxNonces: max = 10_000_000, maxNoncesPerUser: maxPerUser } = options;
  const bucketSpan = bucketSpanFor(computeNoncesWindow(options, options.schemes));
  const monotonic = (): number => time.clock.steady();
  const make = () => createNonces({ bucketSpan, max, maxPerUser, key, monotonic });
  return createDoubleNonces(
    make,
    (user) => events.emit('nonce-replayed', { type: 'nonce-replayed', user }),
    burns,
  );
}

/** Wraps an observer so that the `Date` of each response is moved by the clock's skew. */
export function skewDates(time: DoubleTime, observer: Observer): Observer {
  const now = (): number => time.clock.now() + time.skew;
  return {
    observe(request, answer) {
      const responding = observer.observe(request, answer);
      if (time.skew === 0) return responding;
      return responding.then((response) => {
        redate(response, now());
        return response;
      });
    },
    observeRefused(problem, request, response, received) {
      if (time.skew !== 0) redate(response, now());
      observer.observeRefused(problem, request, response, received);
    },
  };
}

/** Returns the ids of registered clients, or the keys of consumers. */
export function listNames(
  registered: Readonly<Record<string, unknown>> | ReadonlyMap<string, unknown> = {},
): Iterable<string> {
  return listRegistered(registered).map(([name]) => name);
}

/** Sets the `Date` of a response to `time` (ms). */
function redate({ headers: fields }: Response, time: number): void {
  const date = fields.find(([name]) => name === 'Date');
  if (date !== undefined) date[1] = formatDate(time);
}
