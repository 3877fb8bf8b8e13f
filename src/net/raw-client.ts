import { once } from 'node:events';
import { Agent, type ClientRequest, type IncomingMessage, request as requestPlainly } from 'node:http';
import { request as requestSecurely, Agent as SecureAgent } from 'node:https';
import { connect, isIP } from 'node:net';
import { Duplex } from 'node:stream';
import { connect as connectSecurely, createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import { delay } from '../timers.ts';

export type { Agent } from 'node:http';

/** The options of clients. */
interface RawClientOptions {
  /** Opens the connections. Default: an agent with a single persistent connection. */
  readonly agent?: Agent | undefined;
  /** Milliseconds within which a response must be complete. */
  readonly timeout: number;
}

/** A request that is sent as it is, without normalization. */
export interface RawRequest {
  readonly method: string;
  readonly target: string;
  /** The field lines; a name may occur twice. `Host` and `Content-Length` are added if they are missing. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Uint8Array | undefined;
}

/** A response. */
export interface RawResponse {
  readonly status: number;
  /** Returns the value of a field. Undefined if it is missing or occurs several times. */
  field(name: string): string | undefined;
  /** The content, read as UTF-8 and cut after 64 KiB. */
  readonly text: string;
}

/** Sends requests that `fetch` would reject or change. */
export interface RawClient {
  /** Sends a request. Rejects if there is no response. */
  send(request: RawRequest): Promise<RawResponse>;
  /**
   * Sends each request over a connection of its own, such that all are completed at the same time: the last byte of each is
   * held back until the rest of all has been sent. Returns the responses in the order of the requests; undefined if there is
   * none.
   */
  sendTogether(requests: readonly RawRequest[]): Promise<readonly (RawResponse | undefined)[]>;
  /** Closes its own connections. */
  close(): void;
}

/**
 * Opens a client, which connects on the first request.
 *
 * @param origin `http://…` or `https://…`; its path is ignored
 * @param ca trusted certificates in PEM, instead of the default ones
 * @throws TypeError if the origin is not a URL
 */
export type OpenRawClient = (origin: string | URL, ca?: string) => RawClient;

/** Creates a function that opens clients, each with connections of its own. Clients of one origin resume each other's sessions. */
export function createRawClients(options: RawClientOptions): OpenRawClient {
  const shared = new Map<string, SharedTls>();
  return (origin, ca) => {
    const url = new URL(origin);
    if (url.protocol !== 'https:') return openRawClient(url, undefined, options);
    const known = shared.get(url.origin) ?? {
      secureContext: ca === undefined ? undefined : createSecureContext({ ca }),
      session: undefined,
    };
    shared.set(url.origin, known);
    return openRawClient(url, known, options);
  };
}

/** What connections over TLS to one server share: to create it takes longer than the rest of a handshake. */
interface SharedTls {
  /** Undefined for the certificates that Node.js trusts. */
  readonly secureContext: SecureContext | undefined;
  /** The latest session (RFC 8446 §2.2). Undefined before the first. */
  session: Buffer | undefined;
}

function openRawClient(
  { hostname, host, port }: URL,
  tls: SharedTls | undefined,
  { agent, timeout }: RawClientOptions,
): RawClient {
  const secure = tls !== undefined;
  const own = { keepAlive: true, maxSockets: 1 };
  const used = agent ?? (secure ? new SecureAgent(own) : new Agent(own));
  // A URL has brackets around an IPv6 address, a socket address has none.
  const name = hostname.replace(/^\[|\]$/g, '');
  const address = {
    host: name,
    port: port === '' ? (secure ? 443 : 80) : Number(port),
    // A server name is never an IP address (RFC 6066 §3).
    ...(isIP(name) === 0 ? { servername: name } : {}),
    ...(tls?.secureContext === undefined ? {} : { secureContext: tls.secureContext }),
  };
  const resumed = () => (tls?.session === undefined ? {} : { session: tls.session });
  const keepSession = (socket: Duplex): void => {
    if (tls === undefined || !(socket instanceof TLSSocket)) return;
    socket.once('session', (session: Buffer) => {
      tls.session = session;
    });
  };
  const start = ({ method, target, headers, body }: RawRequest, over: Connecting) => {
    const content = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
    const lines = complete(headers, host, method, content);
    const signal = AbortSignal.timeout(timeout);
    const parts = { ...address, ...resumed(), ...over, method, path: target, headers: lines, signal };
    const request = secure ? requestSecurely(parts) : requestPlainly(parts);
    request.once('socket', keepSession);
    const response = responseTo(request, signal);
    request.end(content);
    return { request, response };
  };
  const connection = (): Duplex =>
    agent?.createConnection(address) ??
    (secure
      ? connectSecurely({ ...address, ...resumed() }).setNoDelay(true)
      : connect({ ...address, noDelay: true }));
  const connections = new Set<HeldConnection>();
  return {
    send: (request) => start(request, { agent: used }).response,
    async sendTogether(requests) {
      const started = requests.map((each) => {
        const held = new HeldConnection(connection());
        connections.add(held.once('close', () => connections.delete(held)));
        const { request, response } = start(each, { createConnection: () => held });
        // Each failure is a missing response, whenever it occurs.
        return { held, request, response: response.catch(() => undefined) };
      });
      await Promise.all(
        // node:http has written the whole request then.
        started.map(({ request, response }) => Promise.race([once(request, 'finish'), response])),
      );
      await sendInPhases(started.map(({ held }) => held));
      return Promise.all(started.map(({ response }) => response));
    },
    close() {
      if (agent === undefined) used.destroy();
      for (const each of connections) each.destroy();
    },
  };
}

/** Where node:http takes the connection from. */
type Connecting = { readonly agent: Agent } | { readonly createConnection: () => Duplex };

/** The time in ms after which a server has probably accepted all connections and read what was sent. */
const settlingTime = 50;

/** Sends the pieces of all requests, each piece of all before the next one of any. */
async function sendInPhases(connections: readonly HeldConnection[]): Promise<void> {
  const requests = connections.map((held) => ({ held, pieces: held.pieces() }));
  for (const phase of [0, 1, 2]) {
    const present = requests.filter(({ pieces }) => pieces[phase]?.length !== 0);
    if (present.length === 0) continue;
    if (phase > 0) await delay(settlingTime);
    await Promise.all(present.map(({ held, pieces }) => held.transmit(pieces[phase])));
  }
}

/** The maximum number of bytes of content that are kept. */
const maxContent = 64 * 1024;

/** Returns the response. Rejects if there is none, or if it is not complete in time. */
function responseTo(request: ClientRequest, signal: AbortSignal): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    request.once('error', reject);
    // A connection that ends without a response is not always an error for node:http.
    let isAnswered = false;
    request.once('close', () => {
      if (!isAnswered) reject(new Error('the connection was closed without a response'));
    });
    // A client that asked for no upgrade has no use for the connection (RFC 9110 §15.2.2).
    request.once('upgrade', ({ statusCode = 101 }: IncomingMessage, socket: Duplex) => {
      socket.destroy();
      resolve({ status: statusCode, field: () => undefined, text: '' });
    });
    request.once('response', (response) => {
      isAnswered = true;
      const pieces: Buffer[] = [];
      let kept = 0;
      // Content is read to its end, so that the connection can be used again.
      response.on('data', (piece: Buffer) => {
        if (kept < maxContent) pieces.push(piece.subarray(0, maxContent - kept));
        kept += piece.length;
      });
      const respond = (): void => {
        if (signal.aborted && !response.complete) {
          reject(signal.reason);
          return;
        }
        resolve({
          status: response.statusCode ?? 0,
          field: (name) => {
            const lines = response.headersDistinct[name.toLowerCase()];
            return lines?.length === 1 ? lines[0] : undefined;
          },
          text: Buffer.concat(pieces).toString('utf8'),
        });
      };
      response.once('close', respond);
      response.once('error', respond);
    });
  });
}

const withContent: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** Adds the required fields. Returns alternating names and values, which node:http sends unchanged. */
function complete(
  headers: RawRequest['headers'],
  host: string,
  method: string,
  content: Uint8Array | undefined,
): string[] {
  const has = (wanted: string): boolean => headers.some(([name]) => name.toLowerCase() === wanted);
  const lines = headers.flat();
  if (!has('host')) lines.unshift('Host', host);
  const sized = content !== undefined || withContent.has(method);
  if (sized && !has('content-length')) lines.push('Content-Length', String(content?.length ?? 0));
  return lines;
}

/**
 * A connection that collects one request and sends it in three pieces: the header section without its last byte, then all
 * but the last byte of the request, then that byte. Several connections that send their pieces in turn deliver their
 * requests at the same time, whether the server acts on the header section or on the whole request.
 */
class HeldConnection extends Duplex {
  readonly #socket: Duplex;
  readonly #pending: Buffer[] = [];

  constructor(socket: Duplex) {
    super();
    this.#socket = socket;
    socket.on('data', (bytes: Buffer) => {
      if (!this.push(bytes)) socket.pause();
    });
    socket.once('end', () => this.push(null));
    socket.once('error', (error) => this.destroy(error));
    // A response that ended normally may still be unread.
    socket.once('close', (failed: boolean) => failed && this.destroy());
  }

  /** Returns the three pieces of the collected request. */
  pieces(): readonly Buffer[] {
    const bytes = Buffer.concat(this.#pending);
    const headerEnd = bytes.indexOf('\r\n\r\n') + 3;
    const last = bytes.length - 1;
    return [bytes.subarray(0, headerEnd), bytes.subarray(headerEnd, last), bytes.subarray(last)];
  }

  /** Sends a piece. Resolves when it is handed to the operating system, or if the connection has failed. */
  transmit(piece: Buffer | undefined): Promise<void> {
    if (this.destroyed || piece === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      this.#socket.write(piece, () => resolve());
    });
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#pending.push(chunk);
    done();
  }

  override _final(done: () => void): void {
    this.#socket.end();
    done();
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
