import { constants } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { Server as SecureServer } from 'node:https';
import { Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContextOptions } from 'node:tls';
import type { IncomingRequest, Response } from '../http/message.ts';
import type { Problem } from '../http/problem.ts';
import { clearTimeout, setTimeout } from '../timers.ts';
import type { ByteBudget } from './byte-budget.ts';
import { FastResponses } from './fast-response.ts';
import { type ConnectionHost, HttpConnection } from './http-connection.ts';
import { DeadlineSweep, type IdleTimeouts } from './idle-timeout.ts';
import { checkRuntime, toListenError } from './listen-error.ts';
import { FieldLines, formatLines } from './response-encoder.ts';
import { TlsError, type TlsIdentity, usable } from './tls/identity.ts';
import { WriteBatch } from './write-batch.ts';

/** The limits of a listener: sizes in bytes, times in milliseconds. */
export interface ListenerLimits {
  /** The header section: names, values and separators. */
  headers: number;
  /** The request target. */
  target: number;
  /** Open connections. For another one, the longest-idle connection is closed. */
  connections: number;
  /** From the first byte of a request to the end of its header section. */
  headerTimeout: number;
  /** From the first byte of a request to its last; also how long a client may leave a response unread. */
  requestTimeout: number;
  /** How long a connection may be idle between two requests; 0 for no limit. Default: 5000. */
  keepAliveTimeout?: number;
}

/** The options of a listener. */
export interface ListenerOptions {
  host: string;
  /** 0 picks a free port. */
  port: number;
  /** TLS identity, or a function that returns one on the first connection; it must not throw. Default: none, plain HTTP. */
  tls?: TlsIdentity | (() => TlsIdentity) | undefined;
  limits: ListenerLimits;
  /** The budget of content of requests that are not authenticated, until they are answered. Default: no limit. */
  contentBudget?: ByteBudget | undefined;
  /** Returns the response to a request. Never rejects. */
  respond: (request: IncomingRequest) => Promise<Response>;
  /** Returns the response to what could not be parsed, or to a request while the listener is full or stopping. */
  refuse: (problem: Problem, request: IncomingRequest | undefined, received?: string) => Response;
  /** Called for each TLS connection after its certificate was chosen. */
  connected?: (() => void) | undefined;
  /** Whether the process may exit while the port and its connections are open. Default: false. */
  unref?: boolean | undefined;
}

/** An open port. */
export interface ServerSocket {
  /** The bound address. */
  readonly host: string;
  readonly port: number;
  /** The number of open connections. */
  readonly connections: number;
  /**
   * Replaces the TLS identity for new connections; open connections continue. Throws TlsError, and changes nothing, if it
   * cannot be used. Throws TypeError if the listener is plain HTTP.
   */
  replaceIdentity(identity: TlsIdentity): void;
  /** Stops accepting connections and finishes requests in flight within `grace` milliseconds, then destroys what is left. */
  close(grace: number): Promise<void>;
}

/** A server of node:http or node:https. */
type HttpServer = Server | SecureServer;

/** Opens a port. Rejects with ListenError if the address cannot be bound or in Bun, and with TlsError if the identity cannot be used. */
export async function listen(options: ListenerOptions): Promise<ServerSocket> {
  checkRuntime(process.versions);
  const server = await createHttpServer(options.limits, options.tls);
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => reject(toListenError(error, options.host, options.port));
    server.once('error', fail);
    server.once('listening', () => {
      server.removeListener('error', fail);
      // A connection that cannot be accepted, for lack of file descriptors, does not affect the others.
      server.on('error', () => undefined);
      if (options.unref === true) unreference(server);
      resolve(new HttpListener(server, options));
    });
    server.listen({ host: options.host, port: options.port });
  });
}

/** Allows the process to exit while the port or a connection is open. For TLS, it unreferences the TCP socket. */
function unreference(server: HttpServer): void {
  server.unref().prependListener('connection', (socket: Socket) => socket.unref());
}

/** Creates the server of node:http or node:https, with everything turned off that it would decide or send by itself. */
async function createHttpServer(
  limits: ListenerLimits,
  identity: ListenerOptions['tls'],
): Promise<HttpServer> {
  const { headerTimeout, requestTimeout } = limits;
  const options: ServerOptions = {
    insecureHTTPParser: false,
    requireHostHeader: false,
    // The connection checks both limits. node:http only stops what far exceeds them.
    maxHeaderSize: limits.headers + limits.target + 4096,
    headersTimeout: requestTimeout > 0 ? Math.min(headerTimeout, requestTimeout) : headerTimeout,
    requestTimeout,
    keepAliveTimeout: 0, // idle connections are closed by the sweep
    connectionsCheckingInterval: computeInterval(headerTimeout, requestTimeout),
  };
  const server = identity === undefined ? createServer(options) : await secureServer(options, identity);
  server.maxHeadersCount = 0; // a number would drop further fields silently
  server.maxConnections = limits.connections + Math.max(16, Math.ceil(limits.connections / 4));
  return server;
}

/** Creates a server for HTTP/1.1 over TLS 1.2 or 1.3. Loads its modules here, because plain HTTP does not need them. */
async function secureServer(
  options: ServerOptions,
  identity: NonNullable<ListenerOptions['tls']>,
): Promise<SecureServer> {
  const { Server: HttpsServer } = await import('node:https');
  /** Creates the TLS context with the identity: to create one takes a fifth of the time of a start, and most doubles need none. */
  class LazySecureServer extends HttpsServer {
    override setSecureContext(context: SecureContextOptions): void {
      if (context.cert !== undefined) super.setSecureContext(context);
    }
  }
  return usable(
    () =>
      new LazySecureServer({
        ...options,
        ...(typeof identity !== 'function' && toSecureContext(identity)),
        ALPNProtocols: ['http/1.1', 'http/1.0'],
        allowHalfOpen: true,
        // A handshake may take as long as a header section.
        handshakeTimeout: options.headersTimeout,
      }),
  );
}

function toSecureContext({ cert, key }: TlsIdentity): SecureContextOptions {
  // Node treats an empty one as none, and fails only when a client connects.
  if (cert.length === 0) throw new TlsError('certificate', 'the certificate is empty');
  if (key.length === 0) throw new TlsError('key', 'the private key is empty');
  const secureOptions = constants.SSL_OP_NO_RENEGOTIATION;
  // No client certificate is requested. Without a list, Node would load all system authorities, which takes tens of milliseconds,
  // and OpenSSL would search them for intermediate certificates.
  return { cert, key, ca: [], minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3', secureOptions };
}

/**
 * Returns how often timeouts are checked, in milliseconds: a quarter of the shorter one, from 10 to 100. All requests that have timed
 * out by then are answered in one turn of the event loop, which blocks other clients; a second would be too long.
 */
function computeInterval(...timeouts: number[]): number {
  const shortest = Math.min(...timeouts.filter((timeout) => timeout > 0));
  return Math.ceil(Math.min(100, Math.max(10, shortest / 4)));
}

class HttpListener implements ServerSocket, ConnectionHost {
  readonly host: string;
  readonly port: number;
  readonly limits: ListenerLimits;
  readonly respond: (request: IncomingRequest) => Promise<Response>;
  readonly refuse: ListenerOptions['refuse'];
  readonly contentBudget: ByteBudget | undefined;
  readonly idleTimeouts: IdleTimeouts;
  readonly sweep: DeadlineSweep;
  readonly fastResponses: FastResponses;
  readonly writeBatch = new WriteBatch();
  readonly overflows = new Set<HttpConnection>();
  readonly fieldLines = new FieldLines();
  readonly persistence: readonly string[];
  readonly persistenceLines: string;
  readonly #server: HttpServer;
  readonly #secure: boolean;
  readonly #connected: (() => void) | undefined;
  /** Returns the TLS identity, until it has been loaded. */
  #loadIdentity: (() => TlsIdentity) | undefined;
  readonly #handshakes = new Handshakes();
  readonly #connections = new Map<Duplex, HttpConnection>();
  #sequence = 0;
  #handling = 0;
  #closing: Promise<void> | undefined;
  #settled: () => void = () => undefined;

  constructor(server: HttpServer, options: ListenerOptions) {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new TypeError('the server has no port');
    this.host = address.address;
    this.port = address.port;
    this.limits = options.limits;
    this.respond = options.respond;
    this.refuse = options.refuse;
    this.contentBudget = options.contentBudget;
    const { keepAliveTimeout: keepAlive = 5000, headerTimeout: header, requestTimeout } = options.limits;
    const seconds = Math.floor(keepAlive / 1000);
    const hint = seconds > 0 ? ['Keep-Alive', `timeout=${seconds}`] : [];
    this.persistence = ['Connection', 'keep-alive', ...hint];
    this.persistenceLines = formatLines(this.persistence);
    this.idleTimeouts = { keepAlive, header };
    this.sweep = new DeadlineSweep([keepAlive, header, requestTimeout], () => this.#connections.values());
    this.fastResponses = new FastResponses(server);
    this.#server = server;
    this.#secure = options.tls !== undefined;
    this.#connected = options.connected;
    this.#loadIdentity = typeof options.tls === 'function' ? options.tls : undefined;
    this.#attach();
  }

  get connections(): number {
    return this.#connections.size + this.#handshakes.size;
  }

  get stopping(): boolean {
    return this.#closing !== undefined;
  }

  replaceIdentity(identity: TlsIdentity): void {
    const server = this.#server;
    if (!('setSecureContext' in server)) throw new TypeError('plain HTTP has no certificate');
    usable(() => server.setSecureContext(toSecureContext(identity)));
    this.#loadIdentity = undefined;
  }

  nextSequence(): number {
    this.#sequence += 1;
    return this.#sequence;
  }

  requestStarted(): void {
    this.#handling += 1;
  }

  requestFinished(): void {
    this.#handling -= 1;
    if (this.#handling === 0) this.#settled();
  }

  close(grace: number): Promise<void> {
    this.#closing ??= this.#shut(grace);
    return this.#closing;
  }

  #attach(): void {
    const receive = (incoming: IncomingMessage, response: ServerResponse): void =>
      this.#connections.get(incoming.socket)?.receive(incoming, response, false);
    // Before node:tls uses its present identity for the connection.
    this.#server.prependListener('connection', () => {
      if (this.#loadIdentity !== undefined) this.replaceIdentity(this.#loadIdentity());
    });
    this.#server
      .on('connection', (socket: Socket) =>
        this.#secure ? this.#startHandshake(socket) : this.#accept(socket),
      )
      .on('secureConnection', (socket: Socket) => this.#accept(socket))
      .on('request', receive)
      .on('checkExpectation', receive)
      .on('checkContinue', (incoming: IncomingMessage, response: ServerResponse) =>
        this.#connections.get(incoming.socket)?.receive(incoming, response, true),
      )
      .on('connect', (incoming: IncomingMessage) =>
        this.#connections.get(incoming.socket)?.receiveConnect(incoming),
      )
      .on('clientError', (error: Error, socket: Duplex) => {
        const connection = this.#connections.get(socket);
        // Without a completed handshake, no response can be sent.
        if (connection === undefined) socket.destroy();
        else connection.fail(error);
      });
  }

  #startHandshake(socket: Socket): void {
    this.#connected?.();
    if (this.connections >= this.limits.connections) this.#closeLongestIdle();
    this.#handshakes.begin(socket, this.nextSequence(), () => this.#settled());
  }

  #accept(socket: Socket): void {
    const tcpSocket = this.#secure ? this.#handshakes.finish(socket) : undefined;
    const full = this.connections >= this.limits.connections && !this.#closeLongestIdle();
    this.#connections.set(socket, new HttpConnection(this, socket, full, tcpSocket));
    socket.once('close', () => {
      this.#connections.delete(socket);
      this.#settled();
    });
  }

  /**
   * Closes the longest-idle connection, of those that wait for the client, and returns whether there was one. Otherwise a client
   * that opens connections without sending requests could exhaust the limit.
   */
  #closeLongestIdle(): boolean {
    const handshake = this.#handshakes.longest;
    let longest: Duplex | undefined = handshake?.socket;
    let since = handshake?.since ?? Number.POSITIVE_INFINITY;
    for (const [socket, { waitingSince }] of this.#connections) {
      if (waitingSince !== undefined && waitingSince < since) [longest, since] = [socket, waitingSince];
    }
    if (longest === undefined) return false;
    // It stops counting now, not only when the system has closed it.
    if (longest === handshake?.socket) this.#handshakes.finish(handshake.socket);
    else this.#connections.delete(longest);
    longest.destroy();
    return true;
  }

  #shut(grace: number): Promise<void> {
    // Not the close() of node:http, which destroys connections whose response is not flushed, and stops the timeouts.
    NetServer.prototype.close.call(this.#server);
    this.#handshakes.destroy();
    for (const connection of [...this.#connections.values()]) connection.close();
    return new Promise((resolve) => {
      let withinGrace = true;
      const timer = setTimeout(() => {
        withinGrace = false;
        for (const connection of [...this.#connections.values()]) connection.destroy();
        this.#settled();
      }, grace); // not unreferenced: an idle connection may not keep the process alive
      this.#settled = () => {
        if (this.connections > 0 || (withinGrace && this.#handling > 0)) return;
        clearTimeout(timer);
        this.sweep.stop();
        this.#server.close(); // releases what node:http holds besides the port
        resolve();
      };
      this.#settled();
    });
  }
}

/**
 * The connections whose TLS handshake is not complete. Node emits a new socket when it is; both sockets have the same remote address
 * and port.
 */
class Handshakes {
  readonly #sockets = new Map<string, { readonly socket: Socket; readonly since: number }>();

  /** The number of handshakes. */
  get size(): number {
    return this.#sockets.size;
  }

  /** The oldest handshake, and its sequence number; undefined if there is none. */
  get longest(): { readonly socket: Socket; readonly since: number } | undefined {
    for (const handshake of this.#sockets.values()) return handshake;
    return undefined;
  }

  /** Adds an accepted connection with its sequence number. Calls `closed` when the socket closes. */
  begin(socket: Socket, since: number, closed: () => void): void {
    const remote = formatRemote(socket);
    this.#sockets.delete(remote); // so that it becomes the last one
    this.#sockets.set(remote, { socket, since });
    socket.once('close', () => {
      // The same client may have connected again from the same port.
      if (this.#sockets.get(remote)?.socket === socket) this.#sockets.delete(remote);
      closed();
    });
  }

  /** Removes the handshake of a TCP socket or of the TLS socket on it. Returns the TCP socket; undefined if there is none. */
  finish(socket: Socket): Socket | undefined {
    const remote = formatRemote(socket);
    const tcpSocket = this.#sockets.get(remote)?.socket;
    this.#sockets.delete(remote);
    return tcpSocket;
  }

  /** Destroys all their sockets. */
  destroy(): void {
    for (const { socket } of this.#sockets.values()) socket.destroy();
  }
}

function formatRemote(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}
