import { basicHeader } from '../client/basic.ts';
import { defaultLifetimes } from '../oauth/lifetimes.ts';
import type { ControllableService } from '../service/service.ts';
import { type AuthControl, createAuthControl } from './auth/auth-control.ts';
import { consumerOf, createOAuth1Control, type OAuth1Control } from './auth/oauth1.ts';
import { clientOf, createOAuth2Control, type OAuth2Control } from './auth/oauth2.ts';
import type { ComposedService } from './compose.ts';
import type { Faults, FaultsPart } from './faults/faults.ts';
import { createFetch, createSender, type Fetch } from './fetch/fetch.ts';
import { type Addresses, fetchRequestOf } from './fetch/fetch-request.ts';
import {
  type AsOptions,
  createSigner,
  passwordOf,
  type Signer,
  type SigningParts,
} from './fetch/signed-client.ts';
import type { Journal } from './journal/journal.ts';
import type { DoubleClock } from './state/clock.ts';

/** What a test steers a service by, in memory or on a data directory. */
export interface DoubleApi {
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
}

/** Composes what a test steers a service by. */
export function createDoubleApi(context: ComposedService, { url, secureUrl }: Addresses): DoubleApi {
  const { service, users, nonces, faults, journal, masterKey, random } = context;
  const { clock } = context.time;
  const { oauth, handle } = service;
  const { awaited } = faults;
  const place = { respond: connecting(handle, faults), awaited, url, secureUrl };
  const fetch = createFetch(place);
  const lifetimes = { ...defaultLifetimes, ...context.options.lifetimes };
  const basicFor = (user: string): string => basicHeader(user, passwordOf(users, user));
  const watched = { faults: faults.faults, journal: journal.journal };
  const shared = { oauth, lifetimes, clock, users, fetch, basicFor, ...watched };
  const second = { ...shared, clients: () => namesOf(context.options.clients) };
  const first = { ...shared, consumers: () => namesOf(context.options.consumers), masterKey };
  const [oauth2, oauth1] = [createOAuth2Control(second), createOAuth1Control(first)];
  const signing: SigningParts = {
    ...{ users, clock, random, send: createSender(place) },
    read: (input, init, typeOfText) => fetchRequestOf(input, init, place, typeOfText),
    async bearerFor(user, name) {
      const { id, scopes } = clientOf(second, name);
      return (await oauth2.issueToken({ client: id, user, scope: scopes })).accessToken;
    },
    async oauth1For(user, name) {
      const { key, secret = '' } = consumerOf(first, name);
      return { consumer: { key, secret }, token: await oauth1.issueToken({ consumer: key, user }) };
    },
  };
  return {
    fetch,
    clock: context.time.face,
    auth: createAuthControl({ users, nonces, grants: oauth.grants, clock }),
    journal: journal.journal,
    faults: faults.faults,
    oauth2,
    oauth1,
    as: (user, asked = {}) => createSigner(user, asked, signing),
  };
}

/** Has a request over TLS that is answered in process meet the certificate first, as over a socket. */
function connecting(
  handle: ControllableService['handle'],
  faults: FaultsPart,
): ControllableService['handle'] {
  return async (request) => {
    const refusal = request.connection.secure ? faults.connect() : undefined;
    if (refusal !== undefined) throw refusal;
    return handle(request);
  };
}

function namesOf(
  registered: Readonly<Record<string, unknown>> | ReadonlyMap<string, unknown> = {},
): Iterable<string> {
  return registered instanceof Map ? registered.keys() : Object.keys(registered);
}
