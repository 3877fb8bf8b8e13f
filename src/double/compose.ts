import { listRegistered } from '../accounts/registered.ts';
import type { AuthScheme } from '../auth/auth-scheme.ts';
import type { QuotaSnapshot } from '../auth/quota.ts';
import { systemClock } from '../clock.ts';
import type { Collection } from '../collections/declaration.ts';
import type { Seed } from '../collections/seed.ts';
import { formatDate } from '../http/headers/date.ts';
import type { Response } from '../http/message.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { RemovedNames } from '../oauth/revoke-on-removal.ts';
import type { Observer } from '../pipeline/observer.ts';
import { computeNoncesWindow, listSchemes } from '../service/authentication.ts';
import { defaultLimits, type ServiceOptions } from '../service/options.ts';
import { type ControllableService, createControllableService } from '../service/service.ts';
import { checkDistinctSecrets } from '../service/user-checks.ts';
import { createMemoryStore, type MemoryStore } from '../store/memory.ts';
import { bucketSpanFor, createNonces, type MemoryNonces } from '../store/nonces/nonces.ts';
import type { Store } from '../store/store.ts';
import { createTokenMistakes, type TokenMistakes } from './auth/token-mistakes.ts';
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
import {
  type BurnableNonces,
  createBurnableNonces,
  createRestorableNonces,
  type RestorableNonces,
} from './state/nonces.ts';
import type { SeededRandom } from './state/random.ts';
import { createDoubleRoutes, type DoubleRoutes } from './state/routes.ts';
import { addItems, createItems, type Items } from './state/seed.ts';
import type { Snapshottable } from './state/snapshot.ts';
import { createState, type State } from './state/state.ts';
import { createDoubleUsers, type DoubleUsers } from './state/users.ts';
import { KeptItems } from './stubs/kept-items.ts';
import { createStubs, type StubsPart } from './stubs/stubs.ts';

/** The collections that a service serves, and the store that holds their items. */
export interface ServedData {
  readonly collections: () => readonly Collection[];
  readonly store: Store;
}

/** The options of a core: those of a service, and those that only a double has. */
export interface CoreOptions
  extends Omit<ServiceOptions, 'clock' | 'random' | 'observer' | 'users'>,
    Pick<DoubleOptions, 'users' | 'now' | 'aliases' | 'stubs' | 'journal' | 'tls'> {}

/** Where random values come from. */
interface RandomSource {
  /** The seed of the values that are drawn for a partner's document. */
  readonly seed: string;
  bytes(size: number): Uint8Array;
}

/** What a core consists of beside its options. */
export interface CoreParts {
  readonly random: RandomSource;
  /** The store and the random numbers of a core whose whole state is in memory. Default: `store` of the options. */
  readonly memory?: { readonly store: MemoryStore; readonly random: SeededRandom } | undefined;
  /** The document of a partner. Default: none. */
  readonly partner?: PreparedPartner | undefined;
  /** Whether requests are recorded, and faults and the clock's skew are applied to them. Default: true. */
  readonly observed?: boolean;
  /** Whether an explanation takes at most 10 ms, as in a server. Default: false. */
  readonly limitedExplanations?: boolean;
}

/** The state of a core that holds everything in memory. */
export interface MemoryState extends State {
  /** Adds items: all, or none if one is invalid. Throws DeclarationError that names the invalid item and field. */
  seed(seed: Seed): void;
}

/** A service with all that a test controls and observes of it. */
export interface Core {
  /** The options that the control functions read. */
  readonly options: Pick<
    CoreOptions,
    'clients' | 'consumers' | 'lifetimes' | 'publicUrl' | 'aliases' | 'schemes' | 'window' | 'oauth2' | 'tls'
  >;
  readonly service: ControllableService;
  /** The configured schemes. */
  readonly schemes: readonly AuthScheme[];
  readonly time: DoubleTime;
  readonly users: DoubleUsers;
  readonly nonces: Pick<BurnableNonces, 'burn' | 'size'>;
  readonly faults: FaultsPart;
  readonly journal: JournalPart;
  readonly events: Events;
  /** The key from which token secrets of OAuth 1.0a are derived. */
  readonly masterKey: Uint8Array;
  readonly random: (size: number) => Uint8Array;
  readonly routes: DoubleRoutes;
  readonly stubs: StubsPart;
  /** The planned mistakes of token responses. */
  readonly tokenMistakes: TokenMistakes;
  /** The items that stubs keep. */
  readonly keptItems: KeptItems;
  /** The partner's document; undefined if there is none. */
  readonly partner: PartnerPart | undefined;
  /** The collections and their store. */
  readonly data: ServedData;
  /** Adds items: all, or none if one is invalid. Throws DeclarationError that names the invalid item and field. */
  seed(seed: Seed): MaybePromise<void>;
  /** The state as a whole; undefined if some of it is not in memory. */
  readonly memory: MemoryState | undefined;
}

/** A core that holds everything in memory. */
export interface MemoryCore extends Core {
  readonly memory: MemoryState;
}

/** The length in bytes of the key from which token secrets are derived. */
const masterKeyBytes = 32;

/**
 * Composes a service that a test controls: in memory, where its whole state can be restored, or on a store.
 * @throws RangeError or DeclarationError if an option is invalid
 */
export function compose(
  options: CoreOptions,
  parts: CoreParts & { readonly memory: NonNullable<CoreParts['memory']> },
): MemoryCore;
/** @throws RangeError or DeclarationError if an option is invalid */
export function compose(options: CoreOptions, parts: CoreParts): Core;
export function compose(
  options: CoreOptions,
  { random, memory, partner: prepared, observed = true, limitedExplanations = false }: CoreParts,
): Core {
  const {
    now,
    users: declared = {},
    aliases = [],
    stubs: declaredStubs,
    journal: bounds,
    ...served
  } = options;
  const { tls = 'required', seed, ...given } = served;
  const { onError } = options;
  const schemes = listSchemes(options);
  const events = createEvents(onError);
  const onReplay = (user: string): void => events.emit('nonce-replayed', { type: 'nonce-replayed', user });
  const time = createDoubleTime(systemClock, now, () => restorable?.nonces.restoreClaims());
  const makeNonces = nonceMaker({ ...options, schemes }, random, time);
  const routes = createDoubleRoutes(options);
  const restorable = memory && {
    random: memory.random,
    nonces: createRestorableNonces(makeNonces),
    items: createItems(memory.store, () => routes.state.collections, time.clock, seed ?? {}),
  };
  const stored = restorable?.nonces ?? options.nonces ?? options.store?.nonces ?? makeNonces();
  const nonces = createBurnableNonces(stored, () => faults.burnsNonce(), onReplay);
  const { xmlDepth: maxDepth } = { ...defaultLimits, ...options.limits };
  const users = createDoubleUsers(declared, random.bytes);
  const claimedUser = claimedUserBy(users, (request) => service.claimedName(request));
  const requests = createMatchedRequests(options, claimedUser, () => service);
  const partner = prepared?.create({
    seed: random.seed,
    now: () => time.clock.now(),
    maxDepth,
    strictQuery: options.strictQuery === true,
    isCredential: (name) => service.isCredentialParameter(name),
    onError,
    requests,
  });
  const stubs = createStubs({ schemes, maxDepth, check: partner, requests, stubs: declaredStubs });
  const keptItems = new KeptItems();
  const store =
    memory?.store ??
    options.store ??
    createMemoryStore({ storeId: Buffer.from(random.bytes(4)).toString('hex') });
  const masterKey = options.masterKey ?? random.bytes(masterKeyBytes);
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
  const tokenMistakes = createTokenMistakes();
  const controllable = createControllableService(
    {
      ...given,
      ...(restorable === undefined && { seed }),
      ...routes.state,
      clock: faults.clock,
      random: known.remembering(random.bytes),
      store,
      nonces,
      masterKey,
      users: users.all,
      ...(observed && { observer: partner === undefined ? observer : partner.observe(observer) }),
    },
    {
      onGrantEvent: (event) => events.emit(event.type, event),
      alterations: tokenMistakes,
      aliases,
      layer: stubs.layer,
      fallbacks: [...(partner === undefined ? [] : [partner.fallback]), stubs.fallback],
      scopes: prepared?.scopes,
      assumesTls: tls === 'assumed',
    },
  );
  const service = observeRegistrations(controllable, users, (changed) => {
    registered = { ...registered, ...changed };
    known.addRegistered(changed);
  });
  users.onChange((all) => {
    checkDistinctSecrets({ ...registered, users: all });
    controllable.replaceUsers(all);
    known.addUsers(all);
    known.addPrivateKeys(users.listPrivateKeys());
  });
  routes.onChange((state) => service.replaceServed(state));
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
    keptItems,
    tokenMistakes,
    partner,
    users,
    masterKey,
    service,
    schemes,
    random: random.bytes,
    data: { collections: () => routes.state.collections, store },
    seed: (added) =>
      restorable === undefined
        ? addItems(store, routes.state.collections, time.clock, added)
        : restorable.items.seed(added),
    memory:
      restorable &&
      createMemoryState(service, restorable, {
        users,
        routes,
        stubs: stubs.rules,
        keptItems,
        ...(partner !== undefined && { partner }),
        burning: nonces,
        tokenMistakes,
        time,
        faults,
        journal,
      }),
  };
}

/** Creates the state as a whole, whose parts are restored in this order. */
function createMemoryState(
  service: ControllableService,
  { items, nonces, random }: { items: Items; nonces: RestorableNonces; random: SeededRandom },
  parts: Readonly<Record<string, Snapshottable>>,
): MemoryState {
  const departures = createRevocationState(service);
  const quotas = createQuotaState(service);
  const state = createState({ items, departures, ...parts, nonces, random, quotas });
  return { seed: (added) => items.seed(added), ...state };
}

/** Creates what compares requests with rules. */
function createMatchedRequests(
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

/** Wraps a service so that replaced users are those of the core, and calls `onChange` after clients or consumers were replaced. */
function observeRegistrations(
  service: ControllableService,
  users: DoubleUsers,
  onChange: (changed: Pick<ServiceOptions, 'clients' | 'consumers'>) => void,
): ControllableService {
  return {
    ...service,
    get router() {
      return service.router;
    },
    replaceUsers: (all) => users.restore(new Map(listRegistered(all))),
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

/** Returns a function that creates an empty set of nonces in memory. */
function nonceMaker(
  options: Pick<ServiceOptions, 'window' | 'lifetimes' | 'oauth2' | 'maxNonces' | 'maxNoncesPerUser'> & {
    readonly schemes: readonly AuthScheme[];
  },
  random: RandomSource,
  time: DoubleTime,
): () => MemoryNonces {
  const { maxNonces: max = 10_000_000, maxNoncesPerUser: maxPerUser } = options;
  const bucketSpan = bucketSpanFor(computeNoncesWindow(options, options.schemes));
  const monotonic = (): number => time.clock.steady();
  const key = random.bytes(16);
  return () => createNonces({ bucketSpan, max, maxPerUser, key, monotonic });
}

/** Wraps an observer so that the `Date` of each response is moved by the clock's skew. */
function skewDates(time: DoubleTime, observer: Observer): Observer {
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
