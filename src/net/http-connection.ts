import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Fields } from '../http/fields.ts';
import type { Connection, Request, Response } from '../http/message.ts';
import { Problem, type ProblemParts } from '../http/problem.ts';
import type { WireFault } from '../http/wire-fault.ts';
import { setImmediate } from '../timers.ts';
import { detachListener } from './detach-listener.ts';
import { Exchange, noContent, requestOf } from './exchange.ts';
import { type FastResponses, writeFast } from './fast-response.ts';
import { faultyParts, sendFaulty } from './fault-injection.ts';
import { type DeadlineSweep, IdleTimeout, type IdleTimeouts } from './idle-timeout.ts';
import { closeLingering } from './lingering-close.ts';
import {
  cutOff,
  isInMessage,
  isTimeout,
  parseErrorOf,
  problemOfContent,
  problemOfHeader,
} from './parse-error.ts';
import { type FieldLines, lastBytes, messageOf } from './response-encoder.ts';
import type { WriteBatch } from './write-batch.ts';

/** What a connection needs of the listener that it belongs to. */
export interface ConnectionHost {
  /** Returns the response to a request. */
  respond(request: Request): Promise<Response>;
  /** Makes a response of a problem. `received` is what was being parsed where no request came of it. */
  refuse(problem: Problem, request: Request | undefined, received?: string): Response;
  /** Called when a request goes to `handle`, and when that has settled. */
  entered(): void;
  left(): void;
  /** Whether the listener is closing. */
  readonly stopping: boolean;
  /** Returns a number higher than all before. */
  nextTurn(): number;
  /** The accepted sizes, in bytes, and for how long a response may stay unread, in milliseconds. */
  readonly limits: { readonly headers: number; readonly target: number; readonly requestTimeout: number };
  readonly idleTimeouts: IdleTimeouts;
  readonly sweep: DeadlineSweep;
  /** The connections that have sent more requests at once than may wait. */
  readonly overruns: Set<HttpConnection>;
  readonly fastResponses: FastResponses;
  readonly writeBatch: WriteBatch;
  /** Names and values in turn that tell the client that the connection persists, and for how long. */
  readonly persistence: readonly string[];
  /** The lines of these. */
  readonly persistenceLines: string;
  readonly fieldLines: FieldLines;
}

/** Requests, and bytes of requests, that wait on one connection before it is read no further. */
const waitingRequests = 64;
const waitingBytes = 64 * 1024;

/** Requests that may wait if they have arrived in one packet, which node:http parses to its end; more are refused. */
const waitingAtMost = 256;

/** Milliseconds that a client has to read a response when it has sent more requests than that. */
const overrunTime = 1000;

/** Connections that may have sent more requests than that at a time; further ones are closed at once. */
const overrunsAtMost = 16;

/** A request that waits for the response before it. */
interface Waiting {
  readonly exchange: Exchange;
  /** Handles it, in the asynchronous context in which it arrived. */
  readonly start: () => void;
}

/**
 * One client's connection. Its requests are handled one after the other and answered in order. Nothing is read while a response
 * cannot be written or too much waits, so what a connection holds in memory is bounded.
 */
export class HttpConnection {
  readonly #host: ConnectionHost;
  readonly #socket: Socket;
  /** The TCP socket, where `#socket` is one of TLS. */
  readonly #carrier: Socket;
  readonly #origin: Connection;
  readonly #full: boolean;
  /** The request that came last, until it is whole and answered; if one is not whole, it is this one. */
  #latest: Exchange | undefined;
  /** Whether a request has come. */
  #begun = false;
  /** The request that is handled, or whose response is not flushed. */
  #current: Exchange | undefined;
  #waiting: Waiting[] = [];
  /** The response that waits in the batch. */
  #ready: { readonly exchange: Exchange; readonly message: string | Uint8Array } | undefined;
  /** Whether the client does not read the response that was written. */
  #blocked = false;
  /** Whether reading is paused for what waits. */
  #holding = false;
  /** What is to be sent once every request before it has been answered. */
  #refusal: Refusal | undefined;
  /** Whether more requests have come than may wait. */
  #overrun = false;
  /** What node:http does when the client has closed its sending side: it looks for an incomplete request. */
  #finishInput: (() => void) | undefined;
  /** Whether the client has closed its sending side. */
  #halfClosed = false;
  /** Whether the last response was written. */
  #ended = false;
  /** The number of the last request, or of the connection itself. */
  #turn: number;
  /** When a response that is not read has been unread for too long. */
  #deadline = Number.POSITIVE_INFINITY;
  readonly #idle = new IdleTimeout();

  /** `full` is true if there is no room for this connection: its first request is refused. */
  constructor(host: ConnectionHost, socket: Socket, full: boolean, carrier = socket) {
    this.#host = host;
    this.#socket = socket;
    this.#carrier = carrier;
    this.#origin = { peer: peerOf(socket), secure: 'encrypted' in socket && socket.encrypted === true };
    this.#full = full;
    this.#turn = host.nextTurn();
    // An error of the socket is always followed by its 'close'.
    socket.on('error', () => undefined);
    socket.once('close', () => this.#gone());
    // Reading a request's content resumes the socket as well.
    socket.on('resume', () => {
      if (this.#holding) socket.pause();
    });
    this.#deferEnd();
  }

  /**
   * The number of the last request, if the server waits for the client: for another request, for content, for it to read
   * a response, or for it to close after the last response. Undefined while the client waits for the server.
   */
  get waitingSince(): number | undefined {
    const current = this.#ended ? undefined : this.#current;
    const isClients = current === undefined || this.#blocked || !current.isWhole;
    return isClients ? this.#turn : undefined;
  }

  /** Takes a request whose header section has arrived. */
  receive(incoming: IncomingMessage, response: ServerResponse, awaited: boolean): void {
    if (this.#ended || this.#refusal !== undefined) return;
    this.#turn = this.#host.nextTurn();
    if (this.#waiting.length >= waitingAtMost) {
      this.#overran();
      this.refuse(new Problem('full', 'Too many requests wait on this connection.', retrySoon), undefined);
      return;
    }
    const exchange = new Exchange(incoming, new Fields(incoming.rawHeaders), response, this.#origin, awaited);
    this.#latest = exchange;
    this.#begun = true;
    if (this.#current === undefined) this.#start(exchange);
    else this.#enqueue(exchange);
  }

  /** Takes a CONNECT, after which node:http parses nothing more. */
  receiveConnect(incoming: IncomingMessage): void {
    const request = requestOf(incoming, new Fields(incoming.rawHeaders), noContent, this.#origin);
    const problem = new Problem('method-not-implemented', 'This server is not a proxy.', last);
    this.refuse(this.#problemOf(request, incoming) ?? problem, request);
  }

  /** Takes an error of the parser, of the timeouts or of the socket. */
  fail(error: Error): void {
    if (this.#ended || this.#refusal !== undefined || this.#socket.destroyed) return;
    const fault = parseErrorOf(error);
    const latest = this.#latest;
    if (!isInMessage(fault)) this.#socket.destroy();
    else if (latest !== undefined && !latest.isWhole && latest.replied) this.#end();
    else if (latest !== undefined && !latest.isWhole) latest.content.fail(problemOfContent(fault));
    else if (isTimeout(fault) && this.#socket.bytesRead === 0) this.#socket.destroy();
    // What follows a request to close is not parsed; the response to that request closes the connection.
    else if (fault.code !== 'HPE_CLOSED_CONNECTION')
      this.refuse(problemOfHeader(fault), undefined, fault.packet);
  }

  /** Refuses what came, and closes the connection, after every request before it has been answered. */
  refuse(problem: Problem, request: Request | undefined, received?: string): void {
    if (this.#ended || this.#refusal !== undefined) return;
    this.#refusal = { problem, request, received };
    if (this.#blocked) this.#block();
    this.#proceed();
  }

  /** Closes the connection if it is idle. Otherwise the response to the current request closes it. */
  close(): void {
    if (this.#ended || this.#current !== undefined) return;
    if (!this.#begun && this.#socket.bytesRead > 0) return; // the first request has partly arrived
    if (this.#latest === undefined || this.#latest.isWhole) this.#socket.destroy();
    else this.#end();
  }

  /** Destroys the connection if a response has been unread, or the connection idle, for too long. */
  check(): void {
    const { sweep, idleTimeouts } = this.#host;
    if (sweep.now >= this.#deadline) this.#socket.destroy();
    else if (!this.#isIdle) this.#idle.reset();
    else if (this.#idle.expired(sweep, idleTimeouts, this.#turn, this.#socket.bytesRead))
      this.#socket.destroy();
  }

  /** Closes the connection at once. */
  destroy(): void {
    this.#socket.destroy();
  }

  /** Writes the response that is ready. Called by the batch. */
  send(): void {
    const ready = this.#ready;
    this.#ready = undefined;
    if (ready === undefined || this.#socket.destroyed) return;
    const { exchange, message } = ready;
    writeFast(exchange.response, this.#socket, message, () => this.#flushed());
    if (this.#current === exchange) this.#block();
  }

  /** Whether it waits for another request, and every one before is answered. */
  get #isIdle(): boolean {
    if (!this.#begun || this.#ended || this.#current !== undefined) return false;
    return this.#latest === undefined || this.#latest.isWhole;
  }

  /** node:http holds what it has parsed of a packet until the connection closes, so only few connections are answered first. */
  #overran(): void {
    const { overruns } = this.#host;
    this.#overrun = true;
    if (overruns.size >= overrunsAtMost) this.#socket.destroy();
    else overruns.add(this);
  }

  #enqueue(exchange: Exchange): void {
    this.#waiting.push({ exchange, start: AsyncResource.bind(() => this.#start(exchange)) });
    this.#regulate();
  }

  #start(exchange: Exchange): void {
    if (this.#ended) return;
    this.#current = exchange;
    const problem = this.#problemOf(exchange.request, exchange.incoming);
    if (problem === undefined) void this.#process(exchange);
    else this.#reject(exchange, problem);
  }

  async #process(exchange: Exchange): Promise<void> {
    this.#host.entered();
    try {
      this.#answer(exchange, await this.#host.respond(exchange.request));
    } catch {
      this.#reject(exchange, new Problem('internal-error', 'The server failed to answer.', last));
    }
    this.#host.left();
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
    // RFC 9112 §6.1: HTTP/1.0 does not know the field, so an intermediary has read another length.
    if (request.version === '1.0' && request.fields.has('transfer-encoding'))
      return new Problem('malformed-request', 'HTTP/1.0 has no Transfer-Encoding.', last);
    if (this.#host.stopping) return new Problem('stopping', 'The server is stopping.', retrySoon);
    return this.#full
      ? new Problem('full', 'The server holds all the connections it can.', retrySoon)
      : undefined;
  }

  #answer(exchange: Exchange, reply: Response): void {
    if (this.#ended) {
      reply.onAbandoned?.();
      return;
    }
    if (reply.fault !== undefined) this.#writeFaulty(reply, reply.fault, exchange.isHead);
    else if (reply.close === true || !this.#persists(exchange)) this.#writeLast(exchange, reply);
    else if (this.#isFast(exchange)) this.#writeFast(exchange, reply);
    else this.#write(exchange, reply);
    exchange.replied = true;
    // An idle connection holds nothing of what came on it.
    if (exchange === this.#latest && exchange.isWhole) this.#latest = undefined;
  }

  #isFast(exchange: Exchange): boolean {
    return (
      this.#waiting.length === 0 &&
      exchange.isPlain &&
      this.#socket.writableLength === 0 &&
      this.#host.fastResponses.allows(exchange.response)
    );
  }

  #writeFast(exchange: Exchange, reply: Response): void {
    const { persistenceLines, fieldLines, writeBatch } = this.#host;
    this.#ready = { exchange, message: messageOf(reply, exchange.isHead, persistenceLines, fieldLines) };
    writeBatch.add(this);
  }

  #write(exchange: Exchange, reply: Response): void {
    exchange.write(reply, this.#host.persistence);
    exchange.response.once('finish', () => this.#flushed());
    if (this.#socket.writableLength > 0) this.#block();
  }

  /** Writes a response after which the connection closes. */
  #writeLast(exchange: Exchange, reply: Response): void {
    exchange.writeLast(reply, this.#host.limits.requestTimeout);
    if (this.#halfClosed) reply.onAbandoned?.();
    this.#finish();
    if (this.#socket.writableLength > 0) this.#block();
  }

  /** Writes a response with which something goes wrong on purpose. */
  #writeFaulty(reply: Response, fault: WireFault, head: boolean): void {
    const pieces = faultyParts(reply, fault, head);
    const patience = this.#host.limits.requestTimeout;
    this.#finish();
    sendFaulty({ socket: this.#socket, carrier: this.#carrier, patience }, pieces, fault);
  }

  #reject(exchange: Exchange, problem: Problem): void {
    if (this.#ended) return;
    try {
      this.#writeLast(exchange, this.#host.refuse(problem, exchange.request));
    } catch {
      this.#end(); // no response can be made at all
    }
  }

  #persists(exchange: Exchange): boolean {
    if (!exchange.persists || this.#host.stopping) return false;
    // A client that has closed its side sends no further request.
    return !this.#halfClosed || this.#waiting.length > 0 || this.#refusal !== undefined;
  }

  /** Waits until the client reads the response, for a limited time, and reads nothing from it meanwhile. */
  #block(): void {
    const { sweep, limits } = this.#host;
    this.#blocked = true;
    this.#deadline = Math.min(
      this.#deadline,
      sweep.after(this.#overrun ? overrunTime : limits.requestTimeout),
    );
    this.#regulate();
  }

  /** The response to the current request has been written. */
  #flushed(): void {
    this.#current = undefined;
    this.#blocked = false;
    this.#deadline = Number.POSITIVE_INFINITY;
    if (this.#ended) return;
    if (this.#host.stopping) this.#end();
    else this.#proceed();
    this.#regulate();
  }

  /** Starts the next request, if none is current. Each in a turn of its own, so that other clients are answered between. */
  #proceed(): void {
    if (this.#ended || this.#current !== undefined) return;
    const next = this.#waiting.shift();
    if (next !== undefined) {
      this.#current = next.exchange;
      setImmediate(next.start);
    } else if (this.#refusal !== undefined) this.#end(this.#bytesOf(this.#refusal));
    else this.#finishInput?.();
  }

  /** Stops or resumes reading, by what waits. */
  #regulate(): void {
    const hold = !this.#ended && (this.#cannotWrite || this.#isCrowded);
    if (hold === this.#holding) return;
    this.#holding = hold;
    if (hold) this.#socket.pause();
    else this.#socket.resume();
  }

  /** Of TLS a response always takes a moment to be written, so there only another request shows that it takes too long. */
  get #cannotWrite(): boolean {
    return this.#blocked && (!this.#origin.secure || this.#waiting.length > 0);
  }

  /** Once reading is paused it resumes when nothing waits any more: the next packet may hold as much again. */
  get #isCrowded(): boolean {
    const { length } = this.#waiting;
    if (length === 0) return false;
    if (this.#holding || length >= waitingRequests) return true;
    return this.#waiting.reduce((bytes, { exchange }) => bytes + exchange.size, 0) > waitingBytes;
  }

  /**
   * Takes the place of node:http's listener of 'end', which drops the requests that are not answered. It is called once they
   * are, or to fail a request that has not arrived whole.
   */
  #deferEnd(): void {
    const finish = detachListener(this.#socket, 'end', 'last');
    this.#socket.once('end', () => {
      this.#finishInput = finish;
      this.#halfClosed = true;
      if (this.#current === undefined || this.#latest?.isWhole === false) finish?.();
    });
  }

  #bytesOf({ problem, request, received }: Refusal): Uint8Array | undefined {
    try {
      return lastBytes(this.#host.refuse(problem, request, received), request?.method === 'HEAD');
    } catch {
      return undefined; // no response can be made at all
    }
  }

  /** Sends the last bytes and closes the connection. */
  #end(bytes?: Uint8Array): void {
    this.#finish();
    closeLingering(this.#socket, this.#host.limits.requestTimeout, bytes);
  }

  #finish(): void {
    this.#ended = true;
    this.#waiting = [];
    this.#regulate();
  }

  #gone(): void {
    this.#host.overruns.delete(this);
    this.#ended = true;
    this.#waiting = [];
    if (this.#latest !== undefined && !this.#latest.isWhole) this.#latest.content.fail(cutOff());
  }
}

/** What is refused: a request, or bytes that are none. */
interface Refusal {
  readonly problem: Problem;
  readonly request: Request | undefined;
  readonly received?: string | undefined;
}

const space = 0x20;

const last: ProblemParts = { close: true };

/** What goes with a refusal that another attempt may escape. */
const retrySoon: ProblemParts = { fields: [['Retry-After', '1']], close: true };

/** What llhttp accepts before its version 9: a field name that is empty or ends in a space, a tab in the target. */
function isWellFormed(raw: readonly string[], target: string): boolean {
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] ?? '';
    if (name === '' || name.charCodeAt(name.length - 1) === space) return false;
  }
  return !target.includes('\t');
}

/** Returns the peer's address; one of IPv4 has the same form whether or not the listener speaks IPv6. */
export function peerOf(socket: Socket): string {
  const address = socket.remoteAddress ?? '';
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}
