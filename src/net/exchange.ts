import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Fields } from '../http/fields.ts';
import type { Body, Connection, Request, Response } from '../http/message.ts';
import { IncomingBody } from './body.ts';
import { endLingering } from './lingering-close.ts';
import { contentSent, fieldsSent } from './response-encoder.ts';

/** The rest of a request's content is read after the response up to this declared length, in bytes. */
const smallContent = 64 * 1024;

/** The content of a request that has none. */
export const noContent: Body = {
  present: false,
  consume: () => Promise.resolve(),
  hold: () => Promise.resolve(new Uint8Array()),
};

/** Returns the request as a value. */
export function requestOf(
  incoming: IncomingMessage,
  fields: Fields,
  body: Body,
  connection: Connection,
): Request {
  const { method = '', url: target = '', httpVersion: version } = incoming;
  return { method, target, version, fields, body, connection };
}

/** One request and its response, between node:http and the values that the service works with. */
export class Exchange {
  readonly request: Request;
  readonly content: IncomingBody;
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly #expectant: boolean;
  /** Whether the response was passed to the socket. */
  replied = false;

  /** `awaited` is true if the client waits for 100 Continue. */
  constructor(
    incoming: IncomingMessage,
    fields: Fields,
    response: ServerResponse,
    origin: Connection,
    awaited: boolean,
  ) {
    const present = fields.has('content-length') || fields.has('transfer-encoding');
    this.incoming = incoming;
    this.response = response;
    this.#expectant = awaited;
    this.content = new IncomingBody(incoming, response, present, awaited);
    this.request = requestOf(incoming, fields, this.content, origin);
  }

  get isHead(): boolean {
    return this.incoming.method === 'HEAD';
  }

  /** Whether the request has arrived to its end. */
  get isWhole(): boolean {
    return this.incoming.complete;
  }

  /** The bytes of the request that are in memory. */
  get size(): number {
    const { fields, target } = this.request;
    return fields.size + target.length + this.incoming.readableLength;
  }

  /** Whether another request can follow on the connection, as far as this one decides that. */
  get persists(): boolean {
    const { fields } = this.request;
    if (!this.response.shouldKeepAlive || this.content.failure !== undefined || this.content.awaited)
      return false;
    // llhttp drops what follows a request to upgrade, though nothing was upgraded.
    if (fields.has('upgrade')) return false;
    return this.isWhole || Number(fields.get('content-length') ?? Number.POSITIVE_INFINITY) <= smallContent;
  }

  /** Whether node:http has nothing left to read or to send for this request but the response. */
  get isPlain(): boolean {
    return (
      this.isWhole && !this.#expectant && this.request.version === '1.1' && this.response.socket !== null
    );
  }

  /**
   * Writes a response after which the connection goes on. `persistence` has the names and values of the fields that say so;
   * without them node:http derives them from the request. Throws, with nothing written, if a field cannot be written.
   */
  write(reply: Response, persistence: readonly string[]): void {
    // In HTTP/1.0 a connection persists only if both sides say so (RFC 9112 §9.3), which node:http leaves out of a response
    // without content. And it would close one on which 100 Continue was expected and not sent, although the content is here.
    this.#writeHead(reply, persistence);
    this.response.end(contentSent(reply, this.isHead));
    if (!this.isWhole) this.content.discard();
  }

  /**
   * Writes the last response of the connection, and closes that as `closeLingering` does. Throws, with nothing written, if a
   * field cannot be written.
   */
  writeLast(reply: Response, timeout: number): void {
    this.#writeHead(reply, ['Connection', 'close']);
    endLingering(this.response, contentSent(reply, this.isHead), timeout);
  }

  /** By `appendHeader`, for what is passed to `writeHead` as a list is not seen by who observes node:http. */
  #writeHead(reply: Response, connection: readonly string[]): void {
    const { response } = this;
    for (const name of response.getHeaderNames()) response.removeHeader(name); // of a response that could not be written
    const flat = [...fieldsSent(reply), ...connection];
    for (let at = 0; at + 1 < flat.length; at += 2) response.appendHeader(flat[at] ?? '', flat[at + 1] ?? '');
    response.sendDate = false; // the service's clock has set it
    response.writeHead(reply.status);
  }
}
