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
import type { Request, Response } from '../http/message.ts';
import type { Problem } from '../http/problem.ts';
import { clearTimeout, setTimeout } from '../timers.ts';
import { FastResponses } from './fast-response.ts';
import { type ConnectionHost, HttpConnection } from './http-connection.ts';
import { DeadlineSweep, type IdleTimeouts } from './idle-timeout.ts';
import { listenErrorOf } from './listen-error.ts';
import { Handshakes } from './pending-handshakes.ts';
import { FieldLines, linesOf } from './response-encoder.ts';
import { IdentityError, type ServerIdentity, usable } from './tls/identity.ts';
import { WriteBatch } from './write-batch.ts';

/** What is taken before it is refused: sizes in bytes, times in milliseconds. */
export interface ListenerLimits {
  /** The header section: names, values and separators. */
  headers: number;
  /** The request target. */
  target: number;
  /** Connections that are open at a time. For another one, the one that has asked for nothing the longest is ended. */
  connections: number;
  /** From the first byte of a request to the end of its header section. */
  headerTimeout: number;
  /** From the first byte of a request to its last; also how long a client may leave a reply unread. */
  requestTimeout: number;
  /** How long a connection may rest between two requests; 5,000 unless given, 0 is for ever. */
  keepAliveTimeout?: number;
}

/** What a listener is made of. */
export interface ListenerOptions {
  host: string;
  /** 0 picks a free one. */
  port: number;
  /** HTTPS with this, or with what this gives when the first client comes, and then must; plain HTTP when left out. */
  tls?: ServerIdentity | (() => ServerIdentity) | undefined;
  limits: ListenerLimits;
  /** The service: answers every request, never rejects. */
  respond: (request: Request) => Promise<Response>;
  /** Makes the reply to what could not be parsed, or to a request that came when the listener is full or stopping. */
  refuse: (problem: Problem, request: Request | undefined, received?: string) => Response;
  /** Told of each connection over TLS when its certificate is settled. */
  connected?: (() => void) | undefined;
  /** Whether the process may exit while the port and its connections are open. Default: false. */
  unref?: boolean | undefined;
}

/** A port that is being listened on. */
export interface Listener {
  /** The address that is bound. */
  readonly host: string;
  readonly port: number;
  /** How many connections are open. */
  readonly connections: number;
  /**
   * Proves with this who the server is to whoever connects from now on; open connections go on. Throws
   * IdentityError, and nothing is changed, or TypeError where plain HTTP is spoken.
   */
  replaceIdentity(identity: ServerIdentity): void;
  /** Stops accepting and finishes what is in flight, for at most `grace` milliseconds; then drops what is left. */
  close(grace: number): Promise<void>;
}

/** Of node:http or node:https. */
type HttpServer = Server | SecureServer;

/** Listens. Rejects with a ListenError when the address cannot be had, and with an IdentityError when the identity is no good. */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const server = await serverOf(options.limits, options.tls);
  return new Promise((resolve, reject) => {
    const refuse = (error: Error): void => reject(listenErrorOf(error, options.host, options.port));
    server.once('error', refuse);
    server.once('listening', () => {
      server.removeListener('error', refuse);
      // A connection that could not be accepted (no file descriptor left) is its client's loss alone.
      server.on('error', () => undefined);
      if (options.unref === true) unreference(server);
      resolve(new HttpListener(server, options));
    });
    server.listen({ host: options.host, port: options.port });
  });
}

/** Allows the process to exit while the port or a connection is open; of TLS the connection that carries it. */
function unreference(server: HttpServer): void {
  server.unref().prependListener('connection', (socket: Socket) => socket.unref());
}

/** The one place where a server of node:http or node:https is made. Nothing that it would decide or say by itself is left on. */
async function serverOf(limits: ListenerLimits, identity: ListenerOptions['tls']): Promise<HttpServer> {
  const { headerTimeout, requestTimeout } = limits;
  const options: ServerOptions = {
    insecureHTTPParser: false,
    requireHostHeader: false,
    // Both limits are judged by the connection; node:http only stops what exceeds them by far.
    maxHeaderSize: limits.headers + limits.target + 4096,
    headersTimeout: requestTimeout > 0 ? Math.min(headerTimeout, requestTimeout) : headerTimeout,
    requestTimeout,
    keepAliveTimeout: 0, // idle connections are closed by the sweep
    connectionsCheckingInterval: intervalOf(headerTimeout, requestTimeout),
  };
  const server = identity === undefined ? createServer(options) : await secureServer(options, identity);
  server.maxHeadersCount = 0; // a number would cut the fields off behind it, unseen
  server.maxConnections = limits.connections + Math.max(16, Math.ceil(limits.connections / 4));
  return server;
}

/** HTTP/1.1 over TLS 1.2 or 1.3. Its modules are loaded only here: plain HTTP starts without them. */
async function secureServer(
  options: ServerOptions,
  identity: NonNullable<ListenerOptions['tls']>,
): Promise<SecureServer> {
  const { createServer: createSecureServer } = await import('node:https');
  return usable(() =>
    createSecureServer({
      ...options,
      ...(typeof identity === 'function' ? { ca: [] } : contextOf(identity)),
      ALPNProtocols: ['http/1.1', 'http/1.0'],
      allowHalfOpen: true,
      // TLS has as long to agree as a header section has to arrive.
      handshakeTimeout: options.headersTimeout,
    }),
  );
}

function contextOf({ cert, key }: ServerIdentity): SecureContextOptions {
  // Node takes an empty one for none, and fails only when a client comes.
  if (cert.length === 0) throw new IdentityError('cert', 'the certificate is empty');
  if (key.length === 0) throw new IdentityError('key', 'the private key is empty');
  const secureOptions = constants.SSL_OP_NO_RENEGOTIATION;
  // No client is asked for a certificate. Without a list Node would read all the authorities there are, which takes tens of
  // milliseconds, and have OpenSSL look for those between the certificate and its authority among them.
  return { cert, key, ca: [], minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3', secureOptions };
}

/**
 * How often the timeouts are looked at, in milliseconds: a quarter of the shorter one, within reason. Whatever has run
 * out by then is told so in one turn, in which nobody else is answered, so a second would be too long.
 */
function intervalOf(...timeouts: number[]): number {
  const shortest = Math.min(...timeouts.filter((timeout) => timeout > 0));
  return Math.ceil(Math.min(100, Math.max(10, shortest / 4)));
}

class HttpListener implements Listener, ConnectionHost {
  readonly host: string;
  readonly port: number;
  readonly limits: ListenerLimits;
  readonly respond: (request: Request) => Promise<Response>;
  readonly refuse: ListenerOptions['refuse'];
  readonly idleTimeouts: IdleTimeouts;
  readonly sweep: DeadlineSweep;
  readonly fastResponses: FastResponses;
  readonly writeBatch = new WriteBatch();
  readonly overruns = new Set<HttpConnection>();
  readonly fieldLines = new FieldLines();
  readonly persistence: readonly string[];
  readonly persistenceLines: string;
  readonly #server: HttpServer;
  readonly #secure: boolean;
  readonly #connected: (() => void) | undefined;
  /** What gives the identity, until there is one. */
  #identify: (() => ServerIdentity) | undefined;
  readonly #handshakes = new Handshakes();
  readonly #connections = new Map<Duplex, HttpConnection>();
  #turn = 0;
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
    const { keepAliveTimeout: keepAlive = 5000, headerTimeout: header, requestTimeout } = options.limits;
    const seconds = Math.floor(keepAlive / 1000);
    const hint = seconds > 0 ? ['Keep-Alive', `timeout=${seconds}`] : [];
    this.persistence = ['Connection', 'keep-alive', ...hint];
    this.persistenceLines = linesOf(this.persistence);
    this.idleTimeouts = { keepAlive, header };
    this.sweep = new DeadlineSweep([keepAlive, header, requestTimeout], () => this.#connections.values());
    this.fastResponses = new FastResponses(server);
    this.#server = server;
    this.#secure = options.tls !== undefined;
    this.#connected = options.connected;
    this.#identify = typeof options.tls === 'function' ? options.tls : undefined;
    this.#attach();
  }

  get connections(): number {
    return this.#connections.size + this.#handshakes.size;
  }

  get stopping(): boolean {
    return this.#closing !== undefined;
  }

  replaceIdentity(identity: ServerIdentity): void {
    const server = this.#server;
    if (!('setSecureContext' in server)) throw new TypeError('plain HTTP has no certificate');
    usable(() => server.setSecureContext(contextOf(identity)));
    this.#identify = undefined;
  }

  nextTurn(): number {
    this.#turn += 1;
    return this.#turn;
  }

  entered(): void {
    this.#handling += 1;
  }

  left(): void {
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
    // Before node:tls takes the connection with what it has.
    this.#server.prependListener('connection', () => {
      if (this.#identify !== undefined) this.replaceIdentity(this.#identify());
    });
    this.#server
      .on('connection', (socket: Socket) => (this.#secure ? this.#shake(socket) : this.#accept(socket)))
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
        // Before TLS has agreed there is nobody to be told anything.
        if (connection === undefined) socket.destroy();
        else connection.fail(error);
      });
  }

  #shake(socket: Socket): void {
    this.#connected?.();
    if (this.connections >= this.limits.connections) this.#makeRoom();
    this.#handshakes.begin(socket, this.nextTurn(), () => this.#settled());
  }

  #accept(socket: Socket): void {
    const carrier = this.#secure ? this.#handshakes.finish(socket) : undefined;
    const full = this.connections >= this.limits.connections && !this.#makeRoom();
    this.#connections.set(socket, new HttpConnection(this, socket, full, carrier));
    socket.once('close', () => {
      this.#connections.delete(socket);
      this.#settled();
    });
  }

  /**
   * Ends the connection that has been without a whole header section the longest, of those on which no request is being
   * handled; says whether there was one. Otherwise whoever opens connections and sends nothing would keep others out.
   */
  #makeRoom(): boolean {
    const handshake = this.#handshakes.longest;
    let longest: Duplex | undefined = handshake?.socket;
    let since = handshake?.since ?? Number.POSITIVE_INFINITY;
    for (const [socket, { waitingSince }] of this.#connections) {
      if (waitingSince !== undefined && waitingSince < since) [longest, since] = [socket, waitingSince];
    }
    if (longest === undefined) return false;
    // It counts no more from now on, and not only when the system is done with it.
    if (longest === handshake?.socket) this.#handshakes.finish(handshake.socket);
    else this.#connections.delete(longest);
    longest.destroy();
    return true;
  }

  #shut(grace: number): Promise<void> {
    // Not the close() of node:http, which destroys connections whose reply is not flushed, and stops the timeouts.
    NetServer.prototype.close.call(this.#server);
    this.#handshakes.destroy();
    for (const connection of [...this.#connections.values()]) connection.close();
    return new Promise((resolve) => {
      let patient = true;
      const timer = setTimeout(() => {
        patient = false;
        for (const connection of [...this.#connections.values()]) connection.destroy();
        this.#settled();
      }, grace); // the one timer that holds the process: without it a silent connection would not
      this.#settled = () => {
        if (this.connections > 0 || (patient && this.#handling > 0)) return;
        clearTimeout(timer);
        this.sweep.stop();
        this.#server.close(); // now for what node:http holds besides the port
        resolve();
      };
      this.#settled();
    });
  }
}
