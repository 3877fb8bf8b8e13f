import { randomBytes } from 'node:crypto';
import { systemClock } from '../clock.ts';
import type { CollectionDeclaration } from '../collections/declaration.ts';
import { type RequestListener, requestListener } from '../net/request-listener.ts';
import { createDoubleApi, type DoubleApi } from './api.ts';
import { type CertificateAuthority, createCertificateAuthority } from './certificate-authority.ts';
import { type ComposedDouble, composeDouble } from './compose.ts';
import type { Control, ControlOptions } from './control/control.ts';
import { createMemoryControl } from './control/memory-target.ts';
import type { MemoryControl } from './control/target.ts';
import type { DoubleEvent, EventOf } from './events.ts';
import type { Addresses } from './fetch/fetch-request.ts';
import { type DoubleOptions, refuseUnknownOptions } from './options.ts';
import { createSeededRandom, type SeededRandom } from './state/random.ts';

/** A whole server for tests: as strict as the real one, in this process, with everything about it in the test's hands. */
export interface Double extends DoubleApi, Omit<MemoryControl, 'collection'>, AsyncDisposable {
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
  /** Declares a collection, as a configuration does, in the place of what stood there. Throws DeclarationError. */
  collection(path: string, declaration: CollectionDeclaration): void;
  /**
   * Has `listener` told of every event of this kind; gives what ends that.
   * @example double.on('reuse_detected', ({ client, user }) => …);
   */
  on<Kind extends DoubleEvent['kind']>(kind: Kind, listener: (event: EventOf<Kind>) => void): () => void;
  /**
   * Opens the control interface on a port of its own, for what is written in other languages: all that a double can do, as
   * JSON over HTTP. It is closed with the double. Rejects with RangeError on a token that cannot be.
   * @example const { url, token } = await double.openControl();
   */
  openControl(options?: ControlOptions): Promise<Control>;
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
  const { https = true, keepAlive = false, randomSeed = randomBytes(8).toString('hex') } = options;
  if (!https && (options.clients !== undefined || options.consumers !== undefined))
    throw new RangeError('OAuth needs HTTPS, which is switched off');
  const random = createSeededRandom(String(randomSeed));
  const context = composeDouble(options, random);
  const { service } = context;
  await service.ready;
  // Certificates are drawn when they are needed, and nothing else follows from when that was.
  const chanceOfCertificates = createSeededRandom(`${random.seed} certificates`);
  const authority = https
    ? createCertificateAuthority(systemClock.now(), chanceOfCertificates.bytes)
    : undefined;
  const addresses = await listening(context, authority, !keepAlive);
  random.begin();
  return faceOf(context, options, random, { ...addresses, authority });
}

async function listening(
  { service, faults }: ComposedDouble,
  authority: CertificateAuthority | undefined,
  unref: boolean,
): Promise<Addresses> {
  try {
    const tls = authority && (() => authority.identity);
    const secure = tls && service.listen({ tls, unref, connected: () => faults.connected() });
    const [plain, secured] = await Promise.all([service.listen({ unref }), secure]);
    if (secured !== undefined && authority !== undefined && tls !== undefined)
      faults.presentBy(secured, tls, authority.issue);
    return { url: plain.url, secureUrl: secured?.url };
  } catch (error) {
    await service.close(0);
    throw error;
  }
}

/** The double as a test sees it. */
function faceOf(
  context: ComposedDouble,
  options: DoubleOptions,
  random: SeededRandom,
  { authority, ...addresses }: Addresses & { readonly authority: CertificateAuthority | undefined },
): Double {
  const { service, events, faults, journal } = context;
  const { url, secureUrl } = addresses;
  const steering = createDoubleApi(context, addresses);
  const memory = createMemoryControl(context, steering);
  const opened = new Set<Control>();
  const close = async (grace = 500): Promise<void> => {
    faults.close();
    journal.close();
    await Promise.all([service.close(grace), ...[...opened].map((control) => control.close(grace))]);
    if (options.pendingFaults === 'error') faults.assertMet();
  };
  return {
    ...steering,
    ...memory,
    url,
    get secureUrl() {
      return secureUrl ?? switchedOff();
    },
    get ca() {
      return authority?.certificate ?? switchedOff();
    },
    randomSeed: random.seed,
    handler: requestListener(service.handle),
    on: (kind, listener) => events.on(kind, listener),
    async openControl(wanted = {}) {
      const { openControl } = await import('./control/control.ts');
      const place = { url, secureUrl, certificate: authority?.certificate };
      const unref = options.keepAlive !== true;
      const control = await openControl({ ...steering, memory, place, events }, wanted, unref);
      opened.add(control);
      return control;
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

function switchedOff(): never {
  throw new Error('HTTPS of this double is switched off');
}
