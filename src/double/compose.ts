import { listRegistered } from '../accounts/registered.ts';
import { systemClock } from '../clock.ts';
import type { Seed } from '../collections/seed.ts';
import { formatDate } from '../http/headers/date.ts';
import type { Response } from '../http/message.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { Observer } from '../pipeline/observer.ts';
import type { AuthScheme } from '../schemes/auth-scheme.ts';
import { computeNonceWindow, listSchemes } from '../service/authentication.ts';
import { defaultLimits, type ServiceOptions } from '../service/options.ts';
import { type ControllableService, createControllableService } from '../service/service.ts';
import { checkDistinctSecrets } from '../service/user-checks.ts';
import { createMemoryStore, type MemoryStore } from '../store/memory.ts';
import { bucketSpanFor, createNonces, type MemoryNonces } from '../store/nonces/nonces.ts';
import type { Store } from '../store/store.ts';
import { createStoreId } from '../store/store-id.ts';
import { createTokenMistakes, type TokenMistakes } from './auth/token-mistakes.ts';
import { type ClaimedUser, claimedUserBy, tokenUser } from './claimed-user.ts';
import { createEvents, type Events } from './events.ts';
import { createFaults, type FaultsPart } from './faults/faults.ts';
import { createJournal, type JournalPart } from './journal/journal.ts';
import { KnownCredentials } from './journal/known-credentials.ts';
import type { DoubleOptions } from './options.ts';
import type { PartnerPart, PreparedPartner } from './partner/partner.ts';
import { MatchedRequests } from './rules.ts';
import { createDoubleTime, type DoubleTime } from './state/clock.ts';
import { createDoubleNonces, type DoubleNonces } from './state/nonces.ts';
import type { SeededRandom } from './state/random.ts';
import { createDoubleRoutes, type DoubleRoutes } from './state/routes.ts';
import { addItems, createItems, type Items } from './state/seed.ts';
import { createState, type Snapshottable, type State } from './state/state.ts';
import { createDoubleUsers, type DoubleUsers } from './state/users.ts';
import { KeptItems } from './stubs/kept-items.ts';
import { createStubs, type StubsPart } from './stubs/stubs.ts';

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

/** A core that holds everything in memory. */
export interface MemoryCore extends Core {
  readonly memory: State;
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
  return new Core(options, parts);
}

/** A service with all that a test controls and observes of it. Its parts are created in an order in which each finds those that it needs. */
export class Core {
  /** The configured schemes. */
  readonly schemes: readonly AuthScheme[];
  readonly events: Events;
  readonly time: DoubleTime;
  readonly routes: DoubleRoutes;
  readonly store: Store;
  readonly users: DoubleUsers;
  /** The partner's document; undefined if there is none. */
  readonly partner: PartnerPart | undefined;
  readonly faults: FaultsPart;
  readonly stubs: StubsPart;
  /** The items that stubs keep. */
  readonly keptItems = new KeptItems();
  /** The planned mistakes of token responses. */
  readonly tokenMistakes: TokenMistakes = createTokenMistakes();
  readonly nonces: DoubleNonces;
  /** The key from which token secrets of OAuth 1.0a are derived. */
  readonly masterKey: Uint8Array;
  readonly journal: JournalPart;
  readonly service: ControllableService;
  /** The state as a whole; undefined if some of it is not in memory. */
  readonly memory: State | undefined;
  readonly random: (size: number) => Uint8Array;
  readonly #options: CoreOptions;
  readonly #known: KnownCredentials;
  /** The items; undefined if they are not in memory. */
  readonly #items: Items | undefined;
  /** The present clients and consumers. */
  #registered: Pick<ServiceOptions, 'clients' | 'consumers'>;

  constructor(options: CoreOptions, parts: CoreParts) {
    const { random, memory } = parts;
    this.#options = options;
    this.#registered = options;
    this.random = random.bytes;
    this.schemes = listSchemes(options);
    this.events = createEvents(options.onError);
    this.time = createDoubleTime(systemClock, options.now, () => this.nonces.restoreClaims());
    this.routes = createDoubleRoutes(options);
    const key = random.bytes(16);
    this.store = memory?.store ?? options.store ?? createMemoryStore({ storeId: createStoreId(this.random) });
    const { seed = {}, stubs, limits } = options;
    const maxDepth = limits?.xmlDepth ?? defaultLimits.xmlDepth;
    const collections = () => this.routes.state.collections;
    this.#items = memory && createItems(memory.store, collections, this.time.clock, seed);
    // After the store, so that random numbers are drawn in one order.
    this.users = createDoubleUsers(options.users ?? {}, random.bytes, this.time.clock);
    const claimedUser = claimedUserBy(this.users, (request) => this.service.claimedName(request));
    const requests = this.#createMatchedRequests(claimedUser);
    this.partner = parts.partner?.create({
      seed: random.seed,
      now: () => this.time.clock.now(),
      maxDepth,
      strictQuery: options.strictQuery === true,
      isCredential: (name) => this.service.isCredentialParameter(name),
      onError: options.onError,
      requests,
    });
    this.faults = createFaults({
      clock: this.time.clock,
      users: this.users,
      claimedUser,
      requests,
      complete: (response, request, trace) => this.service.share(response, request, trace),
      grants: () => this.service.oauth.grants,
      names: () => [...this.users.all.keys(), ...listNames(this.#registered.clients)],
    });
    this.stubs = createStubs({ schemes: this.schemes, maxDepth, check: this.partner, requests, stubs });
    const stored = memory === undefined ? (options.nonces ?? this.store.nonces) : undefined;
    this.nonces = createDoubleNonces(stored ?? (() => this.#createNonces(key)), {
      burns: () => this.faults.burnsNonce(),
      onReplay: (user) => this.events.emit('nonce-replayed', { type: 'nonce-replayed', user }),
    });
    this.masterKey = options.masterKey ?? random.bytes(masterKeyBytes);
    this.#known = new KnownCredentials(this.masterKey);
    this.#known.addUsers(this.users.all);
    this.#known.addRegistered(options);
    this.journal = createJournal({
      limits: options.journal,
      clock: this.time.clock,
      known: this.#known,
      limitedExplanations: parts.limitedExplanations === true,
      claimedUser,
      schemes: this.schemes,
      onEntry: (entry) => this.events.emit('request', entry),
    });
    this.service = this.#connect(this.#createService(parts));
    this.memory = this.#items && memory && this.#createState(this.#items, memory.random);
  }

  /** The options that the control functions read. */
  get options(): Pick<
    CoreOptions,
    'clients' | 'consumers' | 'lifetimes' | 'publicUrl' | 'aliases' | 'schemes' | 'window' | 'oauth2' | 'tls'
  > {
    return { ...this.#options, ...this.#registered };
  }

  /** Adds items: all, or none if one is invalid. Throws DeclarationError that names the invalid item and field. */
  seed(seed: Seed): MaybePromise<void> {
    return this.#items === undefined
      ? addItems(this.store, this.routes.state.collections, this.time.clock, seed)
      : this.#items.seed(seed);
  }

  /** Creates an empty set of nonces in memory. */
  #createNonces(key: Uint8Array): MemoryNonces {
    const { maxNonces: max = 10_000_000, maxNoncesPerUser: maxPerUser } = this.#options;
    const bucketSpan = bucketSpanFor(computeNonceWindow(this.#options, this.schemes));
    return createNonces({ bucketSpan, max, maxPerUser, key, monotonic: () => this.time.clock.steady() });
  }

  /** Creates what compares requests with rules. */
  #createMatchedRequests(claimedUser: ClaimedUser): MatchedRequests {
    const { limits, onError } = this.#options;
    const { body: bodyLimit, xmlDepth: maxDepth } = { ...defaultLimits, ...limits };
    return new MatchedRequests({
      // The store may fail; then the request names no user.
      findUser: async (request) =>
        claimedUser(request) ?? (await tokenUser(request, this.service.oauth.grants).catch(() => undefined)),
      findScheme: (request) => this.service.claimedScheme(request),
      bodyLimit,
      maxDepth,
      onError,
    });
  }

  /** Creates the observer of the service; undefined if requests are not observed. */
  #createObserver({ observed = true }: CoreParts): Observer | undefined {
    if (!observed) return undefined;
    const observer = skewDates(this.time, this.journal.observer(this.faults));
    return this.partner?.observe(observer) ?? observer;
  }

  #createService(parts: CoreParts): ControllableService {
    const { now: _, users: __, aliases = [], stubs: ___, journal: ____, ...served } = this.#options;
    const { tls = 'required', seed, ...given } = served;
    const observer = this.#createObserver(parts);
    const { stubs, partner } = this;
    return createControllableService(
      {
        ...given,
        ...(this.#items === undefined && { seed }),
        ...this.routes.state,
        clock: this.faults.clock,
        random: this.#known.remembering(this.random),
        store: this.store,
        nonces: this.nonces,
        masterKey: this.masterKey,
        users: this.users.all,
        ...(observer !== undefined && { observer }),
      },
      {
        onGrantEvent: (event) => this.events.emit(event.type, event),
        alterations: this.tokenMistakes,
        aliases,
        layer: stubs.layer,
        fallbacks: [...(partner === undefined ? [] : [partner.fallback]), stubs.fallback],
        scopes: parts.partner?.scopes,
        assumesTls: tls === 'assumed',
      },
    );
  }

  /** Connects the service with the users, clients, consumers and routes, which a test can replace. */
  #connect(service: ControllableService): ControllableService {
    const { users, routes } = this;
    users.onChange((all) => {
      checkDistinctSecrets({ ...this.#registered, users: all });
      service.replaceUsers(all);
      this.#known.addUsers(all);
      this.#known.addPrivateKeys(users.listPrivateKeys());
    });
    routes.onChange((state) => service.replaceServed(state));
    const register = (changed: Pick<ServiceOptions, 'clients' | 'consumers'>): void => {
      this.#registered = { ...this.#registered, ...changed };
      this.#known.addRegistered(changed);
    };
    return {
      ...service,
      get router() {
        return service.router;
      },
      replaceUsers: (all) => users.restore(new Map(listRegistered(all))),
      replaceClients(clients) {
        service.replaceClients(clients);
        register({ clients });
      },
      replaceConsumers(consumers) {
        service.replaceConsumers(consumers);
        register({ consumers });
      },
    };
  }

  /** Creates the state as a whole, whose parts are restored in this order. */
  #createState(items: Items, random: SeededRandom): State {
    const { oauth, quotas } = this.service;
    const { users, routes, stubs, keptItems, partner, tokenMistakes, time, faults, journal } = this;
    return createState([
      items,
      // The removed names whose tokens were revoked.
      toSnapshottable(oauth.departures),
      users,
      routes,
      stubs.rules,
      keptItems,
      ...(partner === undefined ? [] : [partner]),
      tokenMistakes,
      time,
      faults,
      journal,
      this.nonces,
      random,
      // The counts of requests.
      toSnapshottable(quotas),
    ]);
  }
}

/** Returns a part of the service as a part of snapshots, with its present state as the initial one. */
function toSnapshottable<Snapshot>(
  part: Pick<Snapshottable<Snapshot>, 'snapshot' | 'restore'>,
): Snapshottable<Snapshot> {
  const initial = part.snapshot();
  return {
    snapshot: () => part.snapshot(),
    restore: (snapshot) => part.restore(snapshot),
    reset: () => part.restore(initial),
  };
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
