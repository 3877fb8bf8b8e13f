import type { Response as HttpResponse } from '../http/message.ts';
import { once } from '../once.ts';
import { createFetch, type Fetch, type InProcessServer } from '../service/fetch/fetch.ts';
import type { Addresses } from '../service/fetch/fetch-request.ts';
import type { ControllableService } from '../service/service.ts';
import { number, read } from '../shape/shape.ts';
import {
  createOAuth1Control,
  createOAuth2Control,
  type DoubleOAuth1,
  type DoubleOAuth2,
} from './auth/oauth.ts';
import type { Core } from './compose.ts';
import type { DoubleFaults, FaultsPart } from './faults/faults.ts';
import { presentFault } from './faults/in-process.ts';
import type { AsOptions, ConfiguredAsOptions } from './fetch/as-options.ts';
import { listOwnOrigins } from './fetch/origins.ts';
import { createSigner, type SigningClient } from './fetch/signed-client.ts';
import { entryOfAnswer } from './journal/exchange.ts';
import type { DoubleJournal } from './journal/journal.ts';
import type { DoubleClock } from './state/clock.ts';
import type { DoubleAuth } from './state/users.ts';

/** The functions with which a test controls a service, in memory or with a data directory. */
export interface DoubleApi {
  /**
   * Sends a request to the double in this process, without a socket. Its interface is that of the platform's `fetch`.
   * @example
   * const response = await double.fetch('/articles');
   * assert.equal(response.status, 200);
   */
  readonly fetch: Fetch;
  /** The clock of the double. */
  readonly clock: DoubleClock;
  /**
   * Controls users, secrets, keys and nonces.
   * @example double.auth.rotateSecret('johndoe');
   */
  readonly auth: DoubleAuth;
  /**
   * The requests that the double received, with their responses.
   * @example double.journal.last().auth; // { scheme: 'hmac', passed: ['parse', 'user'], failedAt: 'digest', hint: 'the query was left out', … }
   */
  readonly journal: DoubleJournal;
  /**
   * Plans faults for requests.
   * @example double.faults.next({ method: 'GET' }, { status: 503, retryAfter: 2 });
   */
  readonly faults: DoubleFaults;
  /** Controls OAuth 2.0. Requires the option `clients`. */
  readonly oauth2: DoubleOAuth2;
  /** Controls OAuth 1.0a. Requires the option `consumers`. */
  readonly oauth1: DoubleOAuth1;
  /**
   * Returns a client that signs its requests as a user, with a scheme of the option `schemes`.
   * @throws RangeError also if credentials are missing: a private key that the double does not know
   * @example await double.as('ann', { scheme: 'partner' }).fetch('/articles');
   */
  as<Name extends string>(user: string, options: ConfiguredAsOptions<Name>): SigningClient;
  /**
   * Returns a client that signs its requests as a user.
   * @throws RangeError if there is no such user and `options` contain no credentials
   * @example await double.as('johndoe').fetch('/articles', { method: 'POST', body: '<article>…</article>' });
   * @example await double.as('johndoe', { date: '2020-01-01T00:00:00Z' }).fetch('/articles'); // 401: a stale date
   */
  as(user: string, options?: AsOptions): SigningClient;
}

/** Composes the functions that control a service. */
export function createDoubleApi(core: Core, addresses: Addresses): DoubleApi {
  const { service, users, nonces, faults, journal } = core;
  const answering = {
    respond: addConnectionFaults(service.respond, faults),
    awaited: faults.awaited,
    present: presentFault,
    mark: withEntry,
    ...addresses,
  };
  const origins = once(() => listOwnOrigins(addresses, listOtherOrigins(core)));
  const server: InProcessServer = {
    ...answering,
    get origins() {
      return origins();
    },
  };
  // A consent page can be requested by the address of a proxy.
  const fetchAny = createFetch({ ...answering, origins: undefined, followsAll: true });
  const oauth2 = createOAuth2Control(core, fetchAny, issuerOf(core, addresses));
  const oauth1 = createOAuth1Control(core, fetchAny);
  return {
    fetch: createFetch(server),
    clock: core.time.control,
    auth: {
      ...users.control,
      burnNonces(count = 1) {
        nonces.burn(read(number({ min: 0 }), count, 'the number of nonces'));
      },
    },
    journal: journal.journal,
    faults: faults.faults,
    oauth2,
    oauth1,
    as: (user: string, options: AsOptions | ConfiguredAsOptions = {}) =>
      createSigner(user, options, { core, oauth1, oauth2, server }),
  };
}

/** Returns the issuer of tokens that no client requests: the address that tests use over plain HTTP, unless TLS is required. */
function issuerOf({ options: { oauth2, publicUrl, tls } }: Core, { url, secureUrl }: Addresses): string {
  return oauth2?.issuer ?? publicUrl ?? (tls === 'required' ? (secureUrl ?? url) : url);
}

/** Returns the further URLs whose origins are those of the service. */
function listOtherOrigins({ options: { aliases = [], publicUrl } }: Core): readonly string[] {
  return publicUrl === undefined ? aliases : [...aliases, publicUrl];
}

/** Adds the entry of the journal, for assertions about the response. */
function withEntry(response: Response, { record }: HttpResponse): Response {
  return Object.defineProperty(response, entryOfAnswer, { value: record });
}

/** Applies connection faults to in-process requests over TLS, as the listener does to connections. */
function addConnectionFaults(
  handle: ControllableService['respond'],
  faults: FaultsPart,
): ControllableService['respond'] {
  return async (request) => {
    const failure = request.connection.secure ? faults.connect() : undefined;
    if (failure !== undefined) throw failure;
    return handle(request);
  };
}
