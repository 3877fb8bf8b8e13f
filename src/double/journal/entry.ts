import { linesInTurn } from '../../http/field-lines.ts';
import { HttpHeaders } from '../../http/fields.ts';
import { createRequest, type IncomingRequest } from '../../http/message.ts';
import { toReadable } from '../../http/syntax/octets.ts';
import type { JournalCors } from '../../pipeline/cors.ts';
import type { PresentedTimes } from '../../schemes/trace.ts';
import type { ClaimedUser } from '../claimed-user.ts';
import type { Fault } from '../faults/declaration.ts';
import { normalizePath } from '../match.ts';
import { entryOfAnswer, type RecordedExchange, type RecordedRequest } from './exchange.ts';
import { findUsualMistake } from './mistakes.ts';
import { type Redact, redactReceived, redactSessionToken } from './redaction.ts';
import {
  formatEntry,
  type JournalAuth,
  type JournalRequest,
  type JournalResponse,
  type JournalToken,
  unparsedRequest,
  viewAuthentication,
  viewRequest,
  viewResponse,
  viewToken,
} from './view.ts';

export type { FirstDifference, JournalAuth, JournalRequest, JournalResponse } from './view.ts';

/** An exchange without redaction. It contains secrets. */
export interface RawEntry {
  /** The request as received. Undefined if it could not be parsed. */
  readonly request:
    | {
        /** The method as received. */
        readonly method: string;
        /** Path and query as sent; each octet is one character. */
        readonly target: string;
        /** The version of HTTP: `1.0` or `1.1`. */
        readonly version: string;
        /** Header field lines in the order sent. */
        readonly headers: readonly (readonly [name: string, value: string])[];
        /** The content as received. */
        readonly body: Uint8Array;
      }
    | undefined;
  /** The received text if the request could not be parsed, one character for each octet. */
  readonly received: string | undefined;
  /** The response as sent. Undefined if there was none. */
  readonly response:
    | {
        /** The status code. */
        readonly status: number;
        /** Header field lines in the order sent, without those that the connection requires. */
        readonly headers: readonly (readonly [name: string, value: string])[];
        /** Text is sent as UTF-8. Undefined if there is none. */
        readonly body: string | Uint8Array | undefined;
      }
    | undefined;
}

/** A request and its response. Its members and its printed form contain no secrets; `raw()` does. */
export class JournalEntry {
  /** The sequence number, from 1 since the double started or was reset. */
  readonly number: number;
  /** When the request was received, by the double's clock (ms since 1970-01-01T00:00:00Z). */
  readonly time: number;
  /** The duration from the request's header section to the response, in ms of the host's time. */
  readonly duration: number;
  /** The authenticated principal. */
  readonly principal:
    | {
        /** The name of the user, or the id of the client. */
        readonly name: string;
        /** The scheme that authenticated it: `hmac`. */
        readonly scheme: string;
      }
    | undefined;
  /** The step that produced the response: from 0 (not parsable) to 16 (acted). Undefined if a fault produced it. */
  readonly step: number | undefined;
  /** The fault that was applied. */
  readonly fault: Fault | undefined;
  readonly #exchange: RecordedExchange;
  readonly #redact: Redact;
  readonly #claimedUser: ClaimedUser;
  #aborted: boolean;
  /** The usual mistake behind the problem. It is determined on first use. */
  #mistake: { readonly hint: string | undefined } | undefined;

  /** @internal */
  constructor(exchange: RecordedExchange, number: number, redact: Redact, claimedUser: ClaimedUser) {
    const { time, duration, principal, step, fault, aborted } = exchange;
    this.number = number;
    this.time = time;
    this.duration = duration;
    this.principal = principal && { name: principal.name, scheme: principal.scheme };
    this.step = step;
    this.fault = fault;
    this.#exchange = exchange;
    this.#redact = redactSessionToken(redact, exchange.request?.raw ?? []);
    this.#claimedUser = claimedUser;
    this.#aborted = aborted;
  }

  /** The entry itself, as responses of `double.fetch` have it. @internal */
  get [entryOfAnswer](): this {
    return this;
  }

  /** The problem in the response. The hint is the usual cause, if one is recognized; `auth` has its own. */
  get problem():
    | {
        /** The name of the problem type: `not-found`. */
        readonly type: string;
        /** What happened in this occurrence. */
        readonly detail: string;
        /** The usual cause. Absent if none is recognized. */
        readonly hint?: string;
      }
    | undefined {
    const { problem, authentication } = this.#exchange;
    if (problem === undefined) return undefined;
    const shown = { type: problem.type, detail: this.#redact(problem.detail) };
    if (authentication?.hasHint === true) return shown;
    this.#mistake ??= { hint: findUsualMistake(this.#exchange) };
    const { hint } = this.#mistake;
    return hint === undefined ? shown : { ...shown, hint: this.#redact(hint) };
  }

  /**
   * Whether the client disconnected before its request was complete or before the response was sent. A client that only
   * closes its sending side, which is rare, also counts as disconnected.
   */
  get aborted(): boolean {
    return this.#aborted;
  }

  /** Records that the client disconnected. Called by the listener only. @internal */
  abandon(): void {
    this.#aborted = true;
  }

  /** The request. If it could not be parsed, its members are empty, and `received` has its text. */
  get request(): JournalRequest {
    const { request, content } = this.#exchange;
    return request === undefined ? unparsedRequest : viewRequest(request, content, this.#redact);
  }

  /** The received text if the request could not be parsed. Of a long text only the end. */
  get received(): string | undefined {
    const { received } = this.#exchange;
    return received === undefined ? undefined : redactReceived(toReadable(received), this.#redact);
  }

  /** The status of the response; 0 if there was none, as in the platform's fetch. */
  get status(): number {
    return this.#exchange.response?.status ?? 0;
  }

  /** The response. Undefined if a fault prevented it. */
  get response(): JournalResponse | undefined {
    const { request, response } = this.#exchange;
    return response && viewResponse(response, request && normalizePath(request), this.#redact);
  }

  /** How the response differs from the document of the partner, and what was accepted although it is not as a standard says, one sentence each. */
  get warnings(): readonly string[] {
    return this.#exchange.response?.warnings?.map((warning) => this.#redact(warning)) ?? [];
  }

  /** The user that the credentials name, valid or not. */
  get user(): string | undefined {
    const { request } = this.#exchange;
    if (this.principal !== undefined) return this.principal.name;
    const claimed = request && this.#claimedUser(toRequest(request));
    // A client can swap the name and the secret.
    return claimed && this.#redact.credential(claimed);
  }

  /** The scheme of the credentials, valid or not. Undefined if there were none, or if they were not verified. @internal */
  get scheme(): string | undefined {
    return this.principal?.scheme ?? this.#exchange.authentication?.scheme;
  }

  /** The verification of the credentials. Undefined if there were none, or if they were not verified. */
  get auth(): JournalAuth | undefined {
    const { authentication } = this.#exchange;
    return authentication && viewAuthentication(authentication, this.problem?.detail, this.#redact);
  }

  /** The header and the claims of the bearer token, valid or not, if it is a JWT. Undefined without one. */
  get token(): JournalToken | undefined {
    const { request } = this.#exchange;
    return request && viewToken(request, this.#redact);
  }

  /** The message that the server verified a wrong signature against, as a whole: `auth.expected`. Undefined if it is no text. */
  get expected(): string | undefined {
    return this.auth?.expected;
  }

  /** How a browser's request from another origin was answered. Undefined for any other request. */
  get cors(): JournalCors | undefined {
    return describeCors(this.#exchange, this.#redact);
  }

  /** Returns the exchange without redaction. It contains secrets. */
  raw(): RawEntry {
    const { request, content, received, response } = this.#exchange;
    if (request === undefined) return { request, received, response };
    const { method, target, version, raw } = request;
    const bytes = content?.bytes ?? new Uint8Array();
    return {
      request: { method, target, version, headers: linesInTurn(raw), body: bytes },
      received,
      response,
    };
  }

  /** Returns a text, such as one from `raw()`, without secrets. */
  redact(text: string): string {
    return this.#redact(text);
  }

  /** The approximate size in bytes. */
  get size(): number {
    const { request, content, unread, received = '', response } = this.#exchange;
    const sent = (request?.target.length ?? 0) + computeLength(request?.raw ?? []) + (content?.length ?? 0);
    return 512 + unread + sent + received.length + (response?.body?.length ?? 0);
  }

  /** The date and nonce of the credentials, as sent; undefined if they were not read. @internal */
  get presented(): PresentedTimes | undefined {
    return this.#exchange.authentication?.presented;
  }

  /** Whether reading the entry explains a wrong signature, which takes some ms. @internal */
  get isPending(): boolean {
    return this.#exchange.authentication?.isPending === true;
  }

  /** Returns all members without secrets and, as `text`, the entry as `toString` writes it. The control interface returns them. */
  toJSON(): object {
    return this.view();
  }

  /** Returns what `toJSON` returns. Each getter redacts anew, so each is read once. @internal */
  view() {
    const { number, time, duration, request, received, status, response, principal } = this;
    const { step, problem, auth, token, cors, fault, aborted, warnings, user } = this;
    const shown = { number, time, duration, user, request, received, status, response, principal, step };
    const reasons = { problem, auth, cors, fault, aborted };
    return {
      ...shown,
      ...reasons,
      ...(token !== undefined && { token }),
      ...(warnings.length > 0 && { warnings }),
      text: formatEntry({ ...shown, ...reasons, warnings }),
    };
  }

  /** Returns one line with the reason of a refusal, and further ones if the credentials failed. */
  toString(): string {
    return formatEntry(this);
  }

  [Symbol.for('nodejs.util.inspect.custom')](_depth: unknown, options: object, inspect: Inspect): string {
    const { text: _, ...members } = this.view();
    return `JournalEntry ${inspect(members, { ...options, depth: printedDepth })}`;
  }
}

/** Returns a recorded request without its content. */
function toRequest({ method, target, raw, connection }: RecordedRequest): IncomingRequest {
  return createRequest({ method, target, headers: linesInTurn(raw), ...connection });
}

/** The depth to which an entry is printed: that of its field lines. */
const printedDepth = 4;

type Inspect = (value: unknown, options: object) => string;

function computeLength(texts: readonly string[]): number {
  let length = 0;
  for (const text of texts) length += text.length;
  return length;
}

/**
 * Returns how a browser's request from another origin was answered, without secrets. A service without the CORS protocol checks
 * none, but then every preflight fails.
 */
function describeCors(exchange: RecordedExchange, redact: Redact): JournalCors | undefined {
  const cors = exchange.cors ?? describePreflight(exchange);
  if (cors === undefined) return undefined;
  const { origin, preflight, failedAt, detail } = cors;
  return { origin: redact(origin), preflight, failedAt, detail: detail && redact(detail) };
}

function describePreflight({ request, response }: RecordedExchange): JournalCors | undefined {
  if (request?.method !== 'OPTIONS') return undefined;
  const fields = new HttpHeaders(request.raw);
  const origin = fields.get('origin');
  if (origin === undefined || !fields.has('access-control-request-method')) return undefined;
  const isAnswered = response?.headers.some(([name]) => name.toLowerCase() === 'access-control-allow-origin');
  if (isAnswered === true) return undefined;
  return { origin, preflight: true, failedAt: 'origin', detail: 'the option cors is not set' };
}
