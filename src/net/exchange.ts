import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpHeaders } from '../http/fields.ts';
import type { Body, Connection, IncomingRequest, Response } from '../http/message.ts';
import { IncomingBody } from './body.ts';
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
