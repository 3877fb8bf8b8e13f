import { randomBytes } from 'node:crypto';
import { systemClock } from '../clock.ts';
import type { CollectionDeclaration } from '../declaration.ts';
import { type RequestListener, requestListener } from '../net/request-listener.ts';
import { defaultLifetimes } from '../oauth/lifetimes.ts';
import type { Observer } from '../observer.ts';
import type { Resource } from '../resource.ts';
import type { Seed } from '../seed.ts';
import { createSteeredService, type SteeredService } from '../service.ts';
import type { ClientOption, ConsumerOption } from '../service-options.ts';
import { createMemoryStore } from '../store/memory.ts';
import { bucketSpanFor, createNonces } from '../store/nonces.ts';
import { type AsOptions, createSigner, passwordOf, type Signer, type SigningParts } from './as.ts';
import { type AuthControl, createAuthControl } from './auth.ts';
import { type Authority, createAuthority } from './authority.ts';
import { createDoubleTime, type DoubleClock, type DoubleTime } from './clock.ts';
import { createControlledFaults } from './controlled-faults.ts';
import { createEvents, type DoubleEvent, type EventOf, type Events } from './events.ts';
import type { Faults, FaultsPart } from './faults.ts';
import { createFetch, createSender, type Fetch, outgoingOf } from './fetch.ts';
import { createItems } from './items.ts';
import { createJournal, type Journal } from './journal.ts';
import { createDoubleNonces } from './nonces.ts';
import { consumerOf, createOAuth1Control, type OAuth1Control } from './oauth1.ts';
import { clientOf, createOAuth2Control, type OAuth2Control } from './oauth2.ts';
import { type DoubleOptions, refuseUnknownOptions } from './options.ts';
import { createSeededRandom, type SeededRandom } from './random.ts';
import { createServed } from './served.ts';
import { redate } from './server-date.ts';
import { createState, type DoubleSnapshot } from './state.ts';
import { createDoubleUsers, type DoubleUsers } from './users.ts';

/** A whole server for tests: as strict as the real one, in this process, with everything about it in the test's hands. */
export interface Double extends AsyncDisposable {
  /** Where it listens: `http://127.0.0.1:41234`. */
  readonly url: string;
  /** The same over TLS. Throws where HTTPS was switched off. */
  readonly secureUrl: string;
  /** The certificate of the authority that vouches for `secureUrl`, in PEM: what clients have to trust. Throws where HTTPS was switched off. */
  readonly ca: string;
  /** What everything that is drawn follows from: give it as `randomSeed` to see the same again. */
  readonly randomSeed: string;
  /**
   * For a server of node:http or node:https of one's own.
   * @example const server = http.createServer(double.handler);
   */
  readonly handler: RequestListener;
  /**
   * The platform's `fetch`, answered in this process without a socket.
   * @example const reply = await double.fetch('/articles');
   */
  readonly fetch: Fetch;
  /** Time, as everything in the double sees it. */
  readonly clock: DoubleClock;
  /** Users, secrets, nonces and tokens. */
  readonly auth: AuthControl;
  /**
   * Every request that came, and what became of it.
   * @example double.journal.last()?.auth; // { scheme: 'hmac', passed: ['parse', 'user'], failedAt: 'digest', hint: 'the query was left out', … }
   */
  readonly journal: Journal;
  /**
   * What goes wrong on purpose.
   * @example double.faults.next({ method: 'GET' }, { status: 503, retryAfter: 2 });
   */
  readonly faults: Faults;
  /** OAuth 2.0, where `clients` are registered. */
  readonly oauth2: OAuth2Control;
  /** OAuth 1.0a, where `consumers` are registered. */
  readonly oauth1: OAuth1Control;
  /**
   * Somebody who signs what they send.
   * @example await double.as('johndoe').fetch('/articles', { method: 'POST', body: '<article>…</article>' });
   * @example await double.as('johndoe', { date: '2020-01-01T00:00:00Z' }).fetch('/articles'); // 401: a stale date
   */
  as(user: string, options?: AsOptions): Signer;
  /**
   * Adds items to collections, all or none. Throws DeclarationError naming the item and the field that breaks a rule.
   * @example double.seed({ '/articles': [{ title: 'Tea', price: { value: '3.50', currency: 'EUR' } }] });
   */
  seed(seed: Seed): void;
  /** All that it holds now: items, ids, revisions, nonces, tokens, users, what is served, chance, faults, the journal, and how the clock is set. */
  snapshot(): DoubleSnapshot;
  /**
   * Puts back what `snapshot` of this double gave, any number of times. What came after it never was: the same ids,
   * revisions and nonces are drawn again.
   */
  restore(snapshot: DoubleSnapshot): void;
  /** Puts everything back as it was when the double had started. */
  reset(): void;
  /**
   * Puts a resource of one's own under a path template, in the place of what stood there.
   * @example double.resource('/weather/{city}', { GET: action('anyone', async (call) => xml('<weather/>')) });
   */
  resource(template: string, resource: Resource): void;
  /** Declares a collection, as a configuration does, in the place of what stood there. Throws DeclarationError. */
  collection(path: string, declaration: CollectionDeclaration): void;
  /**
   * Has `listener` told of every event of this kind; gives what ends that.
   * @example double.on('reuse_detected', ({ client, user }) => …);
   */
  on<Kind extends DoubleEvent['kind']>(kind: Kind, listener: (event: EventOf<Kind>) => void): () => void;
  /**
   * Stops listening and lets go of everything; what is in flight has `grace` ms (500) to end. Rejects when all is closed
   * where faults are pending that `pendingFaults` says must not be.
   */
  close(grace?: number): Promise<void>;
}

/**
 * Starts a test double on free ports of 127.0.0.1, HTTP and HTTPS; it is ready when the promise resolves. Any number can
 * run at a time, and none knows of another. Rejects with RangeError or DeclarationError on options that cannot be.
 * @example
 * await using double = await startDouble({ users: { johndoe: { secret: 's3cret', password: 'pw' } } });
 * const client = new Client({ baseUrl: double.url, user: 'johndoe', secret: 's3cret' });
 */
export async function startDouble(options: DoubleOptions = {}): Promise<Double> {
  refuseUnknownOptions(options);
  const { https = true, randomSeed = randomBytes(8).toString('hex') } = options;
  if (!https && (options.clients !== undefined || options.consumers !== undefined))
    throw new RangeError('OAuth needs HTTPS, which is switched off');
  const random = createSeededRandom(String(randomSeed));
  const house = composed(options, random);
  const { service } = house;
  await service.ready;
  const authority = https ? createAuthority(systemClock.now(), random.bytes) : undefined;
  const addresses = await listening(house, authority);
  random.begin();
  return faceOf(house, options, random, { ...addresses, authority });
}

/** Where a double listens. */
interface Addresses {
  readonly url: string;
  readonly secureUrl: string | undefined;
}

async function listening({ service, faults }: House, authority: Authority | undefined): Promise<Addresses> {
  try {
    const identity = authority?.issue();
    const secure = identity && service.listen({ tls: identity, connected: () => faults.connected() });
    const [plain, secured] = await Promise.all([service.listen({}), secure]);
    if (secured !== undefined && identity !== undefined && authority !== undefined)
      faults.presentBy(secured, identity, authority.issue);
    return { url: plain.url, secureUrl: secured?.url };
  } catch (error) {
    await service.close(0);
    throw error;
  }
}

/** The parts of a double, put together. */
type House = ReturnType<typeof composed>;

/** Bytes of the key that token secrets are derived with. */
const masterKeyBytes = 32;

function composed(options: DoubleOptions, random: SeededRandom) {
  const { randomSeed: _, now, https: __, users: declared = {}, seed = {}, ...others } = options;
  const { journal: bounds, pendingFaults: ___, ...given } = others;
  const events = createEvents();
  const time = createDoubleTime(systemClock, now, () => nonces.recall());
  const nonces = noncesOf(options, random, time, events, () => faults.burnsNonce());
  const store = createMemoryStore({ lineage: Buffer.from(random.bytes(4)).toString('hex') });
  const served = createServed(options);
  const items = createItems(store, () => served.state.collections, time.clock, seed);
  const users = createDoubleUsers(declared, random.bytes);
  const masterKey = random.bytes(masterKeyBytes);
  const faults = createControlledFaults({ clock: time.clock, users, grants: () => service.oauth.grants });
  const journal = createJournal({ ...bounds, clock: time.clock, secrets: () => secretsOf(users, options) });
  const service: SteeredService = createSteeredService(
    {
      // A suite of tests fails to authenticate more often in a minute than anybody should.
      ...{ explain: true, maxAuthFailures: 0, ...given, ...served.state },
      ...{ clock: faults.clock, random: random.bytes, store, nonces, masterKey },
      users: users.all,
      observer: skewing(time, journal.observer(faults)),
    },
    (event) => events.tell(event),
  );
  users.follow((all) => service.replaceUsers(all));
  served.follow((state) => service.replaceServed(state));
  const state = createState({ items, users, served, nonces, random, time, faults, journal });
  return { events, faults, journal, time, nonces, served, items, users, masterKey, service, state };
}

function noncesOf(
  { window = 600, maxNonces = 10_000_000 }: DoubleOptions,
  random: SeededRandom,
  time: DoubleTime,
  events: Events,
  burns: () => boolean,
) {
  const key = random.bytes(16);
  const bucketSpan = bucketSpanFor(window * 1000);
  const make = () => createNonces({ bucketSpan, max: maxNonces, key, monotonic: () => time.clock.steady() });
  return createDoubleNonces(make, (user) => events.tell({ kind: 'replay', user }), burns);
}

/** Moves what replies say the time is. */
function skewing(time: DoubleTime, observer: Observer): Observer {
  const now = (): number => time.clock.now() + time.skew;
  return {
    handle(request, answer) {
      const answering = observer.handle(request, answer);
      if (time.skew === 0) return answering;
      return answering.then((reply) => {
        redate(reply, now());
        return reply;
      });
    },
    refused(problem, request, reply, received) {
      if (time.skew !== 0) redate(reply, now());
      observer.refused(problem, request, reply, received);
    },
  };
}

/** The double as a test sees it. */
function faceOf(
  house: House,
  options: DoubleOptions,
  random: SeededRandom,
  { url, secureUrl, authority }: Addresses & { readonly authority: Authority | undefined },
): Double {
  const { service, users, nonces, items, served, state, events, faults, journal } = house;
  const { clock } = house.time;
  const { oauth, handle } = service;
  const place = { handle: connecting(handle, faults), url, secureUrl };
  const fetch = createFetch(place);
  const lifetimes = { ...defaultLifetimes, ...options.lifetimes };
  const basicFor = (user: string): string => basicOf(users, user);
  const watched = { faults: house.faults.faults, journal: house.journal.journal };
  const shared = { oauth, lifetimes, clock, users, fetch, basicFor, ...watched };
  const second = { ...shared, clients: () => namesOf(options.clients) };
  const first = { ...shared, consumers: () => namesOf(options.consumers), masterKey: house.masterKey };
  const [oauth2, oauth1] = [createOAuth2Control(second), createOAuth1Control(first)];
  const signing: SigningParts = {
    ...{ users, clock, random: random.bytes, send: createSender(place) },
    read: (input, init, typeOfText) => outgoingOf(input, init, place, typeOfText),
    async bearerFor(user, name) {
      const { id, scopes } = clientOf(second, name);
      return (await oauth2.issueToken({ client: id, user, scope: scopes })).accessToken;
    },
    async oauth1For(user, name) {
      const { key, secret = '' } = consumerOf(first, name);
      return { consumer: { key, secret }, token: await oauth1.issueToken({ consumer: key, user }) };
    },
  };
  const close = async (grace = 500): Promise<void> => {
    faults.close();
    journal.close();
    await service.close(grace);
    if (options.pendingFaults === 'error') faults.assertMet();
  };
  return {
    url,
    get secureUrl() {
      return secureUrl ?? switchedOff();
    },
    get ca() {
      return authority?.certificate ?? switchedOff();
    },
    randomSeed: random.seed,
    handler: requestListener(handle),
    fetch,
    clock: house.time.face,
    journal: journal.journal,
    faults: faults.faults,
    auth: createAuthControl({ users, nonces, grants: oauth.grants, clock }),
    oauth2,
    oauth1,
    as: (user, asked = {}) => createSigner(user, asked, signing),
    seed: (seed) => items.seed(seed),
    snapshot: () => state.snapshot(),
    restore: (snapshot) => state.restore(snapshot),
    reset: () => state.reset(),
    resource: (template, resource) => served.resource(template, resource),
    collection: (path, declaration) => served.collection(path, declaration),
    on: (kind, listener) => events.on(kind, listener),
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/** What answers in process: a request over TLS meets the certificate first. */
function connecting(handle: SteeredService['handle'], faults: FaultsPart): SteeredService['handle'] {
  return async (request) => {
    const refusal = request.connection.secure ? faults.connect() : undefined;
    if (refusal !== undefined) throw refusal;
    return handle(request);
  };
}

/** All that must not be shown: what users sign and log in with, and what clients and consumers do. */
function secretsOf(users: DoubleUsers, { clients = {}, consumers = {} }: DoubleOptions): string[] {
  const registered = [...valuesOf<ClientOption>(clients), ...valuesOf<ConsumerOption>(consumers)];
  return [
    ...users.words(),
    ...registered.flatMap(({ secret }) => (typeof secret === 'string' ? [secret] : [])),
  ];
}

function switchedOff(): never {
  throw new Error('HTTPS of this double is switched off');
}

function basicOf(users: DoubleUsers, user: string): string {
  return `Basic ${Buffer.from(`${user}:${passwordOf(users, user)}`).toString('base64')}`;
}

function namesOf(
  registered: Readonly<Record<string, unknown>> | ReadonlyMap<string, unknown> = {},
): Iterable<string> {
  return registered instanceof Map ? registered.keys() : Object.keys(registered);
}

function valuesOf<T>(registered: Readonly<Record<string, T>> | ReadonlyMap<string, T>): Iterable<T> {
  return registered instanceof Map ? registered.values() : Object.values(registered);
}
