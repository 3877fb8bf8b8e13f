import { randomBytes } from 'node:crypto';
import { clientsOf, consumersOf } from '../accounts/registration.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import { systemClock } from '../clock.ts';
import type { Collection } from '../collections/declaration.ts';
import { loadSeed } from '../collections/seed.ts';
import { didYouMean } from '../did-you-mean.ts';
import { type DocumentFormat, writeDescription, writeProblem } from '../formats/server-documents.ts';
import { createDateCache } from '../http/headers/date.ts';
import type { Request, Response } from '../http/message.ts';
import { type Listener, type ListenerOptions, listen } from '../net/listener.ts';
import type { ServerIdentity } from '../net/tls/identity.ts';
import type { GrantEvent } from '../oauth/records.ts';
import type { ServiceContext } from '../pipeline/decide.ts';
import { GzipQueue } from '../pipeline/gzip-queue.ts';
import { createOrigins } from '../pipeline/origin.ts';
import { Pipeline } from '../pipeline/pipeline.ts';
import { createRouter, type Router } from '../pipeline/router.ts';
import { createMemoryStore } from '../store/memory.ts';
import { createAuthentication } from './authentication.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import { defaultLimits, optionNames, type ServiceOptions } from './options.ts';
import { collectionsOf, routesOf, type ServedRoutes } from './routes.ts';

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
  /** Whether the process may exit while this port and its connections are open. Default: false. */
  readonly unref?: boolean;
}

/** The whole of the server, with or without a socket. */
export interface Service {
  /** Resolves when the seed is in the store. Requests wait for it by themselves. */
  readonly ready: Promise<void>;
  /** Answers a request; never rejects. */
  handle(request: Request): Promise<Response>;
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

/** What of a service is otherwise where it is steered. */
export interface ServiceControls {
  /** Told of what happens to grants and tokens. */
  readonly granted?: (event: GrantEvent) => void;
  /** Who judges credentials in the place of all schemes. */
  readonly authenticator?: Authenticator;
  /** What problems and descriptions are written in for clients that accept either; XML when left out. */
  readonly format?: DocumentFormat;
}

/** A service, and what of it a test double steers. */
export interface ControllableService extends Service {
  readonly oauth: AuthorizationServer;
  /** What is served now. */
  readonly router: Router;
  /** Puts these collections and resources in the place of all that were there. Throws as `createService` does, with nothing changed. */
  replaceServed(served: ServedRoutes): void;
}

/** Composes a service. Throws DeclarationError or RangeError on options that cannot be. */
export function createService(options: ServiceOptions = {}): Service {
  return createControllableService(options);
}

/** The same, to be steered. */
export function createControllableService(
  options: ServiceOptions = {},
  { granted, authenticator, format = 'xml' }: ServiceControls = {},
): ControllableService {
  refuseUnknown(options);
  const { clock = systemClock, random = randomBytes } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const lineage = (): string => Buffer.from(random(4)).toString('hex');
  const store = options.store ?? createMemoryStore({ storeId: lineage() });
  const collections = collectionsOf(options);
  const listeners: Listener[] = [];
  let closing = false;

  const httpDate = createDateCache();
  const origins = createOrigins(options.publicUrl);
  const authentication = createAuthentication(options, clock, random, { store, origins, granted });
  const { oauth } = authentication;
  const routerOf = (served: readonly Collection[], resources: ServedRoutes['resources']): Router =>
    createRouter([...routesOf(served, store, limits, resources), ...oauth.routes]);
  let router = routerOf(collections, options.resources ?? {});
  const context: ServiceContext = {
    get router() {
      return router;
    },
    authenticator: authenticator ?? authentication.authenticator,
    clock,
    httpDate,
    gzip: new GzipQueue(),
    limits,
    stopping: () => closing,
    describe: (description, accept) => writeDescription(description, accept, format),
  };
  const seeded = loadSeed(store, collections, options.seed ?? {}, clock);
  const { keepNonce } = authentication;
  const answering = new Pipeline({
    context,
    seeded,
    keepNonce,
    options,
    writeProblem: (problem, instance, accept) => writeProblem(problem, instance, accept, format),
  });
  const handle = (request: Request): Promise<Response> => answering.respond(request);
  const refuse: Pipeline['respondToInvalid'] = (...refused) => answering.respondToInvalid(...refused);

  return {
    ready: seeded,
    handle,
    async listen(address) {
      const { listener, listening } = await openPort(address, { limits, respond: handle, refuse });
      listeners.push(listener);
      if (address.tls !== undefined) origins.listening(listening.url);
      return listening;
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

/** Opens a port for what answers, and gives what listens there beside what is told of it. */
async function openPort(
  { host = '127.0.0.1', port = 0, tls, connected, unref }: Address,
  answers: Pick<ListenerOptions, 'limits' | 'respond' | 'refuse'>,
): Promise<{ readonly listener: Listener; readonly listening: Listening }> {
  const listener = await listen({ host, port, tls, connected, unref, ...answers });
  const name = host.includes(':') ? `[${host}]` : host;
  const listening: Listening = {
    url: `${tls === undefined ? 'http' : 'https'}://${name}:${listener.port}`,
    port: listener.port,
    replaceCertificate: (identity) => listener.replaceIdentity(identity),
  };
  return { listener, listening };
}

/** An option that was misspelt would leave a door as it is by default. */
function refuseUnknown(options: ServiceOptions): void {
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(optionNames, name)) continue;
    throw new RangeError(
      `${name} is not an option of a service${didYouMean(name, Object.keys(optionNames))}`,
    );
  }
}
