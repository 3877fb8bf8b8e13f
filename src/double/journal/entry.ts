import { linesInTurn } from '../../http/field-lines.ts';
import { type FieldLine, Fields } from '../../http/fields.ts';
import type { Request, Response } from '../../http/message.ts';
import { claimedUser } from '../claimed-user.ts';
import type { Fault } from '../faults/declaration.ts';
import type { RecordedExchange } from './exchange.ts';
import type { Redact } from './redaction.ts';
import {
  type ShownReply,
  type ShownRequest,
  type ShownStory,
  viewAuthentication,
  viewRequest,
  viewResponse,
} from './view.ts';

export type { FirstDifference, ShownReply, ShownRequest, ShownStory } from './view.ts';

/** Everything as it was, secrets too. */
export interface RawEntry {
  readonly request:
    | (Pick<Request, 'method' | 'target' | 'version'> & {
        readonly fields: readonly FieldLine[];
        readonly content: Uint8Array;
      })
    | undefined;
  /** What was being read where it could not be parsed, one character an octet. */
  readonly received: string | undefined;
  readonly reply: Response | undefined;
}

/** One request, and what became of it. Nothing secret is in what it shows or prints; `raw()` has everything. */
export class JournalEntry {
  /** Counted from 1 since the double began or was reset. */
  readonly number: number;
  /** When the request came, by the double's clock (ms since 1970-01-01T00:00:00Z). */
  readonly time: number;
  /** From the request's header section to the reply, in ms of the host's time. */
  readonly duration: number;
  /** Who asked, where the credentials were good. */
  readonly principal: { readonly name: string; readonly scheme: string } | undefined;
  /** The step that answered: 0 is that it could not be parsed, 16 that it was acted; undefined where a fault answered. */
  readonly step: number | undefined;
  /** The refusal; undefined where there is none. */
  readonly problem: { readonly type: string; readonly detail: string } | undefined;
  /** What went wrong on purpose. */
  readonly fault: Fault | undefined;
  readonly #exchange: RecordedExchange;
  readonly #redact: Redact;
  #aborted: boolean;

  /** @internal */
  constructor(exchange: RecordedExchange, number: number, redact: Redact) {
    const { time, duration, principal, step, problem, fault, aborted } = exchange;
    this.number = number;
    this.time = time;
    this.duration = duration;
    this.principal = principal && { name: principal.name, scheme: principal.scheme };
    this.step = step;
    this.problem = problem && { type: problem.type, detail: redact(problem.detail) };
    this.fault = fault;
    this.#exchange = exchange;
    this.#redact = redact;
    this.#aborted = aborted;
  }

  /**
   * Whether the client left before its request was whole, or before it was answered; one that ends its own side and still
   * reads, as hardly any does, is taken for one that left.
   */
  get aborted(): boolean {
    return this.#aborted;
  }

  /** Notes that the client has left. Called by the listener alone. */
  abandon(): void {
    this.#aborted = true;
  }

  /** Undefined where it could not be parsed. */
  get request(): ShownRequest | undefined {
    const { request, content } = this.#exchange;
    return request && viewRequest(request, content, this.#redact);
  }

  /** What was being read where the request could not be parsed; of a long one only the end. */
  get received(): string | undefined {
    const { received } = this.#exchange;
    return received === undefined ? undefined : this.#redact(received);
  }

  /** The reply; undefined where a fault let there be none. */
  get reply(): ShownReply | undefined {
    const { reply: response } = this.#exchange;
    return response && viewResponse(response, this.#redact);
  }

  /** The user that the credentials named, be they good or not. */
  get user(): string | undefined {
    const { request } = this.#exchange;
    return this.principal?.name ?? (request && claimedUser({ fields: new Fields(request.raw) }));
  }

  /** How the credentials were checked; undefined where there were none, or where it did not come to that. */
  get auth(): ShownStory | undefined {
    const { story: authTrace } = this.#exchange;
    return authTrace && viewAuthentication(authTrace, this.problem?.detail, this.#redact);
  }

  /** Everything as it was, secrets too. */
  raw(): RawEntry {
    const { request, content, received, reply: response } = this.#exchange;
    if (request === undefined) return { request, received, reply: response };
    const { method, target, version, raw } = request;
    const bytes = content?.bytes ?? new Uint8Array();
    return {
      request: { method, target, version, fields: linesInTurn(raw), content: bytes },
      received,
      reply: response,
    };
  }

  /** Roughly how many bytes it holds. */
  get size(): number {
    const { request, content, received = '', reply: response } = this.#exchange;
    const sent = (request?.target.length ?? 0) + lengthOf(request?.raw ?? []) + (content?.length ?? 0);
    return 512 + sent + received.length + (response?.content?.length ?? 0);
  }

  toJSON(): object {
    const {
      number,
      time,
      duration,
      request,
      received,
      reply: response,
      principal,
      step,
      problem,
      auth,
      fault,
      aborted,
    } = this;
    return {
      ...{ number, time, duration, request, received, reply: response, principal },
      ...{ step, problem, auth, fault, aborted },
    };
  }

  /** One line, and how the credentials failed. */
  toString(): string {
    const { request, reply: response, problem, auth } = this;
    const asked = request === undefined ? 'what could not be parsed' : `${request.method} ${request.target}`;
    const by = this.user === undefined ? '' : ` by ${this.user}`;
    const answered = [
      response?.status ?? 'no reply',
      problem?.type,
      this.step === undefined ? 'fault' : `step ${this.step}`,
    ];
    const line = `#${this.number} ${asked}${by}: ${answered.filter((part) => part !== undefined).join(', ')}`;
    return [line, ...(auth === undefined ? [] : failureOf(auth))].join('\n  ');
  }

  [Symbol.for('nodejs.util.inspect.custom')](_depth: unknown, options: object, inspect: Inspect): string {
    return `JournalEntry ${inspect(this.toJSON(), { ...options, depth: printedDepth })}`;
  }
}

/** How deep an entry is printed: down to its field lines. */
const printedDepth = 4;

type Inspect = (value: unknown, options: object) => string;

function failureOf({
  scheme = 'credentials',
  failedAt,
  detail,
  hint,
  expected,
  received,
}: ShownStory): string[] {
  if (failedAt === undefined) return [];
  const lines = [`${scheme}: failed at ${failedAt}`];
  if (hint ?? detail) lines.push(hint ?? detail ?? '');
  if (expected !== undefined) lines.push(`expected ${expected}`);
  if (received !== undefined) lines.push(`received ${received}`);
  return lines;
}

function lengthOf(texts: readonly string[]): number {
  let length = 0;
  for (const text of texts) length += text.length;
  return length;
}
