import { randomBytes } from 'node:crypto';
import { requireTls } from '../accounts/registered.ts';
import { systemClock } from '../clock.ts';
import type { CollectionDeclaration } from '../collections/declaration.ts';
import type { Duration } from '../duration.ts';
import { readGrace } from '../service/argument-checks.ts';
import type { Addresses } from '../service/fetch/fetch-request.ts';
import type { OpenApiDocument } from '../service/openapi/document.ts';
import type { ControllableService, Service } from '../service/service.ts';
import { createDoubleApi, type DoubleApi } from './api.ts';
import { type CertificateAuthority, createCertificateAuthority } from './certificate-authority.ts';
import { type ComposedDouble, composeDouble } from './compose.ts';
import type { ControlOptions, ControlServer } from './control/control.ts';
import { createMemoryControl } from './control/memory-target.ts';
import type { MemoryControl } from './control/target.ts';
import { dateWindows, listSigners } from './date-windows.ts';
import { DoubleError } from './error.ts';
import type { DoubleEventMap, Subscription } from './events.ts';
import { checkDoubleOptions, type DoubleOptions } from './options.ts';
import type { DoublePartner } from './partner/partner.ts';
import { createSeededRandom, type SeededRandom } from './state/random.ts';

/**
 * A complete server for tests, in this process. It verifies requests as strictly as the real server, and the test controls
 * its clock, users, data, faults and journal.
 */
export interface Double extends DoubleApi, Omit<MemoryControl, 'collection'>, AsyncDisposable {
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
  const context = await compose(options, random);
  const { service } = context;
  await service.ready;
  // Certificates are generated on first use, so they have their own sequence of random values.
  const certificateRandom = createSeededRandom(`${random.seed} certificates`);
  const authority = https
    ? createCertificateAuthority(systemClock.now(), certificateRandom.bytes)
    : undefined;
  const addresses = await listen(context, authority, options);
  random.begin();
  return buildDouble(context, options, random, { ...addresses, authority });
}

/** Composes the double. The code for a partner's document is loaded only if there is one. */
async function compose(options: DoubleOptions, random: SeededRandom): Promise<ComposedDouble> {
  if (options.partner === undefined) return composeDouble(options, random);
  const { withPartner } = await import('./partner/partner.ts');
  const { options: complete, prepared } = await withPartner(options, options.partner);
  return composeDouble(complete, random, prepared);
}

async function listen(
  { service, faults }: ComposedDouble,
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
  context: ComposedDouble,
  options: DoubleOptions,
  random: SeededRandom,
  { authority, ...addresses }: Addresses & { readonly authority: CertificateAuthority | undefined },
): Double {
  const { service, events, faults, journal, stubs } = context;
  const { url, secureUrl } = addresses;
  const api = createDoubleApi(context, addresses);
  const { partner } = context;
  const memory = createMemoryControl(context);
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
    ...memory,
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
      const [{ openControl }, { createListing }] = await Promise.all([
        import('./control/control.ts'),
        import('./control/listing.ts'),
      ]);
      const controlled = { url, secureUrl, certificate: authority?.certificate };
      const target = {
        ...api,
        memory,
        stubs,
        partner,
        planned: () => faults.planned(),
        addresses: controlled,
        events,
        windows: dateWindows(options),
        signers: listSigners(options.schemes),
        listing: createListing(context),
      };
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
