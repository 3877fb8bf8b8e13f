import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Reply, Request } from '../http/message.ts';
import type { Problem } from '../http/problem.ts';
import { type Host, HttpConnection } from './http-connection.ts';
import { Incoming } from './incoming.ts';
import { listenErrorOf } from './listen-error.ts';
import { Outbox } from './outbox.ts';

/** What is taken before it is refused: sizes in bytes, times in milliseconds. */
export interface ListenerLimits {
  /** The header section: names, values and separators. */
  headers: number;
  /** The request target. */
  target: number;
  /** Connections that are served at a time. */
  connections: number;
  /** From the first byte of a request to the end of its header section. */
  headerTimeout: number;
  /** From the first byte of a request to its last; also how long a client may leave a reply unread. */
  requestTimeout: number;
  /** How long a connection may rest between two requests; 5,000 unless given. */
  keepAliveTimeout?: number;
}

/** What a listener is made of. */
export interface ListenerOptions {
  host: string;
  /** 0 picks a free one. */
  port: number;
  limits: ListenerLimits;
  /** The service: answers every request, never rejects. */
  handle: (request: Request) => Promise<Reply>;
  /** Makes the reply to what could not be parsed, or to a request that came when the listener is full or stopping. */
  refuse: (problem: Problem, request: Request | undefined) => Reply;
}

/** A port that is being listened on. */
export interface Listener {
  /** The address that is bound. */
  readonly host: string;
  readonly port: number;
  /** How many connections are open. */
  readonly connections: number;
  /** Stops accepting and finishes what is in flight, for at most `grace` milliseconds; then drops what is left. */
  close(grace: number): Promise<void>;
}

/** Listens. Rejects with a ListenError when the address cannot be had. */
export function listen(options: ListenerOptions): Promise<Listener> {
  return new Promise((resolve, reject) => {
    const server = serverOf(options.limits);
    const refuse = (error: Error): void => reject(listenErrorOf(error, options.host, options.port));
    server.once('error', refuse);
    server.listen({ host: options.host, port: options.port }, () => {
      server.removeListener('error', refuse);
      // A connection that could not be accepted (no file descriptor left) is its client's loss alone.
      server.on('error', () => undefined);
      resolve(new HttpListener(server, options));
    });
  });
}

/** The one place where a server of node:http is made. Nothing that it would decide or say by itself is left on. */
function serverOf(limits: ListenerLimits): Server {
  const { headerTimeout, requestTimeout } = limits;
  const server = createServer({
    insecureHTTPParser: false,
    IncomingMessage: Incoming,
    requireHostHeader: false,
    // Both limits are judged by the connection; node:http only stops what exceeds them by far.
    maxHeaderSize: limits.headers + limits.target + 4096,
    headersTimeout: requestTimeout > 0 ? Math.min(headerTimeout, requestTimeout) : headerTimeout,
    requestTimeout,
    keepAliveTimeout: restOf(limits),
    connectionsCheckingInterval: intervalOf(headerTimeout, requestTimeout),
  });
  server.maxHeadersCount = 0; // a number would cut the fields off behind it, unseen
  server.maxConnections = limits.connections + Math.max(16, Math.ceil(limits.connections / 4));
  // Without this a client that ends its side after its request would not get the reply.
  return Object.assign(server, { httpAllowHalfOpen: true });
}

/** How long a connection may rest, in milliseconds. */
function restOf({ keepAliveTimeout = 5000 }: ListenerLimits): number {
  return keepAliveTimeout;
}

/** How often the timeouts are looked at, in milliseconds: a quarter of the shorter one, within reason. */
function intervalOf(...timeouts: number[]): number {
  const shortest = Math.min(...timeouts.filter((timeout) => timeout > 0));
  return Math.ceil(Math.min(1000, Math.max(10, shortest / 4)));
}

class HttpListener implements Listener, Host {
  readonly host: string;
  readonly port: number;
  readonly limits: ListenerLimits;
  readonly handle: (request: Request) => Promise<Reply>;
  readonly refuse: (problem: Problem, request: Request | undefined) => Reply;
  readonly outbox = new Outbox();
  readonly persistence: string;
  readonly #server: Server;
  readonly #connections = new Map<Duplex, HttpConnection>();
  #handling = 0;
  #closing: Promise<void> | undefined;
  #settled: () => void = () => undefined;

  constructor(server: Server, options: ListenerOptions) {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new TypeError('the server has no port');
    this.host = address.address;
    this.port = address.port;
    this.limits = options.limits;
    this.handle = options.handle;
    this.refuse = options.refuse;
    const rest = Math.floor(restOf(options.limits) / 1000);
    this.persistence = `Connection: keep-alive\r\n${rest > 0 ? `Keep-Alive: timeout=${rest}\r\n` : ''}`;
    this.#server = server;
    this.#attach();
  }

  get connections(): number {
    return this.#connections.size;
  }

  get stopping(): boolean {
    return this.#closing !== undefined;
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
    this.#server
      .on('connection', (socket: Socket) => this.#accept(socket))
      .on('request', receive)
      .on('checkExpectation', receive)
      .on('checkContinue', (incoming: IncomingMessage, response: ServerResponse) =>
        this.#connections.get(incoming.socket)?.receive(incoming, response, true),
      )
      .on('connect', (incoming: IncomingMessage) =>
        this.#connections.get(incoming.socket)?.receiveConnect(incoming),
      )
      .on('clientError', (error: Error, socket: Duplex) => this.#connections.get(socket)?.fail(error))
      .on('timeout', (socket: Socket) => this.#connections.get(socket)?.stall());
  }

  #accept(socket: Socket): void {
    const full = this.#connections.size >= this.limits.connections;
    this.#connections.set(socket, new HttpConnection(this, socket, full));
    socket.once('close', () => {
      this.#connections.delete(socket);
      this.#settled();
    });
  }

  #shut(grace: number): Promise<void> {
    // Not the close() of node:http, which destroys connections whose reply is not flushed, and stops the timeouts.
    NetServer.prototype.close.call(this.#server);
    for (const connection of [...this.#connections.values()]) connection.close();
    return new Promise((resolve) => {
      let patient = true;
      const timer = setTimeout(() => {
        patient = false;
        for (const connection of [...this.#connections.values()]) connection.destroy();
        this.#settled();
      }, grace); // the one timer that holds the process: without it a silent connection would not
      this.#settled = () => {
        if (this.#connections.size > 0 || (patient && this.#handling > 0)) return;
        clearTimeout(timer);
        this.#server.close(); // now for what node:http holds besides the port
        resolve();
      };
      this.#settled();
    });
  }
}
