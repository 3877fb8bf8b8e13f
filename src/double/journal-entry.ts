import { gunzipSync } from 'node:zlib';
import type { Story } from '../auth/story.ts';
import { type FieldLine, Fields } from '../http/fields.ts';
import type { Connection, Reply, Request } from '../http/message.ts';
import type { Principal } from '../principal.ts';
import { claimedUser } from './claimed-user.ts';
import type { Fault } from './faults-declaration.ts';
import type { KeptContent } from './journal-content.ts';
import { type Redact, redactField } from './journal-redaction.ts';
import { pathOf } from './match.ts';

/** A request as the journal shows it: secrets are taken out. */
export interface ShownRequest {
  readonly method: string;
  /** As sent, path and query. */
  readonly target: string;
  /** The path, with escapes of what needs none taken away. */
  readonly path: string;
  /** The parameters of the query, in the order sent. */
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly version: string;
  /** Field lines in the order sent. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** How many bytes of content the server has read; it reads none of what it refuses before. */
  readonly length: number;
  /** What was kept of them, as UTF-8. */
  readonly text: string;
  readonly peer: string;
  /** Whether it came over TLS. */
  readonly secure: boolean;
}

/** A reply as the journal shows it. */
export interface ShownReply {
  readonly status: number;
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** Its content unpacked, as UTF-8. */
  readonly text: string;
}

/** Where the message that the server rebuilt and the one that was signed part. */
export interface FirstDifference {
  /** The place, counted from 0. */
  readonly at: number;
  /** The server's message from there on. */
  readonly expected: string;
  /** The signed one from there on. */
  readonly received: string;
}

/** The story of how a request's credentials were checked. */
export interface ShownStory {
  /** `hmac`; undefined where none could be read. */
  readonly scheme: string | undefined;
  /** The checks that were passed, in order: `['parse', 'user']`. */
  readonly passed: readonly string[];
  /** The check that failed: `digest`; undefined where none did. */
  readonly failedAt: string | undefined;
  /** The refusal in a sentence. */
  readonly detail: string | undefined;
  /** What usually makes the mistake that was found: `the query was left out`. */
  readonly hint: string | undefined;
  /** The message that the server rebuilt of the request. */
  readonly expected: string | undefined;
  /** The message that the client must have signed, where its digest gives it away. */
  readonly received: string | undefined;
  readonly firstDifference: FirstDifference | undefined;
}

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
  readonly reply: Reply | undefined;
}

/** A request as it is kept: no more than what it was made of, for a journal holds a thousand of them. */
export interface RecordedRequest {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  /** Names and values of its fields in turn. */
  readonly raw: readonly string[];
  readonly connection: Connection;
}

/** What of a request is kept. */
export function recorded({ method, target, version, fields, connection }: Request): RecordedRequest {
  return { method, target, version, raw: fields.raw, connection };
}

/** What has come and gone, as it was. */
export interface RecordedExchange {
  readonly time: number;
  readonly duration: number;
  readonly request: RecordedRequest | undefined;
  readonly content: KeptContent | undefined;
  readonly received: string | undefined;
  readonly reply: Reply | undefined;
  readonly principal: Principal | undefined;
  readonly step: number | undefined;
  readonly problem: { readonly type: string; readonly detail: string } | undefined;
  /** Undefined where there was nothing to tell. */
  readonly story: Story | undefined;
  readonly fault: Fault | undefined;
  readonly aborted: boolean;
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

  /** The client has left. For who answers; it is not to be called by others. */
  abandon(): void {
    this.#aborted = true;
  }

  /** Undefined where it could not be parsed. */
  get request(): ShownRequest | undefined {
    const { request, content } = this.#exchange;
    return request && shownRequest(request, content, this.#redact);
  }

  /** What was being read where the request could not be parsed; of a long one only the end. */
  get received(): string | undefined {
    const { received } = this.#exchange;
    return received === undefined ? undefined : this.#redact(received);
  }

  /** The reply; undefined where a fault let there be none. */
  get reply(): ShownReply | undefined {
    const { reply } = this.#exchange;
    return reply && shownReply(reply, this.#redact);
  }

  /** The user that the credentials named, be they good or not. */
  get user(): string | undefined {
    const { request } = this.#exchange;
    return this.principal?.name ?? (request && claimedUser({ fields: new Fields(request.raw) }));
  }

  /** How the credentials were checked; undefined where there were none, or where it did not come to that. */
  get auth(): ShownStory | undefined {
    const { story } = this.#exchange;
    return story && shownStory(story, this.problem?.detail, this.#redact);
  }

  /** Everything as it was, secrets too. */
  raw(): RawEntry {
    const { request, content, received, reply } = this.#exchange;
    if (request === undefined) return { request, received, reply };
    const { method, target, version, raw } = request;
    const bytes = content?.bytes ?? new Uint8Array();
    return {
      request: { method, target, version, fields: linesOf(raw), content: bytes },
      received,
      reply,
    };
  }

  /** How many bytes it holds, about. */
  get size(): number {
    const { request, content, received = '', reply } = this.#exchange;
    const sent = (request?.target.length ?? 0) + lengthOf(request?.raw ?? []) + (content?.length ?? 0);
    return 512 + sent + received.length + (reply?.content?.length ?? 0);
  }

  toJSON(): object {
    const {
      number,
      time,
      duration,
      request,
      received,
      reply,
      principal,
      step,
      problem,
      auth,
      fault,
      aborted,
    } = this;
    return {
      ...{ number, time, duration, request, received, reply, principal },
      ...{ step, problem, auth, fault, aborted },
    };
  }

  /** One line, and how the credentials failed. */
  toString(): string {
    const { request, reply, problem, auth } = this;
    const asked = request === undefined ? 'what could not be parsed' : `${request.method} ${request.target}`;
    const by = this.user === undefined ? '' : ` by ${this.user}`;
    const answered = [
      reply?.status ?? 'no reply',
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

function linesOf(raw: readonly string[]): FieldLine[] {
  return raw.flatMap((name, at): FieldLine[] => (at % 2 === 0 ? [[name, raw[at + 1] ?? '']] : []));
}

function shownLines(lines: readonly FieldLine[], redact: Redact): FieldLine[] {
  return lines.map(([name, value]) => [name, redactField(name, value, redact)]);
}

function shownRequest(
  request: RecordedRequest,
  content: KeptContent | undefined,
  redact: Redact,
): ShownRequest {
  const { method, target, version, raw, connection } = request;
  const shown = redact(target);
  const question = shown.indexOf('?');
  return {
    method,
    target: shown,
    path: redact(pathOf(request)),
    query: question < 0 ? [] : shownLines([...new URLSearchParams(shown.slice(question + 1))], redact),
    version,
    fields: shownLines(linesOf(raw), redact),
    length: content?.length ?? 0,
    text: redact(Buffer.from(content?.bytes ?? []).toString('utf8')),
    peer: connection.peer,
    secure: connection.secure,
  };
}

function shownReply({ status, fields, content = '' }: Reply, redact: Redact): ShownReply {
  const packed = fields.some(([name, value]) => name === 'Content-Encoding' && value === 'gzip');
  const text = Buffer.from(packed ? gunzipSync(content) : content).toString('utf8');
  return { status, fields: shownLines(fields, redact), text: redact(text) };
}

function shownStory(story: Story, detail: string | undefined, redact: Redact): ShownStory {
  const { scheme, passed, failedAt, told } = story;
  const expected = textIn(told, 'message', redact);
  const received = textIn(told, 'signedMessage', redact);
  return {
    scheme,
    passed: [...passed],
    failedAt,
    detail: failedAt === undefined || detail === undefined ? undefined : redact(detail),
    hint: textIn(told, 'hint', redact),
    expected,
    received,
    firstDifference: differenceOf(expected, received),
  };
}

function textIn(told: Story['told'], name: string, redact: Redact): string | undefined {
  const value = told[name];
  return typeof value === 'string' ? redact(value) : undefined;
}

function differenceOf(
  expected: string | undefined,
  received: string | undefined,
): FirstDifference | undefined {
  if (expected === undefined || received === undefined) return undefined;
  let at = 0;
  while (at < expected.length && expected[at] === received[at]) at += 1;
  return { at, expected: expected.slice(at), received: received.slice(at) };
}
