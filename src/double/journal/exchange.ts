import type { Body, Connection, IncomingRequest, Response } from '../../http/message.ts';
import type { Problem } from '../../http/problem.ts';
import { isSilent } from '../../http/wire-fault.ts';
import type { RequestTrace } from '../../pipeline/call.ts';
import type { JournalCors } from '../../pipeline/cors.ts';
import type { Principal } from '../../principal.ts';
import type { AuthenticationTrace } from '../../schemes/trace.ts';
import { clearTimeout, setTimeout } from '../../timers.ts';
import type { Fault } from '../faults/declaration.ts';
import type { InterceptedResponse } from '../faults/faults.ts';

/** The member of entries and responses that has the entry. Registered, so that it is the same in all copies of this module. */
export const entryOfAnswer = Symbol.for('countersign.journal-entry');

/** A recorded request. It has few members, since a journal holds a thousand of them. */
export interface RecordedRequest {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  /** Names and values of the fields, alternating. */
  readonly raw: readonly string[];
  readonly connection: Connection;
}

/** Returns the members of a request to record. */
function toRecorded({ method, target, version, headers, connection }: IncomingRequest): RecordedRequest {
  return { method, target, version, raw: headers.raw, connection };
}

/** A request and its response without redaction. It contains secrets. */
export interface RecordedExchange {
  /** By the double's clock (ms since 1970-01-01T00:00:00Z). */
  readonly time: number;
  /** In ms of the host's time. */
  readonly duration: number;
  readonly request: RecordedRequest | undefined;
  readonly content?: RecordedContent | undefined;
  /** The number of bytes of content that were kept for an explanation only. */
  readonly unread: number;
  readonly received?: string | undefined;
  readonly response: Response | undefined;
  readonly principal?: Principal | undefined;
  readonly step: number | undefined;
  readonly problem: { readonly type: string; readonly detail: string; readonly cause?: unknown } | undefined;
  /** The verification of the credentials. Undefined if there was none. */
  readonly authentication?: AuthenticationTrace | undefined;
  /** How a browser's request from another origin was answered. */
  readonly cors?: JournalCors | undefined;
  readonly fault?: Fault | undefined;
  readonly aborted: boolean;
}

/** Returns the exchange of a request to which the service or a fault responded. */
export function buildAnsweredExchange(
  kept: Pick<RecordedExchange, 'time' | 'duration' | 'content' | 'unread'>,
  request: IncomingRequest,
  { response, fault, acted }: InterceptedResponse,
  { principal, step, problem, authentication, cors }: RequestTrace,
): RecordedExchange {
  const verified = authentication?.scheme !== undefined || authentication?.failedAt !== undefined;
  return {
    ...kept,
    request: toRecorded(request),
    response: response.fault !== undefined && isSilent(response.fault) ? undefined : response,
    principal,
    step: acted ? step : undefined,
    problem,
    authentication: verified ? authentication : undefined,
    cors,
    fault,
    aborted: problem?.type === 'content-incomplete',
  };
}

/** Returns the exchange of a request that was refused before it reached the service. */
export function buildRefusedExchange(
  time: number,
  problem: Problem,
  request: IncomingRequest | undefined,
  response: Response,
  received: string | undefined,
): RecordedExchange {
  return {
    time,
    duration: 0,
    request: request && toRecorded(request),
    unread: 0,
    received,
    response,
    // A server that is stopping or full, or a request that could not be parsed.
    step: problem.type === 'stopping' || problem.type === 'full' ? 1 : 0,
    problem,
    aborted: false,
  };
}

/** The longest content, in bytes, that is read for an explanation, and how long (ms) it is waited for. */
const maxExplained = 64 * 1024;
const maxWait = 100;

/**
 * Reads the content of a request that was refused without reading it. Resolves to undefined if the content is long, if
 * the client waits for 100 Continue, or if it does not arrive at once. Never rejects.
 */
export function readArrivedContent({
  body,
  headers: fields,
}: IncomingRequest): Promise<Uint8Array | undefined> {
  const length = Number(fields.get('content-length') ?? 0);
  if (!body.present || length > maxExplained || fields.has('expect')) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), maxWait);
    const stop = (content?: Uint8Array): void => {
      clearTimeout(timer);
      resolve(content);
    };
    body.hold(maxExplained).then(stop, () => stop());
  });
}

/** The content of a request. Its first bytes are recorded for the journal when the server reads them. */
export class RecordedContent implements Body {
  readonly #body: Body;
  readonly #limit: number;
  readonly #chunks: Uint8Array[] = [];
  #recorded = 0;
  #length = 0;
  #held = false;

  /** Records at most `limit` bytes. */
  constructor(body: Body, limit: number) {
    this.#body = body;
    this.#limit = limit;
  }

  get present(): boolean {
    return this.#body.present;
  }

  get received(): number {
    return this.#body.received ?? this.#length;
  }

  /** The number of bytes that the server has read. */
  get length(): number {
    return this.#length;
  }

  /** The recorded bytes. */
  get bytes(): Uint8Array {
    return Buffer.concat(this.#chunks);
  }

  consume(sink: (chunk: Uint8Array) => void): Promise<void> {
    if (this.#held) return this.#body.consume(sink);
    return this.#body.consume((chunk) => {
      this.#record(chunk);
      sink(chunk);
    });
  }

  async hold(limit: number): Promise<Uint8Array> {
    const whole = await this.#body.hold(limit);
    if (!this.#held) this.#record(whole);
    this.#held = true;
    return whole;
  }

  release(): void {
    this.#body.release?.();
  }

  #record(chunk: Uint8Array): void {
    this.#length += chunk.length;
    const room = this.#limit - this.#recorded;
    if (room <= 0) return;
    // The memory of a chunk may be reused, so it is copied.
    const copy = Uint8Array.prototype.slice.call(chunk, 0, room);
    this.#chunks.push(copy);
    this.#recorded += copy.length;
  }
}
