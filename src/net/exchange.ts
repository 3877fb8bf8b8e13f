import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpHeaders } from '../http/fields.ts';
import { type Body, type Connection, type IncomingRequest, type Response, readAll } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import { setImmediate } from '../timers.ts';
import type { ByteBudget } from './byte-budget.ts';
import { endLingering } from './lingering-close.ts';
import { contentSent, fieldsSent } from './response-encoder.ts';

/** The largest declared length, in bytes, up to which unread content is read and dropped after the response. */
const smallContent = 64 * 1024;

/** The content of a request that has none. */
export const noContent: Body = {
  present: false,
  consume: () => Promise.resolve(),
  hold: () => Promise.resolve(new Uint8Array()),
};

/** Converts a request of node:http to a value. */
export function toHttpRequest(
  incoming: IncomingMessage,
  fields: HttpHeaders,
  body: Body,
  connection: Connection,
): IncomingRequest {
  const { method = '', url: target = '', httpVersion: version } = incoming;
  return { method, target, version, headers: fields, body, connection };
}

/** A request and its response: converts between node:http and the values that the service uses. */
export class Exchange {
  readonly request: IncomingRequest;
  readonly content: IncomingBody;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly #expectsContinue: boolean;
  /** Whether the response was passed to the socket. */
  replied = false;

  /**
   * @param awaitsContinue Whether the client waits for 100 Continue.
   * @param budget The budget of content that is not authenticated. Default: none.
   */
  constructor(
    incoming: IncomingMessage,
    fields: HttpHeaders,
    outgoing: ServerResponse,
    origin: Connection,
    awaitsContinue: boolean,
    budget?: ByteBudget,
  ) {
    const present = fields.has('content-length') || fields.has('transfer-encoding');
    this.incoming = incoming;
    this.outgoing = outgoing;
    this.#expectsContinue = awaitsContinue;
    this.content = new IncomingBody(incoming, outgoing, present, awaitsContinue, budget);
    this.request = toHttpRequest(incoming, fields, this.content, origin);
  }

  get isHead(): boolean {
    return this.incoming.method === 'HEAD';
  }

  /** Whether the whole request has arrived. */
  get isComplete(): boolean {
    return this.incoming.complete || this.content.isWhole;
  }

  /** The bytes of the request in memory. */
  get size(): number {
    const { headers: fields, target } = this.request;
    return fields.size + target.length + this.incoming.readableLength;
  }

  /** Whether this request and its content allow another request on the connection. */
  get persists(): boolean {
    const { headers: fields } = this.request;
    if (!this.outgoing.shouldKeepAlive || this.content.failure !== undefined || this.content.awaitsContinue)
      return false;
    // llhttp drops everything after a request with Upgrade, even if the connection was not upgraded.
    if (fields.has('upgrade')) return false;
    return (
      this.isComplete || Number(fields.get('content-length') ?? Number.POSITIVE_INFINITY) <= smallContent
    );
  }

  /** Whether node:http has nothing left to do for this request but to send the response. */
  get isPlain(): boolean {
    return (
      this.isComplete &&
      !this.#expectsContinue &&
      this.request.version === '1.1' &&
      this.outgoing.socket !== null
    );
  }

  /**
   * Writes a response after which the connection persists. `persistence` has the names and values of the fields that announce it;
   * without them, node:http derives them from the request. If a field cannot be written, throws and writes nothing.
   */
  write(response: Response, persistence: readonly string[]): void {
    // The fields are explicit, because in HTTP/1.0 both sides must announce it (RFC 9112 §9.3) and node:http omits that from a
    // response without content. It would also close a connection on which 100 Continue was expected but not sent.
    this.#writeHead(response, persistence);
    this.outgoing.end(contentSent(response, this.isHead));
    this.content.discard();
  }

  /**
   * Writes the last response of the connection, and closes it as `closeLingering` does. If a field cannot be written, throws and
   * writes nothing.
   */
  writeLast(response: Response, timeout: number): void {
    this.#writeHead(response, ['Connection', 'close']);
    endLingering(this.outgoing, contentSent(response, this.isHead), timeout);
    if (this.isComplete) this.content.discard();
  }

  /** Uses `appendHeader`, because observers of node:http do not see fields that are passed to `writeHead` as a list. */
  #writeHead(response: Response, connection: readonly string[]): void {
    const { outgoing } = this;
    for (const name of outgoing.getHeaderNames()) outgoing.removeHeader(name); // of a response that could not be written
    const flat = [...fieldsSent(response), ...connection];
    for (let at = 0; at + 1 < flat.length; at += 2) outgoing.appendHeader(flat[at] ?? '', flat[at + 1] ?? '');
    outgoing.sendDate = false; // the fields contain the date of the service's clock
    outgoing.writeHead(response.status);
  }
}

/** Returns the peer's address. An IPv4 address has the same form on an IPv4 and an IPv6 listener. */
export function readPeer(socket: Socket): string {
  const address = socket.remoteAddress ?? '';
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}

/** The content of a request that arrives on a socket. */
class IncomingBody implements Body {
  readonly present: boolean;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  #awaitsContinue: boolean;
  #failure: Problem | undefined;
  #consumed = false;
  #received = 0;
  /** The budget from which the content takes its bytes; undefined if it takes none, or no longer. */
  #budget: ByteBudget | undefined;
  #taken = 0;
  #held: Promise<Uint8Array> | undefined;
  #reject: ((reason: unknown) => void) | undefined;

  /**
   * @param awaitsContinue Whether the client waits for 100 Continue before it sends.
   * @param budget The budget of content that is not authenticated. Default: none.
   */
  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    present: boolean,
    awaitsContinue: boolean,
    budget?: ByteBudget,
  ) {
    this.#request = request;
    this.#response = response;
    this.present = present;
    this.#awaitsContinue = awaitsContinue;
    this.#budget = budget;
  }

  get received(): number {
    return this.#received;
  }

  /** Whether the client still waits for 100 Continue. */
  get awaitsContinue(): boolean {
    return this.#awaitsContinue;
  }

  /** Whether all content was read. With a length, that is known before node:http reports the end of the message. */
  get isWhole(): boolean {
    const { complete, headers, readableLength } = this.#request;
    return readableLength === 0 && (complete || this.#received === Number(headers['content-length']));
  }

  /** The reason why the content will never be complete; undefined if there is none so far. */
  get failure(): Problem | undefined {
    return this.#failure;
  }

  /** Reports that the content will never be complete. Only the first reason counts. */
  fail(problem: Problem): void {
    this.#failure ??= problem;
    this.#reject?.(this.#failure);
  }

  consume(sink: (chunk: Uint8Array) => void): Promise<void> {
    if (this.#consumed) return Promise.reject(new TypeError('the content was already consumed'));
    this.#consumed = true;
    return this.#held === undefined ? this.#receive(sink) : passOn(this.#held, sink);
  }

  hold(limit: number): Promise<Uint8Array> {
    this.#held ??= readAll(limit, (take) => this.#receive(take));
    return this.#held;
  }

  release(): void {
    this.#budget?.giveBack(this.#taken);
    this.#budget = undefined;
  }

  #receive(sink: (chunk: Uint8Array) => void): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (!this.present) return Promise.resolve();
    if (this.#awaitsContinue) this.#sendContinue();
    return this.#flow(sink);
  }

  /** Reads and drops the rest of the content, up to its 'end' event. */
  discard(): void {
    this.#request.resume();
  }

  #sendContinue(): void {
    this.#awaitsContinue = false;
    // After this packet has been parsed, it is known whether the client really waits (RFC 9110 §10.1.1).
    setImmediate(() => {
      if (!this.#request.complete && !this.#response.headersSent) this.#response.writeContinue();
    });
  }

  async #flow(sink: (chunk: Uint8Array) => void): Promise<void> {
    const request = this.#request;
    // Short content is in the packet of the header section, which is parsed to its end before this continues.
    if (!request.complete) await undefined;
    if (this.#failure !== undefined) throw this.#failure;
    this.#readBuffered(sink);
    if (!this.isWhole) await this.#readRest(sink);
  }

  /** Reads what has arrived, which is all of a short content. Using events instead would cost more than everything else. */
  #readBuffered(sink: (chunk: Uint8Array) => void): void {
    const request = this.#request;
    while (request.readableLength > 0) {
      // With a size, `read` does not start the events of the end.
      const chunk: unknown = request.read(request.readableLength);
      if (!(chunk instanceof Uint8Array)) return;
      this.#count(chunk.length);
      sink(chunk);
    }
  }

  #count(bytes: number): void {
    this.#received += bytes;
    if (this.#budget === undefined) return;
    if (!this.#budget.take(bytes))
      throw new Problem('full', 'The server holds too much content of requests that are not authenticated.', {
        headers: [['Retry-After', '1']],
        close: true,
      });
    this.#taken += bytes;
  }

  #readRest(sink: (chunk: Uint8Array) => void): Promise<void> {
    const request = this.#request;
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        request.removeListener('data', take);
        request.removeListener('end', finish);
        this.#reject = undefined;
      };
      const take = (chunk: Uint8Array): void => {
        try {
          this.#count(chunk.length);
          sink(chunk);
        } catch (cause) {
          stop();
          request.pause();
          reject(cause);
        }
      };
      // 'end' is emitted only for a complete message. An incomplete one is destroyed, or failed by `fail`.
      const finish = (): void => {
        stop();
        resolve();
      };
      this.#reject = (reason) => {
        stop();
        reject(reason);
      };
      request.on('data', take);
      request.on('end', finish);
    });
  }
}

async function passOn(held: Promise<Uint8Array>, sink: (chunk: Uint8Array) => void): Promise<void> {
  const content = await held;
  if (content.length > 0) sink(content);
}
