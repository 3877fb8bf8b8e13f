import type { AuthenticationTrace } from '../../auth/trace.ts';
import { isCompressed, linesInTurn } from '../../http/field-lines.ts';
import type { FieldLine } from '../../http/fields.ts';
import type { Response } from '../../http/message.ts';
import { pathOf } from '../match.ts';
import type { RecordedContent } from './content.ts';
import type { RecordedRequest } from './exchange.ts';
import { type Redact, redactField } from './redaction.ts';

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
  /** Its content, unpacked where it is gzip, as UTF-8. */
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

function shownLines(lines: readonly FieldLine[], redact: Redact): FieldLine[] {
  return lines.map(([name, value]) => [name, redactField(name, value, redact)]);
}

/** What the journal shows of a request and of what was kept of its content. */
export function viewRequest(
  request: RecordedRequest,
  content: RecordedContent | undefined,
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
    fields: shownLines(linesInTurn(raw), redact),
    length: content?.length ?? 0,
    text: redact(Buffer.from(content?.bytes ?? []).toString('utf8')),
    peer: connection.peer,
    secure: connection.secure,
  };
}

/** What the journal shows of a reply. */
export function viewResponse({ status, fields, content = '' }: Response, redact: Redact): ShownReply {
  const text = Buffer.from(isCompressed({ fields }) ? unpacked(content) : content).toString('utf8');
  return { status, fields: shownLines(fields, redact), text: redact(text) };
}

/** What gzip holds; the bytes themselves where they are none, for a fault may say that of any content. */
function unpacked(content: string | Uint8Array): string | Uint8Array {
  try {
    // Loaded when it is first used: most tests look at no packed content.
    return process.getBuiltinModule('node:zlib').gunzipSync(content);
  } catch {
    return content;
  }
}

/** What the journal shows of how credentials were checked; `detail` is the refusal that came of it. */
export function viewAuthentication(
  authTrace: AuthenticationTrace,
  detail: string | undefined,
  redact: Redact,
): ShownStory {
  const { scheme, passed, failedAt, details: told } = authTrace;
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

function textIn(told: AuthenticationTrace['details'], name: string, redact: Redact): string | undefined {
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
