import { randomBytes } from 'node:crypto';
import { requireTls } from '../accounts/registered.ts';
import { systemClock } from '../clock.ts';
import type { CollectionDeclaration } from '../collections/declaration.ts';
import type { Seed } from '../collections/seed.ts';
import type { Duration } from '../duration.ts';
import type { Resource } from '../pipeline/resource.ts';
import type { Addresses } from '../service/fetch/fetch-request.ts';
import type { OpenApiDocument } from '../service/openapi/document.ts';
import { readGrace } from '../service/options-shape.ts';
import type { ControllableService, Service } from '../service/service.ts';
import { createMemoryStore } from '../store/memory.ts';
import { createStoreId } from '../store/store-id.ts';
import { createDoubleApi, type DoubleApi } from './api.ts';
import { type CertificateAuthority, createCertificateAuthority } from './certificate-authority.ts';
import { compose, type MemoryCore } from './compose.ts';
import type { ControlOptions, ControlServer } from './control/control.ts';
import { DoubleError } from './error.ts';
import type { DoubleEventMap, Subscription } from './events.ts';

import { checkDoubleOptions, type DoubleOptions } from './options.ts';
import type { DoublePartner } from './partner/partner.ts';
import type { RuleHandle } from './rules.ts';
import { createSeededRandom, type SeededRandom } from './state/random.ts';
import type { DoubleSnapshot } from './state/state.ts';
import type { StubHandler, StubMatch, StubOptions } from './stubs/declaration.ts';

/**
 * A complete server for tests, in this process. It verifies requests as strictly as the real server, and the test controls
 * its clock, users, data, faults and journal.
 */
export interface Double extends DoubleApi, AsyncDisposable {
  /** The origin over plain HTTP, such as `http://127.0.0.1:41234`. */
  readonly url: string;
  /** The origin over HTTPS. Throws DoubleError (`unavailable`) if HTTPS is disabled. */
  readonly secureUrl: string;
  /**
   * The certificate in PEM of the authority that issued the certificate of `secureUrl`. Clients must trust it. Throws
   * DoubleError (`unavailable`) if HTTPS is disabled.
   */
  readonly ca: string;
  /** The seed of all random values. Pass it as the option `randomSeed` to reproduce a run. */
  readonly randomSeed: string;
  /**
   * A request listener for a server of node:http or node:https.
   * @example const server = http.createServer(double.handler);
   */
  readonly handler: Service['handler'];
  /**
   * Controls the responses of the partner's document, and returns what a test suite has used of it. Throws DoubleError
   * (`unavailable`) without the option `partner`, with the paths that there are.
   */
  readonly partner: DoublePartner;
  /**
   * Adds items to collections: all, or none if one is invalid.
   * @throws DeclarationError that names the invalid item and field
   * @example double.seed({ '/articles': [{ title: 'Tea', price: { value: '3.50', currency: 'EUR' } }] });
   */
  seed(seed: Seed): void;
  /**
   * Returns the current state: items, ids, revisions, nonces, tokens, users, routes, random numbers, faults, journal and
   * clock settings.
   */
  snapshot(): DoubleSnapshot;
  /**
   * Restores a snapshot of this double. A snapshot can be restored any number of times. Afterwards the double generates the
   * same ids and nonces again. The same changes get the same entity tags, and other changes get new ones.
   */
  restore(snapshot: DoubleSnapshot): void;
  /** Restores the state in which the double started. */
  reset(): void;
  /**
   * Adds a resource under a path template. It replaces a resource or collection with the same template.
   * @throws RangeError if the template is invalid
   * @example double.resource('/weather/{city}', { GET: action('anyone', async (call) => xml('<weather/>')) });
   */
  resource(template: string, resource: Resource): void;
  /**
   * Adds a route for requests with this method and path, which precedes resources and collections; of several stubs, the last one that
   * matches answers. Framing, Host, credentials and access are checked as for any request, and its content is decoded.
   * @param response the response, or a function that returns it; what the function throws is a 500, and is passed to `onError`
   * @returns a handle with the number of requests that it answered
   * @throws RangeError if the match, the response or an option is invalid
   * @example
   * double.stub({ method: 'PATCH', path: '/v1/orders/{id}' }, { body: { id: '1', status: 'shipped' } }, { schemes: ['stripe'] });
   * @example
   * double.stub({ method: 'POST', path: '/v1/orders' }, ({ body }) => ({ status: 201, body: { ...body, id: 2 } }));
   */
  stub<Path extends string, Body = Readonly<Record<string, unknown>>>(
    match: StubMatch<Path>,
    response: StubHandler<Body>,
    options?: StubOptions,
  ): RuleHandle;
  /**
   * Declares a collection as a configuration does. It replaces a collection or resource at the same path.
   * @throws DeclarationError if the declaration is invalid
   */
  collection(path: string, declaration: CollectionDeclaration): void;
  /**
   * Calls `listener` for every event of this name: `request`, `token-issued`, `token-revoked`, `token-reused` or `nonce-replayed`. What it
   * throws is passed to the option `onError`, and has no other effect.
   * @returns a subscription: call it or dispose of it, and the listener is not called any more
   * @throws RangeError on an unknown name
   * @example const end = double.on('token-reused', ({ client, user }) => …);
   */
  on<Name extends keyof DoubleEventMap>(
    event: Name,
    listener: (value: DoubleEventMap[Name]) => void,
  ): Subscription;
  /**
   * Returns the OpenAPI 3.1 document of the double as it is now, with its addresses.
   * @example writeFileSync('openapi.json', JSON.stringify(await double.openapi()));
   */
  openapi(): Promise<OpenApiDocument>;
  /**
   * Opens the control interface on its own port: every feature of a double, as JSON over HTTP, for tests in other
   * languages. Closing the double closes it. Rejects with RangeError if the token is invalid, with
   * ListenError if the port is in use, and with DoubleError (`closed`) if the double is closed.
   * @example const { url, token } = await double.openControl();
   */
  openControl(options?: ControlOptions): Promise<ControlServer>;
  /**
   * Stops listening and releases all resources. With `pendingFaults: 'error'`, rejects with DoubleError (`pending-faults`) after closing if
   * a planned fault was not applied.
   * @param options `grace`: the time that requests in flight have to finish, in ms or as text such as `2s`. Default: 500.
   * @throws RangeError (as a rejection) if `grace` is text that is not a duration
   */
  close(options?: { readonly grace?: Duration }): Promise<void>;
}

/**
 * Starts a test double on 127.0.0.1, for HTTP and HTTPS, on free ports unless the options contain others. The promise resolves when it accepts connections.
 * Any number of doubles can run at the same time; they share no state.
 * @param options all optional; see `DoubleOptions`
 * @returns the double. Close it with `close()` or `await using`.
 * @throws RangeError or DeclarationError (as a rejection) if an option is invalid, and ListenError if a port is in use
 * @example
 * await using double = await startDouble({ users: { johndoe: { secret: 's3cret', password: 'pw' } } });
 * const client = new Client({ baseUrl: double.url, user: 'johndoe', secret: 's3cret' });
 */
export async function startDouble(options: DoubleOptions = {}): Promise<Double> {
  checkDoubleOptions(options);
  const { https = true, tls, randomSeed = randomBytes(8).toString('hex') } = options;
  if (!https && tls === 'required' && (options.clients !== undefined || requireTls(options.consumers)))
    throw new RangeError('OAuth requires HTTPS, which is disabled');
  const random = createSeededRandom(String(randomSeed));
  const core = await composeDouble(options, random);
  await core.service.ready;
  // Certificates are generated on first use, so they have their own sequence of random values.
  const certificateRandom = createSeededRandom(`${random.seed} certificates`);
  const authority = https
    ? createCertificateAuthority(systemClock.now(), certificateRandom.bytes)
    : undefined;
  const addresses = await listen(core, authority, options);
  random.begin();
  return buildDouble(core, options, random, { ...addresses, authority });
}

/** Composes the double. The code for a partner's document is loaded only if there is one. */
async function composeDouble(options: DoubleOptions, random: SeededRandom): Promise<MemoryCore> {
  const { randomSeed: _, https: __, pendingFaults: ___, unref: ____, port: _____, ...others } = options;
  const { securePort: ______, partner, ...given } = others;
  const completed = {
    // A test suite fails to authenticate far more often than the default limit permits.
    maxAuthFailures: 0,
    strictQuery: true,
    tls: 'assumed',
    ...given,
  } as const;
  const store = createMemoryStore({ storeId: createStoreId(random.bytes) });
  const parts = { random, memory: { store, random } };
  if (partner === undefined) return compose(completed, parts);
  const { withPartner } = await import('./partner/partner.ts');
  const { options: declared, prepared } = await withPartner(completed, partner);
  for (const reason of prepared.unreachable) given.onError?.(new Error(reason));
  return compose(declared, { ...parts, partner: prepared });
}

async function listen(
  { service, faults }: MemoryCore,
  authority: CertificateAuthority | undefined,
  { port = 0, securePort = 0, unref = true }: DoubleOptions,
): Promise<Addresses> {
  const tls = authority && (() => authority.identity);
  const opening = service.listen({ port, unref });
  const securing =
    tls && service.listen({ port: securePort, tls, unref, connected: () => faults.connected() });
  try {
    const [plain, secured] = await Promise.all([opening, securing]);
    if (secured !== undefined && authority !== undefined && tls !== undefined)
      faults.presentBy(secured, tls, authority.issue);
    return { url: plain.url, secureUrl: secured?.url };
  } catch (error) {
    // `close` would miss a port that is still being opened.
    await Promise.allSettled([opening, securing]);
    await service.close({ grace: 0 });
    throw error;
  }
}

/** Assembles the public interface of a double. */
function buildDouble(
  core: MemoryCore,
  options: DoubleOptions,
  random: SeededRandom,
  { authority, ...addresses }: Addresses & { readonly authority: CertificateAuthority | undefined },
): Double {
  const { service, events, faults, journal, memory, partner, routes, stubs } = core;
  const { url, secureUrl } = addresses;
  const api = createDoubleApi(core, addresses);
  const controls = new Set<ControlServer>();
  let closed = false;
  const close = async (given?: unknown): Promise<void> => {
    const grace = readGrace(given, 500);
    closed = true;
    faults.close();
    journal.close();
    await Promise.all([
      service.close({ grace }),
      ...[...controls].map((control) => control.close({ grace })),
    ]);
    if (options.pendingFaults === 'error') faults.assertApplied();
  };
  const double: Double = {
    ...api,
    seed: (seed) => void core.seed(seed),
    snapshot: () => memory.snapshot(),
    restore: (snapshot) => memory.restore(snapshot),
    reset: () => memory.reset(),
    resource: (template, resource) => routes.resource(template, resource),
    collection: (path, declaration) => routes.collection(path, declaration),
    stub: (match, response, stubOptions) => stubs.add({ ...stubOptions, match, response }),
    url,
    get secureUrl() {
      return secureUrl ?? httpsDisabled(url);
    },
    get ca() {
      return authority?.certificate ?? httpsDisabled(url);
    },
    randomSeed: random.seed,
    handler: service.handler,
    get partner() {
      return partner?.control ?? noPartner(service);
    },
    on: (event, listener) => events.on(event, listener),
    openapi: () => service.openapi(secureUrl === undefined ? [url] : [url, secureUrl]),
    async openControl(controlOptions = {}) {
      if (closed) throw doubleClosed();
      const { openControl } = await import('./control/control.ts');
      const controlled = { url, secureUrl, certificate: authority?.certificate };
      const target = { ...api, core, addresses: controlled };
      const control = await openControl(target, controlOptions, options.unref);
      if (closed) {
        await control.close({ grace: 0 });
        throw doubleClosed();
      }
      controls.add(control);
      return control;
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
  // What the double does not have throws when it is read, as `{ ...double }` reads all that is enumerable.
  const absent = [
    ...(secureUrl === undefined ? ['secureUrl', 'ca'] : []),
    ...(partner === undefined ? ['partner'] : []),
  ];
  for (const name of absent) Object.defineProperty(double, name, { enumerable: false });
  return addSummary(double, () => ({ url, secureUrl, requests: api.journal.length }));
}

/** The symbol of the method by which `console.log` shows an object of a class. */
const inspectSymbol = Symbol.for('nodejs.util.inspect.custom');

/** Makes `console.log` and JSON show a summary, which contains no secrets. */
function addSummary(double: Double, summarize: () => object): Double {
  const show = (_depth: number, options: object, inspect: (value: object, options: object) => string) =>
    `Double ${inspect(summarize(), options)}`;
  return Object.defineProperties(double, {
    toJSON: { value: summarize },
    [inspectSymbol]: { value: show },
  });
}

function doubleClosed(): DoubleError {
  return new DoubleError('closed', 'the double is closed');
}

function noPartner({ router }: Pick<ControllableService, 'router'>): never {
  const paths = [...new Set(router.routes.map(({ template }) => template))];
  throw new DoubleError(
    'unavailable',
    `the double has no document of a partner; start it with the option partner. It serves ${paths.join(', ')}`,
  );
}

function httpsDisabled(url: string): never {
  throw new DoubleError('unavailable', `HTTPS is disabled for this double; it listens on ${url}`);
}
