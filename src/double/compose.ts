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
import { createState, type Snapshottable, type State } from './state/state.ts';
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
export function compose(options: CoreOptions, parts: CoreParts): Core {
  const basis = createBasis(options);
  const storage = openStorage(options, parts, basis);
  // After the storage, so that random numbers of a seed are drawn in one order.
  const base: Base = Object.assign(basis, {
    users: createDoubleUsers(options.users ?? {}, parts.random.bytes),
  });
  const matching = createMatching(options, parts, base, () => service);
  const { faults, stubs, keptItems, partner, tokenMistakes } = matching;
  const nonces = createBurnableNonces(storage.nonces, () => faults.burnsNonce(), base.onReplay);
  const masterKey = options.masterKey ?? parts.random.bytes(masterKeyBytes);
  const recording = createRecording(options, parts, base, matching, masterKey);
  const controllable = createCoreService(options, parts, base, {
    ...matching,
    ...recording,
    ...storage,
    nonces,
    masterKey,
  });
  const service = connect(controllable, base, recording.known);
  const { users, routes, time } = base;
  return {
    get options() {
      return { ...options, ...base.registered };
    },
    events: base.events,
    faults,
    journal: recording.journal,
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
    schemes: base.schemes,
    random: parts.random.bytes,
    data: { collections: () => routes.state.collections, store: storage.store },
    seed: (added) =>
      storage.restorable === undefined
        ? addItems(storage.store, routes.state.collections, time.clock, added)
        : storage.restorable.items.seed(added),
    memory:
      storage.restorable &&
      createMemoryState(service, storage.restorable, {
        users,
        routes,
        stubs: stubs.rules,
        keptItems,
        ...(partner !== undefined && { partner }),
        burning: nonces,
        tokenMistakes,
        time,
        faults,
        journal: recording.journal,
      }),
  };
}

/** What the parts of a core have in common, without users. */
interface Basis {
  readonly schemes: readonly AuthScheme[];
  readonly events: Events;
  /** Reports a nonce that was used before. */
  onReplay(user: string): void;
  readonly time: DoubleTime;
  /** Called when the clock is set back. */
  onSetBack: () => void;
  readonly routes: DoubleRoutes;
  /** The present clients and consumers. */
  registered: Pick<ServiceOptions, 'clients' | 'consumers'>;
}

/** What the parts of a core have in common. */
interface Base extends Basis {
  readonly users: DoubleUsers;
}

function createBasis(options: CoreOptions): Basis {
  const events = createEvents(options.onError);
  const basis: Basis = {
    schemes: listSchemes(options),
    events,
    onReplay: (user) => events.emit('nonce-replayed', { type: 'nonce-replayed', user }),
    time: createDoubleTime(systemClock, options.now, () => basis.onSetBack()),
    onSetBack() {},
    routes: createDoubleRoutes(options),
    registered: options,
  };
  return basis;
}

/** Where a core stores items and nonces. `restorable` is what can be restored, if all of it is in memory. */
interface Storage {
  readonly store: Store;
  readonly nonces: Parameters<typeof createBurnableNonces>[0];
  readonly restorable: Restorable | undefined;
}

interface Restorable {
  readonly items: Items;
  readonly nonces: RestorableNonces;
  readonly random: SeededRandom;
}

function openStorage(options: CoreOptions, { random, memory }: CoreParts, basis: Basis): Storage {
  const { time, routes } = basis;
  const makeNonces = nonceMaker({ ...options, schemes: basis.schemes }, random, time);
  if (memory === undefined) {
    const storeId = (): string => Buffer.from(random.bytes(4)).toString('hex');
    const { store = createMemoryStore({ storeId: storeId() }) } = options;
    return { store, nonces: options.nonces ?? store.nonces ?? makeNonces(), restorable: undefined };
  }
  const nonces = createRestorableNonces(makeNonces);
  const items = createItems(memory.store, () => routes.state.collections, time.clock, options.seed ?? {});
  basis.onSetBack = () => nonces.restoreClaims();
  return { store: memory.store, nonces, restorable: { items, nonces, random: memory.random } };
}

/** The parts of a core that respond to requests by rules. */
type Matching = Pick<Core, 'faults' | 'stubs' | 'keptItems' | 'partner' | 'tokenMistakes'> & {
  readonly claimedUser: ClaimedUser;
};

function createMatching(
  options: CoreOptions,
  { random, partner: prepared }: CoreParts,
  base: Base,
  service: () => ControllableService,
): Matching {
  const { users, time, schemes } = base;
  const { xmlDepth: maxDepth } = { ...defaultLimits, ...options.limits };
  const claimedUser = claimedUserBy(users, (request) => service().claimedName(request));
  const requests = createMatchedRequests(options, claimedUser, service);
  const partner = prepared?.create({
    seed: random.seed,
    now: () => time.clock.now(),
    maxDepth,
    strictQuery: options.strictQuery === true,
    isCredential: (name) => service().isCredentialParameter(name),
    onError: options.onError,
    requests,
  });
  const faults = createFaults({
    clock: time.clock,
    users,
    claimedUser,
    requests,
    complete: (response, request, trace) => service().share(response, request, trace),
    grants: () => service().oauth.grants,
    names: () => [...users.all.keys(), ...listNames(base.registered.clients)],
  });
  return {
    claimedUser,
    partner,
    stubs: createStubs({ schemes, maxDepth, check: partner, requests, stubs: options.stubs }),
    keptItems: new KeptItems(),
    faults,
    tokenMistakes: createTokenMistakes(),
  };
}

/** The journal of a core, the credentials that it redacts, and the observer that writes it. */
interface Recording {
  readonly journal: JournalPart;
  readonly known: KnownCredentials;
  readonly observer: Observer | undefined;
}

function createRecording(
  options: CoreOptions,
  { observed = true, limitedExplanations = false }: CoreParts,
  { users, schemes, time, events }: Base,
  { claimedUser, faults, partner }: Matching,
  masterKey: Uint8Array,
): Recording {
  const known = new KnownCredentials(masterKey);
  known.addUsers(users.all);
  known.addRegistered(options);
  const journal = createJournal(
    {
      ...options.journal,
      clock: time.clock,
      known,
      limitedExplanations,
      onEntry: (entry) => events.emit('request', entry),
    },
    { claimedUser, schemes },
  );
  if (!observed) return { journal, known, observer: undefined };
  const observer = skewDates(time, journal.observer(faults));
  return { journal, known, observer: partner === undefined ? observer : partner.observe(observer) };
}

/** Creates the service of a core from its parts. */
function createCoreService(
  options: CoreOptions,
  { random, partner: prepared }: CoreParts,
  { events, routes, users }: Base,
  parts: Matching &
    Recording &
    Omit<Storage, 'nonces'> &
    Pick<Core, 'masterKey'> & { nonces: BurnableNonces },
): ControllableService {
  const { now: _, users: __, aliases = [], stubs: ___, journal: ____, tls = 'required', ...served } = options;
  const { seed, ...given } = served;
  const { restorable, store, nonces, masterKey, known, observer, faults, stubs, partner } = parts;
  return createControllableService(
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
      ...(observer !== undefined && { observer }),
    },
    {
      onGrantEvent: (event) => events.emit(event.type, event),
      alterations: parts.tokenMistakes,
      aliases,
      layer: stubs.layer,
      fallbacks: [...(partner === undefined ? [] : [partner.fallback]), stubs.fallback],
      scopes: prepared?.scopes,
      assumesTls: tls === 'assumed',
    },
  );
}

/** Connects the service with the users, clients, consumers and routes, which a test can replace. */
function connect(
  controllable: ControllableService,
  base: Base,
  known: KnownCredentials,
): ControllableService {
  const { users, routes } = base;
  const service = observeRegistrations(controllable, users, (changed) => {
    base.registered = { ...base.registered, ...changed };
    known.addRegistered(changed);
  });
  users.onChange((all) => {
    checkDistinctSecrets({ ...base.registered, users: all });
    controllable.replaceUsers(all);
    known.addUsers(all);
    known.addPrivateKeys(users.listPrivateKeys());
  });
  routes.onChange((state) => service.replaceServed(state));
  return service;
}

/** Creates the state as a whole, whose parts are restored in this order. */
function createMemoryState(
  service: ControllableService,
  { items, nonces, random }: Restorable,
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
