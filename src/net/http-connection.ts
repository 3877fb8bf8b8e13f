import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { HttpHeaders } from '../http/fields.ts';
import type { Connection, IncomingRequest, Response } from '../http/message.ts';
import { Problem, type ProblemOptions } from '../http/problem.ts';
import type { WireFault } from '../http/wire-fault.ts';
import { setImmediate } from '../timers.ts';
import type { ByteBudget } from './byte-budget.ts';
import { Exchange, noContent, readPeer, toHttpRequest } from './exchange.ts';
import { type FastResponses, writeFast } from './fast-response.ts';
import { encodeFaulty, sendFaulty } from './fault-injection.ts';
import { type DeadlineSweep, IdleTimeout, type IdleTimeouts } from './idle-timeout.ts';
import { closeLingering, detachListener } from './lingering-close.ts';
import {
  cutOff,
  isInMessage,
  isTimeout,
  problemOfContent,
  problemOfHeader,
  requestProblem,
  toParseError,
} from './parse-error.ts';
import { encodeMessage, type FieldLines, lastBytes } from './response-encoder.ts';
import type { WriteBatch } from './write-batch.ts';

/** The listener, as its connections use it. */
export interface ConnectionHost {
  /** Returns the response to a request. */
  respond(request: IncomingRequest): Promise<Response>;
  /** Returns the response that reports a problem. `received` holds the bytes being parsed if there is no request. */
  refuse(problem: Problem, request: IncomingRequest | undefined, received?: string): Response;
  /** Called when `respond` is called for a request. */
  requestStarted(): void;
  /** Called when that call has settled. */
  requestFinished(): void;
  /** Whether the listener is closing. */
  readonly stopping: boolean;
  /** Returns a sequence number higher than all before. */
  nextSequence(): number;
  /** The accepted sizes in bytes, and how long a response may stay unread, in milliseconds. */
  readonly limits: { readonly headers: number; readonly target: number; readonly requestTimeout: number };
  /** The budget of content of requests that are not authenticated. */
  readonly contentBudget: ByteBudget | undefined;
  readonly idleTimeouts: IdleTimeouts;
  readonly sweep: DeadlineSweep;
  /** The connections that have sent more requests at once than are queued. */
  readonly overflows: Set<HttpConnection>;
  readonly fastResponses: FastResponses;
  readonly writeBatch: WriteBatch;
  /** Alternating names and values of the fields that announce a persistent connection. */
  readonly persistence: readonly string[];
  /** The same as field lines. */
  readonly persistenceLines: string;
  readonly fieldLines: FieldLines;
}

/** Limits on the queued requests of a connection, and on their bytes. Beyond them, reading is paused. */
const maxQueuedRequests = 64;
const maxQueuedBytes = 64 * 1024;

/** The queued requests that are accepted from one packet, which node:http always parses completely. */
const maxQueuedAtAll = 256;

/** Milliseconds that a client has to read a response if it has sent more requests than that. */
const overflowTimeout = 1000;

/** Connections that may have sent more requests than that at a time. Further ones are closed at once. */
const maxOverflows = 16;

/** A request that is queued behind another one. */
interface QueuedRequest {
  readonly exchange: Exchange;
  /** The asynchronous context in which the request arrived. */
  readonly context: AsyncResource;
}

/**
 * A connection of a client. Its requests are handled one after the other and answered in order. Reading is paused while a response
 * cannot be written or the queue is full, which bounds the memory of a connection.
 */
export class HttpConnection {
  readonly #host: ConnectionHost;
  readonly #socket: Socket;
  /** The TCP socket; `#socket` itself unless that is a TLS socket. */
  readonly #tcpSocket: Socket;
  readonly #origin: Connection;
  readonly #full: boolean;
  /** The last request, until it is complete and answered. Only the last one can be incomplete. */
  #latest: Exchange | undefined;
  /** Whether a request has arrived. */
  #hasRequest = false;
  /** The request that is being handled, or whose response is not flushed. */
  #current: Exchange | undefined;
  #queue: QueuedRequest[] = [];
  /** The response in the write batch. */
  #ready: { readonly exchange: Exchange; readonly message: string | Uint8Array } | undefined;
  /** Whether the client does not read the written response. */
  #blocked = false;
  /** Whether reading is paused. */
  #isPaused = false;
  /** The rejection to send after all earlier requests are answered. */
  #rejection: Rejection | undefined;
  /** Whether more requests have arrived than may be queued. */
  #overflowed = false;
  /** The listener of node:http for 'end', which reports an incomplete request. */
  #finishInput: (() => void) | undefined;
  /** Whether the client has closed its sending side. */
  #halfClosed = false;
  /** Whether the last response of the connection was written. */
  #ended = false;
  /** The sequence number of the last request, or of the connection itself. */
  #sequence: number;
  /** The time at which an unread response has timed out. */
  #deadline = Number.POSITIVE_INFINITY;
  readonly #idle = new IdleTimeout();

  /** `full` is true if the listener has reached its limit of connections: the first request is rejected. */
  constructor(host: ConnectionHost, socket: Socket, full: boolean, tcpSocket = socket) {
    this.#host = host;
    this.#socket = socket;
    this.#tcpSocket = tcpSocket;
    this.#origin = {
      peer: readPeer(socket),
      secure: 'encrypted' in socket && socket.encrypted === true,
      isOpen: () => !this.#ended && !this.#halfClosed,
    };
    this.#full = full;
    this.#sequence = host.nextSequence();
    // After an error, a socket always emits 'close'.
    socket.on('error', () => undefined);
    socket.once('close', () => this.#closed());
    // Reading the content of a request resumes the socket as well.
    socket.on('resume', () => {
      if (this.#isPaused) socket.pause();
    });
    this.#deferEnd();
  }

  /**
   * The sequence number of the last request, if the server waits for the client to send a request or content, to read a
   * response, or to close after the last response. Undefined while the client waits for the server.
   */
  get waitingSince(): number | undefined {
    const current = this.#ended ? undefined : this.#current;
    const waitsForClient = current === undefined || this.#blocked || !current.isComplete;
    return waitsForClient ? this.#sequence : undefined;
  }

  /** Accepts a request whose header section has arrived. `awaitsContinue` is true if the client waits for 100 Continue. */
  receive(incoming: IncomingMessage, outgoing: ServerResponse, awaitsContinue: boolean): void {
    if (this.#ended || this.#rejection !== undefined) return;
    this.#sequence = this.#host.nextSequence();
    if (this.#queue.length >= maxQueuedAtAll) {
      this.#overflow();
      this.refuse(
        new Problem('full', 'Too many requests are queued on this connection.', retrySoon),
        undefined,
      );
      return;
    }
    const fields = new HttpHeaders(incoming.rawHeaders);
    const exchange = new Exchange(
      incoming,
      fields,
      outgoing,
      this.#origin,
      awaitsContinue,
      this.#host.contentBudget,
    );
    this.#latest = exchange;
    this.#hasRequest = true;
    if (this.#current === undefined) this.#start(exchange);
    else this.#enqueue(exchange);
  }

  /** Rejects a CONNECT, after which node:http parses nothing more. */
  receiveConnect(incoming: IncomingMessage): void {
    const request = toHttpRequest(incoming, new HttpHeaders(incoming.rawHeaders), noContent, this.#origin);
    const problem = new Problem('method-not-implemented', 'This server is not a proxy.', last);
    this.refuse(this.#findProblem(request, incoming) ?? problem, request);
  }

  /** Handles an error of the parser, of the timeouts or of the socket. */
  fail(error: Error): void {
    if (this.#ended || this.#rejection !== undefined || this.#socket.destroyed) return;
    const parseError = toParseError(error);
    const latest = this.#latest;
    if (!isInMessage(parseError)) this.#socket.destroy();
    else if (latest !== undefined && !latest.isComplete && latest.replied) this.#end();
    else if (latest !== undefined && !latest.isComplete) latest.content.fail(problemOfContent(parseError));
    else if (isTimeout(parseError) && this.#socket.bytesRead === 0) this.#socket.destroy();
    // Bytes after a request with `Connection: close` are not parsed; the response to that request closes the connection.
    else if (parseError.code !== 'HPE_CLOSED_CONNECTION')
      this.refuse(problemOfHeader(parseError), undefined, parseError.packet);
  }

  /** Rejects a request or unparsable bytes, and closes the connection, after all earlier requests have been answered. */
  refuse(problem: Problem, request: IncomingRequest | undefined, received?: string): void {
    if (this.#ended || this.#rejection !== undefined) return;
    this.#rejection = { problem, request, received };
    if (this.#blocked) this.#block();
    this.#proceed();
  }

  /** Closes the connection if it is idle. Otherwise the response to the current request closes it. */
  close(): void {
    if (this.#ended || this.#current !== undefined) return;
    if (!this.#hasRequest && this.#socket.bytesRead > 0) return; // a part of the first request has arrived
    if (this.#latest === undefined || this.#latest.isComplete) this.#socket.destroy();
    else this.#end();
  }

  /** Destroys the connection if a response has been unread for too long, or the connection idle. */
  check(): void {
    const { sweep, idleTimeouts } = this.#host;
    if (sweep.now >= this.#deadline) this.#socket.destroy();
    else if (!this.#isIdle) this.#idle.reset();
    else if (this.#idle.expired(sweep, idleTimeouts, this.#sequence, this.#socket.bytesRead))
      this.#socket.destroy();
  }

  /** Closes the connection at once. */
  destroy(): void {
    this.#socket.destroy();
  }

  /** Writes the response that is ready. Called by the write batch. */
  send(): void {
    const ready = this.#ready;
    this.#ready = undefined;
    if (ready === undefined || this.#socket.destroyed) return;
    const { exchange, message } = ready;
    writeFast(exchange.outgoing, this.#socket, message, () => this.#flushed());
    if (this.#socket.writableLength > 0) this.#block();
  }

  /** Whether the connection waits for another request, and all earlier ones are answered. */
  get #isIdle(): boolean {
    if (!this.#hasRequest || this.#ended || this.#current !== undefined) return false;
    return this.#latest === undefined || this.#latest.isComplete;
  }

  /** node:http holds all requests of a packet until the connection closes, so only few connections are answered first. */
  #overflow(): void {
    const { overflows } = this.#host;
    this.#overflowed = true;
    if (overflows.size >= maxOverflows) this.#socket.destroy();
    else overflows.add(this);
  }

  #enqueue(exchange: Exchange): void {
    // Not `AsyncResource.bind`, which takes as long as a tenth of a request.
    this.#queue.push({ exchange, context: new AsyncResource('QueuedRequest') });
    this.#regulate();
  }

  #start(exchange: Exchange): void {
    if (this.#ended) return;
    this.#current = exchange;
    const problem = this.#findProblem(exchange.request, exchange.incoming);
    if (problem === undefined) void this.#process(exchange);
    else this.#reject(exchange, problem);
  }

  async #process(exchange: Exchange): Promise<void> {
    this.#host.requestStarted();
    try {
      this.#answer(exchange, await this.#host.respond(exchange.request));
    } catch {
      this.#reject(exchange, new Problem('internal-error', 'The server failed to respond.', last));
    }
    exchange.content.release();
    this.#host.requestFinished();
  }

  /** Returns why a request is rejected before it is handled: by its form, then by the state of the server. */
  #findProblem(request: IncomingRequest, incoming: IncomingMessage): Problem | undefined {
    const malformed = requestProblem(request, incoming, this.#host.limits);
    if (malformed !== undefined) return malformed;
    if (this.#host.stopping) return new Problem('stopping', 'The server is stopping.', retrySoon);
    return this.#full
      ? new Problem('full', 'The server has reached its limit of connections.', retrySoon)
      : undefined;
  }

  #answer(exchange: Exchange, response: Response): void {
    if (this.#ended) {
      response.onAbandoned?.();
      return;
    }
    if (response.fault !== undefined) this.#writeFaulty(response, response.fault, exchange.isHead);
    else if (response.close === true || !this.#persists(exchange)) this.#writeLast(exchange, response);
    else if (this.#isFast(exchange)) this.#writeFast(exchange, response);
    else this.#write(exchange, response);
    exchange.replied = true;
    // An idle connection does not reference its last request.
    if (exchange === this.#latest && exchange.isComplete) this.#latest = undefined;
  }

  /** Whether the fast path may be used for the response (see fast-response.ts). */
  #isFast(exchange: Exchange): boolean {
    return (
      this.#queue.length === 0 &&
      exchange.isPlain &&
      this.#socket.writableLength === 0 &&
      this.#host.fastResponses.allows(exchange.outgoing)
    );
  }

  #writeFast(exchange: Exchange, response: Response): void {
    const { persistenceLines, fieldLines, writeBatch } = this.#host;
    this.#ready = {
      exchange,
      message: encodeMessage(response, exchange.isHead, persistenceLines, fieldLines),
    };
    writeBatch.add(this);
  }

  #write(exchange: Exchange, response: Response): void {
    exchange.write(response, this.#host.persistence);
    exchange.outgoing.once('finish', () => this.#flushed());
    if (this.#socket.writableLength > 0) this.#block();
  }

  /** Writes a response after which the connection closes. */
  #writeLast(exchange: Exchange, response: Response): void {
    exchange.writeLast(response, this.#host.limits.requestTimeout);
    if (this.#halfClosed) response.onAbandoned?.();
    this.#finish();
    if (this.#socket.writableLength > 0) this.#block();
  }

  /** Writes a response with an injected fault. */
  #writeFaulty(response: Response, fault: WireFault, head: boolean): void {
    const message = encodeFaulty(response, fault, head);
    const timeout = this.#host.limits.requestTimeout;
    this.#finish();
    sendFaulty({ socket: this.#socket, tcpSocket: this.#tcpSocket, timeout }, message, fault);
  }

  #reject(exchange: Exchange, problem: Problem): void {
    if (this.#ended) return;
    try {
      this.#writeLast(exchange, this.#host.refuse(problem, exchange.request));
    } catch {
      this.#end(); // no response can be encoded
    }
  }

  #persists(exchange: Exchange): boolean {
    if (!exchange.persists || this.#host.stopping) return false;
    // A client that has closed its sending side sends no further request.
    return !this.#halfClosed || this.#queue.length > 0 || this.#rejection !== undefined;
  }

  /** Waits for a limited time until the client reads the response. Meanwhile, reading from the client is paused. */
  #block(): void {
    const { sweep, limits } = this.#host;
    this.#blocked = true;
    this.#deadline = Math.min(
      this.#deadline,
      sweep.after(this.#overflowed ? overflowTimeout : limits.requestTimeout),
    );
    this.#regulate();
  }

  /** Continues after the response to the current request has been written. */
  #flushed(): void {
    this.#current = undefined;
    this.#blocked = false;
    this.#deadline = Number.POSITIVE_INFINITY;
    if (this.#ended) return;
    if (this.#host.stopping) this.#end();
    else this.#proceed();
    this.#regulate();
  }

  /** Starts the next request, if none is current. While others follow, a new turn of the event loop lets other clients continue. */
  #proceed(): void {
    if (this.#ended || this.#current !== undefined) return;
    const next = this.#queue.shift();
    if (next !== undefined) {
      const { exchange, context } = next;
      const start = () => context.runInAsyncScope(this.#start, this, exchange);
      this.#current = exchange;
      if (this.#queue.length === 0) start();
      else setImmediate(start);
    } else if (this.#rejection !== undefined) this.#end(this.#encodeRejection(this.#rejection));
    else this.#finishInput?.();
  }

  /** Pauses or resumes reading. */
  #regulate(): void {
    const pause = !this.#ended && (this.#cannotWrite || this.#isCrowded);
    if (pause === this.#isPaused) return;
    this.#isPaused = pause;
    if (pause) this.#socket.pause();
    else this.#socket.resume();
  }

  /** A write to a TLS socket completes only after the next request may have arrived, so with TLS one request may wait. */
  get #cannotWrite(): boolean {
    return this.#blocked && (!this.#origin.secure || this.#queue.length > 1);
  }

  /** Once paused, reading resumes only when the queue is empty, because the next packet may contain as many requests again. */
  get #isCrowded(): boolean {
    const { length } = this.#queue;
    if (length === 0) return false;
    if (this.#isPaused || length >= maxQueuedRequests) return true;
    return this.#queue.reduce((bytes, { exchange }) => bytes + exchange.size, 0) > maxQueuedBytes;
  }

  /**
   * Detaches node:http's listener of 'end', which drops unanswered requests. It is called when they are answered, or to fail an
   * incomplete request.
   */
  #deferEnd(): void {
    const finish = detachListener(this.#socket, 'end', 'last');
    this.#socket.once('end', () => {
      this.#finishInput = finish;
      this.#halfClosed = true;
      if (this.#current === undefined || this.#latest?.isComplete === false) finish?.();
    });
  }

  #encodeRejection({ problem, request, received }: Rejection): Uint8Array | undefined {
    try {
      return lastBytes(this.#host.refuse(problem, request, received), request?.method === 'HEAD');
    } catch {
      return undefined; // no response can be encoded
    }
  }

  /** Sends the last bytes and closes the connection. */
  #end(bytes?: Uint8Array): void {
    this.#finish();
    closeLingering(this.#socket, this.#host.limits.requestTimeout, bytes);
  }

  #finish(): void {
    this.#ended = true;
    this.#queue = [];
    this.#regulate();
  }

  #closed(): void {
    this.#host.overflows.delete(this);
    this.#ended = true;
    this.#queue = [];
    if (this.#latest !== undefined && !this.#latest.isComplete) this.#latest.content.fail(cutOff());
  }
}

/** The rejection of a request, or of bytes that could not be parsed. */
interface Rejection {
  readonly problem: Problem;
  readonly request: IncomingRequest | undefined;
  readonly received?: string | undefined;
}

const last: ProblemOptions = { close: true };

/** The parts of a temporary rejection. */
const retrySoon: ProblemOptions = { headers: [['Retry-After', '1']], close: true };
