import { randomBytes } from 'node:crypto';
import { type Quotas, rateLimitFields } from '../accounts/quota.ts';
import { readClients, readConsumers } from '../accounts/registration.ts';
import type { GrantSelection } from '../accounts/revocations.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { Collection } from '../collections/declaration.ts';
import { writeDescription, writeProblem } from '../collections/formats/server-documents.ts';
import { Idempotency, type IdempotencyOptions } from '../collections/idempotency.ts';
import { SearchedStore } from '../collections/lists/search.ts';
import { loadSeed } from '../collections/seed.ts';
import { type Duration, requireSeconds } from '../duration.ts';
import { createDateCache } from '../http/headers/date.ts';
import type { IncomingRequest, Response } from '../http/message.ts';
import { ByteBudget } from '../net/byte-budget.ts';
import { listen, type ServerSocket } from '../net/listener.ts';
import { type RequestListener, requestListener } from '../net/request-listener.ts';
import type { TlsIdentity } from '../net/tls/identity.ts';
import type { Alterations } from '../oauth/oauth2/alterations.ts';
import { readOAuth2 } from '../oauth/oauth2-options.ts';
import type { TokenEvent } from '../oauth/records.ts';
import { createRequestIds, type RequestIds } from '../pipeline/access-entry.ts';
import type { RequestTrace } from '../pipeline/call.ts';
import { type Cors, createCors } from '../pipeline/cors.ts';
import type { ServiceContext } from '../pipeline/decide.ts';
import { GzipQueue } from '../pipeline/gzip-queue.ts';
import { createOrigins } from '../pipeline/origin.ts';
import { type Complete, Pipeline, type PipelineParts } from '../pipeline/pipeline.ts';
import type { Resource } from '../pipeline/resource.ts';
import {
  createRouter,
  extendRoutes,
  layerRoutes,
  type Route,
  type RouteLayer,
  type Router,
} from '../pipeline/router.ts';
import type { Scope } from '../principal.ts';
import type { AuthScheme } from '../schemes/auth-scheme.ts';
import type { Authenticator } from '../schemes/authenticate.ts';
import { checkSchemeNames } from '../schemes/configured-schemes.ts';
import { anything, number, object, optional, read, type ShapesOf, text } from '../shape/shape.ts';
import { createMemoryStore } from '../store/memory.ts';
import { createStoreId } from '../store/store-id.ts';
import { createAuthentication } from './authentication.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import { createFetch, type Fetch } from './fetch/fetch.ts';
import { healthResource, hideHealthChecks, readinessPath } from './health.ts';
import type { OpenApiDocument, ServedApi } from './openapi/document.ts';
import { addOpenApi, loadOpenApi, openApiResource } from './openapi/resource.ts';
import { defaultLimits, type ServiceOptions } from './options.ts';
import { checkServiceOptions, readGrace } from './options-shape.ts';
import { checkNamedScopes, someUseCors } from './resource-checks.ts';
import { createRoutes, readCollections, type ServedRoutes } from './routes.ts';
import { checkDistinctSecrets } from './user-checks.ts';

/** An open port of a service. */
export interface Listener {
  /** `http://127.0.0.1:8080`, or `https://…`. */
  readonly url: string;
  /** The port number. */
  readonly port: number;
  /**
   * Replaces the certificate for new connections; open connections continue.
   * @throws TlsError if it cannot be used; the previous one then stays
   * @throws TypeError if this port is not HTTPS
   */
  replaceCertificate(identity: TlsIdentity): void;
}

/** An address to listen on. */
export interface ListenOptions {
  /** Default: `127.0.0.1`. */
  readonly host?: string | undefined;
  /** 0 picks a free port. Default: 0. */
  readonly port?: number | undefined;
  /**
   * The TLS identity, or a function that returns one on the first connection; it must not throw. Default: none, which means
   * plain HTTP.
   */
  readonly tls?: (TlsIdentity | (() => TlsIdentity)) | undefined;
  /** Called for each TLS connection after its certificate was chosen. A certificate that it sets is used for the next one. @internal */
  readonly connected?: (() => void) | undefined;
  /** Whether the process may exit while this port and its connections are open. Default: false. */
  readonly unref?: boolean | undefined;
}

/** An HTTP service, with or without listening on a port. */
export interface Service {
  /**
   * Sends a request to the service in this process, without a socket. Its interface is that of the platform's `fetch`, with the options
   * `secure` (whether a path counts as requested over TLS) and `peer` (the address of the sender). A redirect to another origin is returned.
   * @example const response = await service.fetch('/articles', { method: 'POST', body });
   */
  readonly fetch: Fetch;
  /**
   * Answers requests of a server of node:http or node:https that the caller owns. Timeouts are then those of that server.
   * @example const server = http.createServer(service.handler);
   */
  readonly handler: RequestListener;
  /** Resolves when the seed is stored. Requests wait for it. */
  readonly ready: Promise<void>;
  /** Opens a port. Rejects with ListenError, or with TlsError if the certificate or its key cannot be used. */
  listen(address: ListenOptions): Promise<Listener>;
  /** Replaces all users. Requests that are not authenticated yet are checked against the new ones. Throws RangeError. */
  replaceUsers(users: NonNullable<ServiceOptions['users']>): void;
  /** Replaces all OAuth 2.0 clients. If one is invalid, throws RangeError and changes nothing. */
  replaceClients(clients: NonNullable<ServiceOptions['clients']>): void;
  /** Replaces all OAuth 1.0a consumers. If one is invalid, throws RangeError and changes nothing. */
  replaceConsumers(consumers: NonNullable<ServiceOptions['consumers']>): void;
  /** Replaces the keys that sign tokens, if some are signed. @internal */
  replaceSigningKeys(keys: NonNullable<ServiceOptions['signingKeys']>): void;
  /**
   * Revokes the selected OAuth grants and their tokens. A member that is not given selects all; at least one is required. Resolves
   * when they are deleted from the store. Rejects with StoreError if that failed: they are rejected until the service is closed.
   * Throws RangeError.
   */
  revokeGrants(selection: GrantSelection): Promise<void>;
  /**
   * Returns the OpenAPI 3.1 document of the service as it is now.
   * @param origins the origins of the service: `['https://api.example']`. Default: that of the option `publicUrl`, or the one from which
   * a client obtains the document
   */
  openapi(origins?: readonly string[]): Promise<OpenApiDocument>;
  /**
   * Stops accepting requests, finishes those in flight within `grace`, and closes everything.
   * @param options.grace milliseconds, or text such as `'10s'`. Default: 10 seconds
   */
  close(options?: { readonly grace?: Duration }): Promise<void>;
  /** Closes the service: see `close`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The parts of a service that a test double controls. */
interface ServiceControls {
  /** Called for each event of a grant or token. */
  readonly onGrantEvent?: (event: TokenEvent) => void;
  /** Makes responses of the authorization server wrong. */
  readonly alterations?: Alterations | undefined;
  /** Authenticates requests instead of all schemes. */
  readonly authenticator?: Authenticator;
  /** Further origins by which clients address the service. Default: none. */
  readonly aliases?: readonly string[];
  /** Routes that are asked before all others. Default: none. */
  readonly layer?: RouteLayer;
  /** Routes that are asked after all others. Default: none. */
  readonly fallbacks?: readonly RouteLayer[] | undefined;
  /** The scopes of a partner's document. Default: none. */
  readonly scopes?: readonly Scope[] | undefined;
  /** Whether TLS is assumed where credentials require it, because a test stands in for a service over TLS. Default: false. */
  readonly assumesTls?: boolean | undefined;
}

/** A service with the parts that a test double controls. */
export interface ControllableService extends Service {
  /** Returns the response to a request. Never rejects. */
  respond(request: IncomingRequest): Promise<Response>;
  readonly oauth: AuthorizationServer;
  /** The counts of requests by principal and peer. */
  readonly quotas: Pick<Quotas, 'snapshot' | 'restore'>;
  /** Returns the number of open connections. */
  connections(): number;
  /** The current routes. */
  readonly router: Router;
  /** Returns the user, or the id of the key, that the credentials of a request name, valid or not. */
  claimedName(request: IncomingRequest): string | undefined;
  /** Returns the scheme of the credentials of a request, valid or not; undefined if it has none outside the content. */
  claimedScheme(request: IncomingRequest): string | undefined;
  /** Returns whether a query parameter belongs to credentials. */
  isCredentialParameter(name: string): boolean;
  /** Adds the fields of the CORS protocol to a response that the service did not create. */
  share(response: Response, request: IncomingRequest, trace: RequestTrace): void;
  /** Replaces all collections and resources. Throws as `createService` does, and then changes nothing. */
  replaceServed(served: ServedRoutes): void;
}

/**
 * Creates a service. It answers `fetch` at once, and listens after `listen`.
 *
 * @throws DeclarationError on an invalid collection or seed
 * @throws RangeError on another invalid option, also if two users, clients or consumers have the same secret
 * @example
 * const service = createService({ users: { johndoe: { secret: 's3cret' } } });
 * const { url } = await service.listen({ port: 8080 });
 * await service.close();
 */
export function createService(options: ServiceOptions = {}): Service {
  return createControllableService(options);
}

/** Creates a service that a test double controls. Throws as `createService` does. */
export function createControllableService(
  options: ServiceOptions = {},
  {
    onGrantEvent,
    alterations,
    authenticator: controlled,
    aliases = [],
    layer,
    fallbacks = [],
    scopes,
    assumesTls,
  }: ServiceControls = {},
): ControllableService {
  checkServiceOptions(options);
  const { clock = systemClock, random = randomBytes, defaultFormat, health } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const contentBudget = new ByteBudget(Math.max(limits.unverifiedContent, limits.body));
  const store = options.store ?? createMemoryStore({ storeId: createStoreId(random) });
  const collections = readCollections(options);
  const idempotency = new Idempotency(store, readIdempotencyOptions(options));
  const listeners: ServerSocket[] = [];
  let closing = false;

  const httpDate = createDateCache();
  const origins = createOrigins(options.publicUrl, aliases);
  const settings = readOAuth2(options.oauth2, scopes);
  const authentication = createAuthentication(options, clock, random, {
    store,
    origins,
    onGrantEvent,
    alterations,
    settings,
  });
  checkDistinctSecrets(options);
  const { oauth } = authentication;
  const authenticator = controlled ?? authentication.authenticator;
  const isCredentialParameter = (name: string): boolean =>
    authenticator.isCredentialParameter?.(name) === true;
  const isCredential = options.strictQuery ? isCredentialParameter : undefined;
  const serving = { defaultFormat, isCredential, searched: new SearchedStore(store, clock) };
  const buildRouter = (served: readonly Collection[], resources: ServedRoutes['resources']): Router => {
    for (const { path, schemes } of served)
      checkSchemeNames(schemes, authentication.configured, `collections.${path}.schemes`);
    for (const [template, { schemes }] of Object.entries(resources))
      checkSchemeNames(schemes, authentication.configured, `schemes of the resource at ${template}`);
    checkNamedScopes(settings.scopes, served, resources);
    const further =
      health === undefined
        ? []
        : [
            { template: health.path, resource: healthResource(health) },
            { template: readinessPath(health), resource: healthResource(health, store) },
          ];
    const own = createRouter([
      ...createRoutes(
        served,
        store,
        limits,
        addOpenApi(resources, document),
        idempotency,
        serving,
        fallbacks,
      ),
      ...oauth.routes,
      ...further,
    ]);
    const extended = fallbacks.reduce(extendRoutes, own);
    return layer === undefined ? extended : layerRoutes(layer, extended);
  };
  let served: Pick<ServedApi, 'collections' | 'resources'> = {
    collections,
    resources: options.resources ?? {},
  };
  const buildServedApi = (): ServedApi => ({
    ...served,
    options,
    schemes: authentication.configured,
    quota: authentication.quotas.isActive,
    oauth2: oauth.clients.size > 0,
    scopes: settings.scopes,
    oauth1: oauth.consumers.size > 0,
  });
  const document = options.openapi === true ? openApiResource(buildServedApi) : undefined;
  let router = buildRouter(collections, options.resources ?? {});
  const cors = createCors({
    declared: options.cors,
    router: () => router,
    schemeFields: (allowed) => context.authenticator.requestHeaders?.(allowed) ?? ['authorization'],
  });
  const corsFor = (served: readonly Collection[], resources: ServedRoutes['resources']): Cors | undefined =>
    options.cors !== undefined || someUseCors(served, resources) ? cors : undefined;
  let currentCors = corsFor(collections, options.resources ?? {});
  const context: Mutable<ServiceContext, 'quotas'> = {
    get router() {
      return router;
    },
    get cors() {
      return currentCors;
    },
    authenticator,
    quotas: selectActive(authentication.quotas),
    clock,
    httpDate,
    gzip: new GzipQueue(),
    limits,
    stopping: () => closing,
    describe: (description, accept, format = defaultFormat) => writeDescription(description, accept, format),
  };
  const seeded = loadSeed(store, collections, options.seed ?? {}, clock);
  const signing = createResponseSigning(authentication.configured, clock);
  const loading = [signing?.loaded, oauth.ready].filter((each) => each !== undefined);
  const ready = loading.length === 0 ? seeded : Promise.all([seeded, ...loading]).then(() => {});
  const requestIds = createRequestIds(random);
  const completion = (): Complete | undefined =>
    createCompletion(
      selectActive(authentication.quotas),
      options.requestId === true ? requestIds : undefined,
      signing?.sign,
    );
  const parts: Mutable<PipelineParts, 'complete'> = {
    context,
    seeded: ready,
    requestIds,
    complete: completion(),
    assumesTls,
    options: health === undefined ? options : { ...options, ...hideHealthChecks(health, options) },
    writeProblem: (problem, instance, accept, format = defaultFormat) =>
      writeProblem(problem, instance, accept, format, options.basePath),
  };
  const pipeline = new Pipeline(parts);
  const close: Service['close'] = async (given) => {
    const wait = readGrace(given, '10s');
    closing = true;
    await Promise.all(listeners.map((listener) => listener.close(wait)));
    await oauth.departures.done?.catch(() => {});
    if (options.store === undefined) await store.close();
  };
  const handle = (request: IncomingRequest): Promise<Response> => pipeline.respond(request);
  const refuse: Pipeline['respondToInvalid'] = (...invalid) => pipeline.respondToInvalid(...invalid);

  return {
    ready,
    fetch: createFetch({ respond: handle, ...inProcess }),
    respond: handle,
    handler: requestListener(handle),
    async listen(address) {
      read(listenShape, address, { optionsOf: 'listen' });
      const { host = '127.0.0.1', port: wanted = 0, tls, connected, unref } = address;
      const port = { host, port: wanted, tls, connected, unref };
      const listener = await listen({ ...port, limits, contentBudget, respond: handle, refuse });
      listeners.push(listener);
      const name = host.includes(':') ? `[${host}]` : host;
      const url = `${tls === undefined ? 'http' : 'https'}://${name}:${listener.port}`;
      origins.listening(url);
      return {
        url,
        port: listener.port,
        replaceCertificate: (identity) => listener.replaceIdentity(identity),
      };
    },
    replaceUsers(users) {
      authentication.replaceUsers(users);
      context.quotas = selectActive(authentication.quotas);
      parts.complete = completion();
    },
    oauth,
    quotas: authentication.quotas,
    connections: () => listeners.reduce((sum, { connections }) => sum + connections, 0),
    claimedName: (request) => context.authenticator.claimedName?.(request),
    claimedScheme: (request) => context.authenticator.claimedScheme?.(request),
    isCredentialParameter,
    get router() {
      return router;
    },
    share: (response, request, trace) => pipeline.share(response, request, trace),
    replaceServed({ collections: declared, resources }) {
      const replaced = { collections: readCollections({ collections: declared }), resources };
      router = buildRouter(replaced.collections, resources);
      currentCors = corsFor(replaced.collections, resources);
      served = replaced;
    },
    openapi: (origins) => loadOpenApi(withRoutes(buildServedApi(), layer?.routes ?? []), origins),
    replaceClients(registered) {
      const clients = readClients(registered, settings.scopes, settings.documented);
      authentication.checkClients(clients);
      oauth.clients.replace(clients);
    },
    replaceConsumers: (registered) => oauth.consumers.replace(readConsumers(registered)),
    replaceSigningKeys: (keys) => oauth.keys?.replace(keys),
    async revokeGrants(selection) {
      read(selectionShape, selection, 'a selection of grants');
      if (Object.values(selection).every((value) => value === undefined))
        throw new RangeError('a selection of grants must have a grant, user or client');
      await oauth.departures.revoke(selection);
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

const listenShape = object(
  {
    host: optional(text()),
    port: optional(number({ min: 0, max: 65_535 })),
    tls: optional(anything),
    connected: optional(anything),
    unref: optional(anything),
  } satisfies ShapesOf<ListenOptions>,
  undefined,
  { expected: 'an object such as { port: 8080 }' },
);

const selectionShape = object(
  {
    grant: optional(text()),
    user: optional(text()),
    client: optional(text()),
  } satisfies ShapesOf<GrantSelection>,
  undefined,
  { expected: "an object such as { user: 'johndoe' }" },
);

/** The addresses of requests that pass no socket. */
const inProcess = { url: 'http://localhost', secureUrl: 'https://localhost', origins: undefined };

/** Adds the resources of further routes. Of several at a path, the last one that implements a method is described. */
function withRoutes(api: ServedApi, routes: readonly Route[]): ServedApi {
  const resources: Record<string, Resource> = { ...api.resources };
  for (const { template, resource } of routes) {
    const before = resources[template];
    const methods = { ...before?.methods, ...resource.methods };
    resources[template] = { ...before, ...resource, methods };
  }
  return { ...api, resources };
}

function readIdempotencyOptions(options: ServiceOptions): IdempotencyOptions {
  const { idempotencyLifetime = 86_400, maxIdempotencyKeysPerUser: maxPerUser = 10_000 } = options;
  const lifetime = requireSeconds(idempotencyLifetime, 'idempotencyLifetime', 1, 31_536_000);
  return { lifetime, maxPerUser };
}

/** A type of which one member can be assigned. */
type Mutable<T, Name extends keyof T> = Omit<T, Name> & { -readonly [Each in Name]: T[Each] };

/** Returns the quotas if they limit anything. */
function selectActive(quotas: Quotas): Quotas | undefined {
  return quotas.isActive ? quotas : undefined;
}

/** Returns the function that adds the fields of quotas and the request's id, and signs the response; undefined if there is none. */
function createCompletion(
  quotas: Quotas | undefined,
  requestIds: RequestIds | undefined,
  sign: ((response: Response, request: IncomingRequest | undefined) => Response) | undefined,
): Complete | undefined {
  if (quotas === undefined && requestIds === undefined) return sign;
  return (response, request, trace) => {
    if (request !== undefined) quotas?.charge(request, trace);
    if (requestIds !== undefined) {
      trace.requestId ??= requestIds(request);
      response.headers.push(['X-Request-Id', trace.requestId]);
    }
    if (trace.quota !== undefined) response.headers.push(...rateLimitFields(trace.quota));
    return sign === undefined ? response : sign(response, request);
  };
}

/** Signs responses as the schemes are configured. Loads the code first; until `loaded`, responses are unsigned. */
function createResponseSigning(
  configured: readonly AuthScheme[],
  clock: Clock,
):
  | {
      readonly loaded: Promise<void>;
      sign(response: Response, request: IncomingRequest | undefined): Response;
    }
  | undefined {
  const signing = configured.find(({ signResponses }) => signResponses !== undefined)?.signResponses;
  if (signing === undefined) return undefined;
  let signer: ((request: IncomingRequest, response: Response) => Response) | undefined;
  const loaded = import('./sign-responses.ts').then(({ createResponseSigner }) => {
    signer = createResponseSigner(signing, clock);
  });
  const sign = (response: Response, request: IncomingRequest | undefined): Response =>
    request === undefined || signer === undefined ? response : signer(request, response);
  return { loaded, sign };
}
