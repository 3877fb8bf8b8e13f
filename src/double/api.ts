import type { Response as HttpResponse } from '../http/message.ts';
import { readLifetimes } from '../oauth/lifetimes.ts';
import { createFetch, createSender, type Fetch, type InProcessServer } from '../service/fetch/fetch.ts';
import type { Addresses } from '../service/fetch/fetch-request.ts';
import { readAddress, readFetchRequest } from '../service/fetch/fetch-request.ts';
import type { ControllableService } from '../service/service.ts';
import { basicHeader } from '../signature/sent-credentials.ts';
import { createAuthControl, type DoubleAuth } from './auth/auth-control.ts';
import { createOAuth1Control, type DoubleOAuth1, findConsumer } from './auth/oauth1.ts';
import { createOAuth2Control, type DoubleOAuth2, findClient } from './auth/oauth2.ts';
import type { KnownNames } from './auth/tokens.ts';
import { type Core, listNames } from './compose.ts';
import type { DoubleFaults, FaultsPart } from './faults/faults.ts';
import { type InProcessResponse, toInProcessResponse } from './faults/in-process.ts';
import type { AsOptions, ConfiguredAsOptions } from './fetch/as-options.ts';
import { listOwnOrigins } from './fetch/origins.ts';
import { type ClientParts, createSigner, type SigningClient } from './fetch/signed-client.ts';
import { requirePassword } from './fetch/signing.ts';
import { entryOfAnswer } from './journal/entry-key.ts';
import type { DoubleJournal } from './journal/journal.ts';
import type { DoubleClock } from './state/clock.ts';

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
export function createDoubleApi(context: Core, addresses: Addresses): DoubleApi {
  const { service, schemes, users, nonces, faults, journal, masterKey, random } = context;
  const { clock } = context.time;
  const { oauth, respond: handle } = service;
  const { awaited } = faults;
  const origins = listOwnOrigins(addresses, listOtherOrigins(context));
  const server: InProcessServer = {
    respond: addConnectionFaults(handle, faults),
    awaited,
    present: presentFault,
    mark: withEntry,
    ...addresses,
    origins,
  };
  const fetch = createFetch(server);
  // A consent page can be requested by the address of a proxy.
  const anyOrigin = { ...server, origins: undefined, followsAll: true };
  const lifetimes = readLifetimes(context.options.lifetimes);
  const names: KnownNames = {
    users: () => [...users.all.keys()],
    clients: () => [...listNames(context.options.clients), ...listNames(context.options.consumers)],
  };
  const basicFor = (user: string): string => basicHeader(user, requirePassword(users, user));
  const shared = {
    oauth,
    lifetimes,
    clock,
    users,
    names,
    basicFor,
    fetch: createFetch(anyOrigin),
  };
  const oauth2Parts = {
    ...shared,
    clients: () => listNames(context.options.clients),
    issuer: issuerOf(context, addresses),
    mistakes: context.tokenMistakes,
  };
  const oauth1Parts = { ...shared, consumers: () => listNames(context.options.consumers), masterKey };
  const [oauth2, oauth1] = [createOAuth2Control(oauth2Parts), createOAuth1Control(oauth1Parts)];
  const signing: ClientParts = {
    users,
    schemes,
    schemeNames: context.partner?.schemeNames,
    clock,
    random,
    send: createSender(server),
    resolveAddress: (url, secure) => readAddress(url, secure, anyOrigin),
    read: (input, init, typeOfText) => readFetchRequest(input, init, server, typeOfText),
    async bearerFor(user, name) {
      const { id, scopes } = findClient(oauth2Parts, name);
      return (await oauth2.issueToken({ client: id, user, scope: scopes })).accessToken;
    },
    findConsumer: (key) => findConsumer(oauth1Parts, key),
    oauth1For: (user, client) => oauth1.issueToken({ client, user }),
  };
  return {
    fetch,
    clock: context.time.control,
    auth: createAuthControl({ users, nonces, clock }),
    journal: journal.journal,
    faults: faults.faults,
    oauth2,
    oauth1,
    as: (user: string, signerOptions: AsOptions | ConfiguredAsOptions = {}) =>
      createSigner(user, signerOptions, signing),
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

/** Returns what the platform's fetch would present of a response with a fault. */
function presentFault(reply: HttpResponse, isHead: boolean): InProcessResponse {
  return toInProcessResponse(reply.fault ?? {}, reply, isHead);
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
