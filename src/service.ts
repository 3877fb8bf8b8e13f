import { randomBytes } from 'node:crypto';
import type { Authenticator } from './auth/authenticate.ts';
import { createAuthentication } from './authentication.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import { type Clock, systemClock } from './clock.ts';
import { decide, type House } from './decide.ts';
import { type Collection, defaultCollections, defineCollection } from './declaration.ts';
import { createDateCache } from './http/date.ts';
import type { Reply, Request } from './http/message.ts';
import { Problem } from './http/problem.ts';
import { type Known, nothingKnown } from './judged-call.ts';
import { suggestion } from './nearest.ts';
import { type Listener, listen } from './net/listener.ts';
import type { ServerIdentity } from './net/server-identity.ts';
import type { GrantEvent } from './oauth/records.ts';
import type { Answer } from './observer.ts';
import { createOrigins } from './origin.ts';
import { createProxyTrust } from './proxy.ts';
import { clientsOf, consumersOf } from './registration.ts';
import { leadingFields } from './reply.ts';
import { type DocumentFormat, writeDescription, writeProblem } from './representation/documents.ts';
import type { Resource } from './resource.ts';
import { collectionResource } from './resources/collection.ts';
import { itemResource, itemTemplate } from './resources/item.ts';
import { explanationResource, problemsResource } from './resources/problems.ts';
import { rootResource } from './resources/root.ts';
import { createRouter, type Route, type Router } from './router.ts';
import { plantSeed } from './seed.ts';
import {
  type AccessEntry,
  defaultLimits,
  type Limits,
  optionNames,
  type ServiceOptions,
} from './service-options.ts';
import { createMemoryStore } from './store/memory.ts';
import { type Store, StoreError } from './store/store.ts';

/** Where a service listens. */
export interface Listening {
  /** `http://127.0.0.1:8080`, or `https://…`. */
  readonly url: string;
  readonly port: number;
  /**
   * Puts this certificate in the place of the one before it for whoever connects from now on; open connections go on.
   * Throws IdentityError when it cannot be used, and the one before stays; TypeError where it is not HTTPS.
   */
  replaceCertificate(identity: ServerIdentity): void;
}

/** An address to listen on. */
export interface Address {
  /** 127.0.0.1 when left out. */
  readonly host?: string;
  /** 0, or left out, picks a free one. */
  readonly port?: number;
  /**
   * HTTPS with this certificate and key; plain HTTP when left out. A function is asked for them when the first client
   * comes, and must not fail then.
   */
  readonly tls?: ServerIdentity | (() => ServerIdentity);
  /** Told of each connection over TLS as it comes: it has its certificate, the next one may get another. */
  readonly connected?: () => void;
}

/** The whole of the server, with or without a socket. */
export interface Service {
  /** Resolves when the seed is in the store. Requests wait for it by themselves. */
  readonly ready: Promise<void>;
  /** Answers a request; never rejects. */
  handle(request: Request): Promise<Reply>;
  /** Opens a port. Rejects with ListenError, or with IdentityError when the certificate and the key cannot be used. */
  listen(address: Address): Promise<Listening>;
  /** Puts these users in the place of all that were there; requests that are not judged yet are judged by them. */
  replaceUsers(users: NonNullable<ServiceOptions['users']>): void;
  /** Puts these clients of OAuth 2.0 in the place of all that were there. Throws RangeError on one that cannot be, with nothing changed. */
  replaceClients(clients: NonNullable<ServiceOptions['clients']>): void;
  /** Puts these consumers of OAuth 1.0a in the place of all that were there, likewise. */
  replaceConsumers(consumers: NonNullable<ServiceOptions['consumers']>): void;
  /** Stops accepting, finishes what is in flight for at most `grace` ms (10,000), and lets go of everything. */
  close(grace?: number): Promise<void>;
}

/** What is served: collections, as options have them, and resources in code by path template. */
export type Served = Required<Pick<ServiceOptions, 'collections' | 'resources'>>;

/** What of a service is otherwise where it is steered. */
export interface Steering {
  /** Told of what happens to grants and tokens. */
  readonly granted?: (event: GrantEvent) => void;
  /** Who judges credentials in the place of all schemes. */
  readonly authenticator?: Authenticator;
  /** What problems and descriptions are written in for clients that accept either; XML when left out. */
  readonly format?: DocumentFormat;
}

/** A service, and what of it a test double steers. */
export interface SteeredService extends Service {
  readonly oauth: AuthorizationServer;
  /** What is served now. */
  readonly router: Router;
  /** Puts these collections and resources in the place of all that were there. Throws as `createService` does, with nothing changed. */
  replaceServed(served: Served): void;
}

/** Composes a service. Throws DeclarationError or RangeError on options that cannot be. */
export function createService(options: ServiceOptions = {}): Service {
  return createSteeredService(options);
}

/** The same, to be steered. */
export function createSteeredService(
  options: ServiceOptions = {},
  { granted, authenticator, format = 'xml' }: Steering = {},
): SteeredService {
  refuseUnknown(options);
  const { clock = systemClock, random = randomBytes } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const lineage = (): string => Buffer.from(random(4)).toString('hex');
  const store = options.store ?? createMemoryStore({ lineage: lineage() });
  const collections = collectionsOf(options);
  const listeners: Listener[] = [];
  let closing = false;

  const httpDate = createDateCache();
  const origins = createOrigins(options.publicUrl);
  const authentication = createAuthentication(options, clock, random, { store, origins, granted });
  const { oauth } = authentication;
  const routerOf = (served: readonly Collection[], resources: Served['resources']): Router =>
    createRouter([...routesOf(served, store, limits, resources), ...oauth.routes]);
  let router = routerOf(collections, options.resources ?? {});
  const house: House = {
    get router() {
      return router;
    },
    authenticator: authenticator ?? authentication.authenticator,
    clock,
    httpDate,
    limits,
    stopping: () => closing,
    describe: (description, accept) => writeDescription(description, accept, format),
  };
  const seeded = plantSeed(store, collections, options.seed ?? {}, clock);
  let planted = false;
  // Whoever waits for it learns of a failure; nobody has to.
  seeded.then(
    () => {
      planted = true;
    },
    () => {},
  );
  const { log, fault = (error) => console.error(error) } = options;

  const conclude = (
    request: Request | undefined,
    reply: Reply,
    known: Known,
    begun: number,
    problem?: Problem,
  ): Reply => {
    if (log !== undefined) log(accessEntry(request, reply.status, known, clock, begun, problem));
    return reply;
  };
  const answer = async (request: Request, known: Known): Promise<Reply> => {
    const begun = log === undefined ? 0 : clock.steady();
    let outcome: Reply | Problem;
    try {
      if (!planted) await seeded;
      outcome = await decide(request, house, known);
    } catch (error) {
      outcome = problemOf(error, fault);
    }
    // What was used up is kept before anything is said, unless the change kept it.
    const keeping = authentication.keepNonce(known.principal, !(outcome instanceof Problem));
    if (keeping !== undefined)
      outcome = await keeping.then(
        () => outcome,
        (error) => problemOf(error, fault),
      );
    if (!(outcome instanceof Problem)) return conclude(request, outcome, known, begun);
    known.problem = outcome;
    const reply = toProblemReply(outcome, request, known, httpDate(clock.now()), format);
    return conclude(request, reply, known, begun, outcome);
  };

  const { trustProxy = [], observer } = options;
  const asSent = createProxyTrust(trustProxy);
  const judge: Answer = trustProxy.length === 0 ? answer : (request, known) => answer(asSent(request), known);
  const handle = (request: Request): Promise<Reply> =>
    observer === undefined ? judge(request, nothingKnown()) : observer.handle(request, judge);

  const refuse = (problem: Problem, request: Request | undefined, received?: string): Reply => {
    const known = nothingKnown();
    const reply = toProblemReply(problem, request, known, httpDate(clock.now()), format);
    observer?.refused(problem, request, reply, received);
    return conclude(request, reply, known, clock.steady(), problem);
  };

  return {
    ready: seeded,
    handle,
    async listen({ host = '127.0.0.1', port = 0, tls, connected }) {
      const listener = await listen({ host, port, tls, limits, handle, refuse, connected });
      listeners.push(listener);
      const name = host.includes(':') ? `[${host}]` : host;
      const url = `${tls === undefined ? 'http' : 'https'}://${name}:${listener.port}`;
      if (tls !== undefined) origins.listening(url);
      return {
        url,
        port: listener.port,
        replaceCertificate: (identity) => listener.replaceIdentity(identity),
      };
    },
    replaceUsers: authentication.replaceUsers,
    oauth,
    get router() {
      return router;
    },
    replaceServed({ collections: declared, resources }) {
      router = routerOf(collectionsOf({ collections: declared }), resources);
    },
    replaceClients: (registered) => oauth.clients.replace(clientsOf(registered)),
    replaceConsumers: (registered) => oauth.consumers.replace(consumersOf(registered)),
    async close(grace = 10_000) {
      closing = true;
      await Promise.all(listeners.map((listener) => listener.close(grace)));
      await oauth.departures.done?.catch(() => {});
      if (options.store === undefined) await store.close();
    },
  };
}

/** What went wrong as a Problem. What is no refusal is a fault of the server: it is told to `fault` alone. */
function problemOf(error: unknown, fault: (error: unknown) => void): Problem {
  if (error instanceof Problem) return error;
  if (!(error instanceof StoreError && error.told)) fault(error);
  if (!(error instanceof StoreError))
    return new Problem('internal-error', 'The server failed on this request.');
  if (error.code === 'full')
    return new Problem('store-full', 'The change was not made: there is no room for it.');
  return new Problem('store-unavailable', 'The change was not made: it could not be kept.', {
    fields: [['Retry-After', '60']],
  });
}

const refusesPrincipal: ReadonlySet<number> = new Set([401, 403, 405]);

/** The one place where a Problem becomes a reply (RFC 9457). */
function toProblemReply(
  problem: Problem,
  request: Request | undefined,
  known: Known,
  date: string,
  format: DocumentFormat,
): Reply {
  const instance = request === undefined ? '' : pathSent(request);
  const { type, content } = writeProblem(problem, instance, request?.fields.get('accept'), format);
  const fields = leadingFields(date, known.principal, refusesPrincipal.has(problem.status));
  fields.push(['Content-Type', type], ...problem.fields);
  return {
    status: problem.status,
    fields,
    content,
    headOnly: request?.method === 'HEAD',
    close: problem.close,
  };
}

/** The path as sent: neither the query nor, in absolute form, who is named before the host is shown to anybody. */
function pathSent({ target }: Request): string {
  return target.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]*/, '').replace(/[?#].*$/s, '');
}

/** What the access log is told: method and path as sent, and nothing of query, fields or content. */
function accessEntry(
  request: Request | undefined,
  status: number,
  { principal }: Known,
  clock: Clock,
  begun: number,
  problem: Problem | undefined,
): AccessEntry {
  return {
    time: clock.now(),
    method: request?.method ?? '-',
    path: request === undefined ? '-' : pathSent(request),
    status,
    principal: principal?.name,
    scheme: principal?.scheme,
    microseconds: Math.round((clock.steady() - begun) * 1000),
    problem: problem?.type,
  };
}

/** An option that was misspelt would leave a door as it is by default. */
function refuseUnknown(options: ServiceOptions): void {
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(optionNames, name)) continue;
    throw new RangeError(
      `${name} is not an option of a service${suggestion(name, Object.keys(optionNames))}`,
    );
  }
}

function collectionsOf({ collections = defaultCollections }: ServiceOptions): readonly Collection[] {
  if (isList(collections)) return collections;
  return Object.entries(collections).map(([path, declaration]) => defineCollection(path, declaration));
}

function isList<T>(value: Readonly<Record<string, unknown>> | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}

function routesOf(
  collections: readonly Collection[],
  store: Store,
  limits: Limits,
  resources: Readonly<Record<string, Resource>>,
): Route[] {
  const documentLimits = {
    maxDepth: limits.xmlDepth,
    maxAttributes: limits.xmlAttributes,
    maxLength: limits.body,
  };
  const routes: Route[] = collections.flatMap((collection) => [
    { template: collection.path, resource: collectionResource(collection, store, documentLimits) },
    { template: itemTemplate(collection), resource: itemResource(collection, store, documentLimits) },
  ]);
  routes.push(...Object.entries(resources).map(([template, resource]) => ({ template, resource })));
  const own: Route[] = [
    { template: '/', resource: rootResource(routes) },
    { template: '/problems', resource: problemsResource() },
    { template: '/problems/{name}', resource: explanationResource() },
  ];
  const taken = new Set(routes.map(({ template }) => template));
  return [...own.filter(({ template }) => !taken.has(template)), ...routes];
}
