import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Fields } from '../http/fields.ts';
import type { Body, Connection, Reply, Request } from '../http/message.ts';
import { IncomingContent } from './content.ts';
import { contentSent, fieldsSent } from './reply-bytes.ts';

/** What is left of a request's content is read after the reply up to this declared length, in bytes. */
const smallContent = 64 * 1024;

/** The content of a request that has none. */
export const noContent: Body = {
  present: false,
  consume: () => Promise.resolve(),
  hold: () => Promise.resolve(new Uint8Array()),
};

/** The request as a value. */
export function requestOf(
  incoming: IncomingMessage,
  fields: Fields,
  body: Body,
  connection: Connection,
): Request {
  const { method = '', url: target = '', httpVersion: version } = incoming;
  return { method, target, version, fields, body, connection };
}

/** One request and its reply, between node:http and the values that the service deals in. */
export class Exchange {
  readonly request: Request;
  readonly content: IncomingContent;
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly #expectant: boolean;
  /** Whether the reply was given to the socket. */
  replied = false;

  /** `awaited` says that the client waits for 100 Continue. */
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
    this.content = new IncomingContent(incoming, response, present, awaited);
    this.request = requestOf(incoming, fields, this.content, origin);
  }

  get isHead(): boolean {
    return this.incoming.method === 'HEAD';
  }

  /** Whether the request has arrived to its end. */
  get isWhole(): boolean {
    return this.incoming.complete;
  }

  /** Whether another request can follow on the connection, for all that this one says. */
  get persists(): boolean {
    const { fields } = this.request;
    if (!this.response.shouldKeepAlive || this.content.failure !== undefined || this.content.awaited)
      return false;
    // llhttp throws away what follows a request to upgrade, though nothing was upgraded.
    if (fields.has('upgrade')) return false;
    return this.isWhole || Number(fields.get('content-length') ?? Number.POSITIVE_INFINITY) <= smallContent;
  }

  /** Whether node:http has nothing to do for the reply but to be told that it is out: nothing is left to be read or said. */
  get isPlain(): boolean {
    return (
      this.isWhole && !this.#expectant && this.request.version === '1.1' && this.response.socket !== null
    );
  }

  /** Tells node:http that the reply was written past it, so that it turns to the next request. */
  settle(): void {
    this.response.emit('finish');
  }

  /**
   * Writes a reply. `persistence` has the names and values that say that the connection goes on; without them node:http says
   * what it makes of the request. Throws, with nothing written, if a field cannot be written.
   */
  write(reply: Reply, persistence: readonly string[]): void {
    const { response } = this;
    // In HTTP/1.0 a connection persists only if both sides say so (RFC 9112 §9.3), which node:http leaves out of a reply
    // without content. And it would end one on which 100 Continue was expected and not sent, although the content is here.
    const flat = [...fieldsSent(reply), ...persistence];
    response.sendDate = false; // the service's clock has set it
    response.writeHead(reply.status, flat);
    response.end(contentSent(reply, this.isHead));
    if (!this.isWhole) this.content.discard();
  }
}
