import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Connection, Reply, Request } from '../http/message.ts';
import { Problem, type ProblemParts } from '../http/problem.ts';
import type { WireFault } from '../http/wire-fault.ts';
import { Exchange, noContent, requestOf } from './exchange.ts';
import { sayFarewell } from './farewell.ts';
import { cutOff, faultOf, isOfMessage, isTimeout, problemOfContent, problemOfHeader } from './fault.ts';
import { faultyPieces, sayFaultily } from './faulty-reply.ts';
import type { Incoming } from './incoming.ts';
import type { Outbox } from './outbox.ts';
import { type FieldLines, lastBytes, messageOf } from './reply-bytes.ts';

/** What a connection needs of the listener that it belongs to. */
export interface Host {
  /** Gives the reply to a request. */
  handle(request: Request): Promise<Reply>;
  /** Makes a reply of a problem. `received` is what was being parsed where no request came of it. */
  refuse(problem: Problem, request: Request | undefined, received?: string): Reply;
  /** Told when a request goes to `handle`, and when that has settled. */
  entered(): void;
  left(): void;
  /** Whether nothing new is taken. */
  readonly stopping: boolean;
  /** A number higher than all before. */
  nextTurn(): number;
  /** The sizes that are taken, in bytes, and for how long a reply may stay unread, in milliseconds. */
  readonly limits: { readonly headers: number; readonly target: number; readonly requestTimeout: number };
  /** Where replies wait to be written. */
  readonly outbox: Outbox;
  /** Names and values in turn that tell the client that the connection goes on, and how long it may rest. */
  readonly persistence: readonly string[];
  /** The lines of these. */
  readonly persistenceLines: string;
  /** Where the lines of replies are made. */
  readonly fieldLines: FieldLines;
}

/** How many requests may wait on one connection for their turn. */
const pipelined = 256;

/**
 * One client's connection. Its requests are handled one after the other and answered in order. The reply after which
 * it ends is written past node:http, which would destroy the socket under what the client still sends.
 */
export class HttpConnection {
  readonly #host: Host;
  readonly #socket: Socket;
  /** What the socket is on, where it is one of TLS. */
  readonly #carrier: Socket;
  readonly #origin: Connection;
  readonly #full: boolean;
  /** The request that came last, until it is whole and answered; if one is not whole, it is this one. */
  #latest: Exchange | undefined;
  /** Whether a request has come. */
  #begun = false;
  /** The request that is being handled. */
  #current: Exchange | undefined;
  #waiting: Exchange[] = [];
  /** The reply that waits in the outbox. */
  #ready: { readonly exchange: Exchange; readonly message: string | Uint8Array } | undefined;
  /** Whether a reply that was written past node:http is still in the socket's own buffer. */
  #buffered = false;
  /** The reply that was written last through node:http. */
  #written: ServerResponse | undefined;
  /** What is done as soon as all that was written is out. */
  #afterFlush: (() => void) | undefined;
  /** What is to be said once every request before it has been answered. */
  #refusal: Refusal | undefined;
  /** Whether the last word was said. */
  #ended = false;
  /** The turn at which the connection was made or its last request came. */
  #since: number;
  /** How many bytes had come when it was last looked at, and in how many looks on end it was at rest with no more. */
  #bytesSeen = 0;
  #looks = 0;

  /** `full` says that there is no room for this connection: its first request is told so. */
  constructor(host: Host, socket: Socket, full: boolean, carrier = socket) {
    this.#host = host;
    this.#socket = socket;
    this.#carrier = carrier;
    this.#origin = { peer: peerOf(socket), secure: 'encrypted' in socket && socket.encrypted === true };
    this.#full = full;
    this.#since = host.nextTurn();
    // Whatever befalls the socket ends in its 'close'.
    socket.on('error', () => undefined);
    socket.once('close', () => this.#gone());
  }

  /**
   * Since which turn no whole header section has come on it, if it is the client that is waited for: for the next
   * request, or to read what was written. Undefined while a request is being handled.
   */
  get waitingSince(): number | undefined {
    return this.#current === undefined && this.#ready === undefined ? this.#since : undefined;
  }

  /** Takes a request whose header section has arrived. */
  receive(incoming: Incoming, response: ServerResponse, awaited: boolean): void {
    if (this.#ended || this.#refusal !== undefined) return;
    this.#since = this.#host.nextTurn();
    const exchange = new Exchange(incoming, incoming.fields, response, this.#origin, awaited);
    if (this.#waiting.length >= pipelined) {
      this.refuse(new Problem('full', 'Too many requests wait on this connection.', retrySoon), undefined);
      return;
    }
    this.#latest = exchange;
    this.#begun = true;
    this.#waiting.push(exchange);
    this.#proceed();
  }

  /** Takes a CONNECT, for which node:http has stopped to parse the connection. */
  receiveConnect(incoming: Incoming): void {
    const request = requestOf(incoming, incoming.fields, noContent, this.#origin);
    const problem = new Problem('method-not-implemented', 'This server is not a proxy.', last);
    this.refuse(this.#problemOf(request, incoming) ?? problem, request);
  }

  /** Takes an error of the parser, of the timeouts or of the socket. */
  fail(error: Error): void {
    if (this.#ended || this.#refusal !== undefined || this.#socket.destroyed) return;
    const fault = faultOf(error);
    const latest = this.#latest;
    if (!isOfMessage(fault)) this.#socket.destroy();
    else if (latest !== undefined && !latest.isWhole && latest.replied) this.#end();
    else if (latest !== undefined && !latest.isWhole) latest.content.fail(problemOfContent(fault));
    else if (isTimeout(fault) && this.#socket.bytesRead === 0) this.#socket.destroy();
    // What follows a request to close is not even looked at; the reply to that request closes.
    else if (fault.code !== 'HPE_CLOSED_CONNECTION')
      this.refuse(problemOfHeader(fault), undefined, fault.packet);
  }

  /** Refuses what came, and ends the connection, after every request before it has been answered. */
  refuse(problem: Problem, request: Request | undefined, received?: string): void {
    if (this.#ended || this.#refusal !== undefined) return;
    this.#refusal = { problem, request, received };
    this.#proceed();
  }

  /** Ends the connection if nothing is under way on it. What is under way ends it with its reply. */
  close(): void {
    if (this.#ended || this.#current !== undefined) return;
    if (!this.#begun && this.#socket.bytesRead > 0) return; // the first request is half here
    if (this.#isFlushed && (this.#latest === undefined || this.#latest.isWhole)) this.#socket.destroy();
    else this.#end();
  }

  /** Nothing has moved on the socket for long: lets it go, unless it is the server that keeps the client waiting. */
  stall(): void {
    if (this.#ended || this.#socket.writableLength > 0) this.#socket.destroy();
  }

  /** Looks whether it is at rest; gives in how many looks on end it was, and nothing came. */
  look(): number {
    const { bytesRead } = this.#socket;
    this.#looks = this.#rests && bytesRead === this.#bytesSeen ? this.#looks + 1 : 0;
    this.#bytesSeen = bytesRead;
    return this.#looks;
  }

  /** Ends the connection without waiting for anything. */
  destroy(): void {
    this.#socket.destroy();
  }

  #start(exchange: Exchange): void {
    this.#current = exchange;
    const problem = this.#problemOf(exchange.request, exchange.incoming);
    if (problem === undefined) void this.#handle(exchange);
    else this.#reject(exchange, problem);
  }

  async #handle(exchange: Exchange): Promise<void> {
    this.#host.entered();
    try {
      this.#answer(exchange, await this.#host.handle(exchange.request));
    } catch {
      this.#reject(exchange, new Problem('internal-error', 'The server failed to answer.', last));
    }
    this.#host.left();
    this.#proceed();
  }

  /** What a request gets before it is handled (the sizes and the version of HTTP, then the state of the server). */
  #problemOf(request: Request, incoming: IncomingMessage): Problem | undefined {
    const { limits } = this.#host;
    if (request.target.length > limits.target)
      return new Problem(
        'target-too-long',
        `The request target is longer than ${limits.target} bytes.`,
        last,
      );
    if (request.fields.size > limits.headers)
      return new Problem('header-too-large', `The header section exceeds ${limits.headers} bytes.`, last);
    if (!isWellFormed(incoming.rawHeaders, request.target))
      return new Problem(
        'malformed-request',
        'A field name or the target has white space, or none is there.',
        last,
      );
    if (incoming.httpVersionMajor !== 1)
      return new Problem('version-not-supported', `The request is HTTP/${request.version}.`, last);
    // RFC 9112 §6.1: who speaks 1.0 does not know the field, so somebody on the way has read another length.
    if (request.version === '1.0' && request.fields.has('transfer-encoding'))
      return new Problem('malformed-request', 'HTTP/1.0 has no Transfer-Encoding.', last);
    if (this.#host.stopping) return new Problem('stopping', 'The server is stopping.', retrySoon);
    return this.#full
      ? new Problem('full', 'The server holds all the connections it can.', retrySoon)
      : undefined;
  }

  #answer(exchange: Exchange, reply: Reply): void {
    if (this.#ended) {
      reply.abandoned?.();
      return;
    }
    if (reply.fault !== undefined) {
      this.#last(this.#faulty(reply, reply.fault, exchange.isHead));
    } else if (reply.close === true || !this.#persists(exchange)) {
      if (this.#socket.readableEnded) reply.abandoned?.();
      this.#end(lastBytes(reply, exchange.isHead));
    } else if (exchange.isPlain) {
      const { persistenceLines, fieldLines } = this.#host;
      this.#ready = { exchange, message: messageOf(reply, exchange.isHead, persistenceLines, fieldLines) };
      this.#host.outbox.add(this);
    } else {
      exchange.write(reply, this.#host.persistence);
      this.#written = exchange.response;
      if (!this.#isFlushed) this.#awaitFlush(exchange.response);
    }
    exchange.replied = true;
    this.#current = undefined;
    // A connection that rests holds nothing of what came on it.
    if (exchange === this.#latest && exchange.isWhole) this.#latest = undefined;
  }

  /** Writes the reply that is ready. */
  send(): void {
    const ready = this.#ready;
    if (ready === undefined) return;
    this.#ready = undefined;
    const socket = this.#socket;
    if (socket.destroyed) return;
    if (typeof ready.message === 'string') socket.write(ready.message, 'latin1');
    else socket.write(ready.message);
    if (socket.writableLength > 0) this.#awaitEmpty(ready.exchange);
    else this.#settle(ready.exchange);
  }

  /** Until the client has taken what is buffered no other reply is made, and it has only so long for it. */
  #awaitEmpty(exchange: Exchange): void {
    this.#buffered = true;
    this.#socket.setTimeout(this.#host.limits.requestTimeout);
    // Nothing more to write, but its turn comes when everything before it is out.
    this.#socket.write('', () => {
      this.#buffered = false;
      this.#socket.setTimeout(0);
      this.#settle(exchange);
    });
  }

  /** The reply is out. */
  #settle(exchange: Exchange): void {
    exchange.settle();
    this.#flushed();
  }

  #flushed(): void {
    const action = this.#afterFlush;
    this.#afterFlush = undefined;
    if (action === undefined) this.#proceed();
    else action();
  }

  #reject(exchange: Exchange, problem: Problem): void {
    this.#end(this.#bytesOf({ problem, request: exchange.request }));
  }

  #persists(exchange: Exchange): boolean {
    if (!exchange.persists || this.#host.stopping) return false;
    // A client that has ended its side will ask for nothing more than it has asked for.
    return !this.#socket.readableEnded || this.#waiting.length > 0 || this.#refusal !== undefined;
  }

  get #isFlushed(): boolean {
    if (this.#ready !== undefined || this.#buffered) return false;
    return this.#written === undefined || this.#written.writableFinished;
  }

  /** Whether it waits for another request, and every one before is answered. */
  get #rests(): boolean {
    if (!this.#begun || this.#ended || this.#current !== undefined || !this.#isFlushed) return false;
    return this.#latest === undefined || this.#latest.isWhole;
  }

  /** Until the client has read the reply no other is made, and it has only so long for it. */
  #awaitFlush(written: ServerResponse): void {
    this.#socket.setTimeout(this.#host.limits.requestTimeout);
    written.once('finish', () => {
      this.#socket.setTimeout(0);
      this.#proceed();
    });
  }

  /** Turns to what waits, if nothing is being handled or written. */
  #proceed(): void {
    if (this.#ended || this.#current !== undefined || !this.#isFlushed) return;
    const next = this.#waiting.shift();
    if (next !== undefined) this.#start(next);
    else if (this.#refusal !== undefined) this.#end(this.#bytesOf(this.#refusal));
  }

  #bytesOf({ problem, request, received }: Refusal): Uint8Array | undefined {
    try {
      return lastBytes(this.#host.refuse(problem, request, received), request?.method === 'HEAD');
    } catch {
      return undefined; // no reply can be made at all: the end of the connection has to say it
    }
  }

  /** Says the last word after what was written before it. */
  #end(bytes?: Uint8Array): void {
    this.#last(() => sayFarewell(this.#socket, this.#host.limits.requestTimeout, bytes));
  }

  /** Has the last word said when everything before it is out. */
  #last(speak: () => void): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#waiting = [];
    if (this.#isFlushed) speak();
    else if (this.#ready !== undefined || this.#buffered) this.#afterFlush = speak;
    else this.#written?.once('finish', speak);
  }

  /** How a reply is said with which something goes wrong on purpose. */
  #faulty(reply: Reply, fault: WireFault, head: boolean): () => void {
    const pieces = faultyPieces(reply, fault, head);
    const patience = this.#host.limits.requestTimeout;
    return () => sayFaultily({ socket: this.#socket, carrier: this.#carrier, patience }, pieces, fault);
  }

  #gone(): void {
    this.#ended = true;
    this.#waiting = [];
    if (this.#latest !== undefined && !this.#latest.isWhole) this.#latest.content.fail(cutOff());
  }
}

/** What is refused: a request, or what no request came of. */
interface Refusal {
  readonly problem: Problem;
  readonly request: Request | undefined;
  readonly received?: string | undefined;
}

const space = 0x20;

const last: ProblemParts = { close: true };

/** What goes with a refusal that another attempt may escape. */
const retrySoon: ProblemParts = { fields: [['Retry-After', '1']], close: true };

/** What llhttp lets pass before its version 9: a field name that is empty or ends in a space, a tab in the target. */
function isWellFormed(raw: readonly string[], target: string): boolean {
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] ?? '';
    if (name === '' || name.charCodeAt(name.length - 1) === space) return false;
  }
  return !target.includes('\t');
}

/** The peer's address; one of IPv4 has the same form whether or not the listener speaks IPv6. */
export function peerOf(socket: Socket): string {
  const address = socket.remoteAddress ?? '';
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}
