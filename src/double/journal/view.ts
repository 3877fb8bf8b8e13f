import { isCompressed, linesInTurn } from '../../http/field-lines.ts';
import type { FieldLine } from '../../http/fields.ts';
import type { Response } from '../../http/message.ts';
import { escapeInvisible } from '../../http/syntax/control-character.ts';
import { toReadable } from '../../http/syntax/octets.ts';
import { findQuery } from '../../http/target.ts';
import type { JournalCors } from '../../pipeline/cors.ts';
import { looksLikeJwt, parseJwt } from '../../schemes/jwt/jwt.ts';
import type { AuthenticationTrace, MessagePart } from '../../schemes/trace.ts';
import type { Fault } from '../faults/declaration.ts';
import { normalizePath } from '../match.ts';
import type { RecordedContent, RecordedRequest } from './exchange.ts';
import { type Redact, redactContent, redactField, redactPart, redactTarget } from './redaction.ts';

/** A request in the journal. Secrets are redacted. */
export interface JournalRequest {
  /** Empty if the request could not be parsed, like all other texts. */
  readonly method: string;
  /** As sent, path and query. */
  readonly target: string;
  /** The normalized path: unreserved characters are decoded. */
  readonly path: string;
  /** The parameters of the query, in the order sent. */
  readonly query: readonly (readonly [name: string, value: string])[];
  /** The version of HTTP, such as `1.1`. */
  readonly version: string;
  /** Header field lines in the order sent. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The number of bytes of content that the server has read. It is 0 if the request was refused before. */
  readonly length: number;
  /** The recorded content, as UTF-8. */
  readonly body: string;
  /** The address of the client. */
  readonly peer: string;
  /** Whether it was received over TLS; `assumed` over plain HTTP where the double assumes TLS. */
  readonly secure: boolean | 'assumed';
}

/** A response in the journal. Secrets are redacted. */
export interface JournalResponse {
  /** The status code. */
  readonly status: number;
  /** Header field lines in the order sent. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The content, decompressed, as UTF-8. */
  readonly body: string;
}

/** The first difference between the message that the server reconstructed and the message that was signed. */
export interface FirstDifference {
  /** The index, from 0. */
  readonly at: number;
  /** The server's message from there. */
  readonly expected: string;
  /** The signed message from there. */
  readonly received: string;
}

/** The verification of a request's credentials. */
export interface JournalAuth {
  /** The scheme, such as `hmac`. Undefined if it could not be parsed. */
  readonly scheme: string | undefined;
  /** The checks that passed, in order, such as `['parse', 'user']`. */
  readonly passed: readonly string[];
  /** The check that failed, such as `digest`. */
  readonly failedAt: string | undefined;
  /** The detail of the refusal. */
  readonly detail: string | undefined;
  /** The usual cause of the mistake, such as `the query was left out`. */
  readonly hint: string | undefined;
  /** The message that the server reconstructed from the request; for AWS Signature Version 4, the canonical request. */
  readonly expected: string | undefined;
  /** The message that the client must have signed, if its digest matches a known mistake. */
  readonly received: string | undefined;
  /** Where `expected` and `received` differ first. Undefined unless both are known. */
  readonly firstDifference: FirstDifference | undefined;
  /** The parts of that message, each with the value that the client signed instead, if it is known. Empty for other failures. */
  readonly parts: readonly MessagePart[];
  /** The name of the part that differs, such as `target`. */
  readonly differs: string | undefined;
  /** The error code of OAuth, such as `invalid_grant`. */
  readonly error: string | undefined;
}

/** The parts of a bearer token in the form of a JWT, valid or not, without its signature. */
export interface JournalToken {
  /** The header, as decoded. */
  readonly header: Readonly<Record<string, unknown>>;
  /** The claims, as decoded. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Returns the parts of the JWT that a request has as its bearer token, without secrets; undefined if it has none. */
export function viewToken({ raw }: RecordedRequest, redact: Redact): JournalToken | undefined {
  const line = linesInTurn(raw).find(([name]) => name.toLowerCase() === 'authorization');
  const [, token = ''] = /^(?:bearer|dpop) +(\S+)$/i.exec(line?.[1] ?? '') ?? [];
  const parsed = looksLikeJwt(token) ? parseJwt(token) : 'none';
  if (typeof parsed === 'string') return undefined;
  return { header: redactMembers(parsed.header, redact), claims: redactMembers(parsed.claims, redact) };
}

function redactMembers(members: JournalToken['header'], redact: Redact): JournalToken['header'] {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [redact.values(name), redactMember(value, redact)]),
  );
}

function redactMember(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact.values(value);
  if (typeof value !== 'object' || value === null) return value;
  return redact.values(JSON.stringify(value));
}

/** What is known of a request that could not be parsed. The entry has the received text. */
export const unparsedRequest: JournalRequest = {
  method: '',
  target: '',
  path: '',
  query: [],
  version: '',
  headers: [],
  length: 0,
  body: '',
  peer: '',
  secure: false,
};

function viewLines(lines: readonly FieldLine[], redact: Redact): FieldLine[] {
  return lines.map(([name, value]) => [redact.values(name), redactField(name, toReadable(value), redact)]);
}

/** Returns a request and its recorded content without secrets. */
export function viewRequest(
  request: RecordedRequest,
  content: RecordedContent | undefined,
  redact: Redact,
): JournalRequest {
  const { method, target, version, raw, connection } = request;
  const path = normalizePath(request);
  const shown = redactTarget(target, redact);
  return {
    method: redact.values(method),
    target: shown,
    path: redactTarget(path, redact),
    query: Array.from(new URLSearchParams(findQuery(shown)), ([name, value]) => [
      redact.values(name),
      redact.values(value),
    ]),
    version,
    headers: viewLines(linesInTurn(raw), redact),
    length: content?.length ?? 0,
    body: redactContent(Buffer.from(content?.bytes ?? []).toString('utf8'), path, redact),
    peer: connection.peer,
    secure: connection.secure || (connection.assumesTls === true && 'assumed'),
  };
}

/** Returns a response without secrets. `path` is that of the request; undefined if it could not be parsed. */
export function viewResponse(
  { status, headers, body = '' }: Response,
  path: string | undefined,
  redact: Redact,
): JournalResponse {
  const text = Buffer.from(isCompressed({ headers }) ? decompress(body) : body).toString('utf8');
  return { status, headers: viewLines(headers, redact), body: redactContent(text, path ?? '', redact) };
}

/** Decompresses gzip. Returns other bytes unchanged, since a fault can declare any content as gzip. */
function decompress(content: string | Uint8Array): string | Uint8Array {
  try {
    // Loaded on first use, since most tests read no compressed content.
    return process.getBuiltinModule('node:zlib').gunzipSync(content);
  } catch {
    return content;
  }
}

/** Returns a verification without secrets. `detail` is that of the refusal. */
export function viewAuthentication(
  authentication: AuthenticationTrace,
  detail: string | undefined,
  redact: Redact,
): JournalAuth {
  const { scheme, passed, failedAt, details } = authentication;
  const expected = textIn(details, 'canonicalRequest', redact) ?? textIn(details, 'message', redact);
  const received = textIn(details, 'signedMessage', redact);
  return {
    scheme: scheme && redact.credential(scheme),
    passed: [...passed],
    failedAt,
    detail: failedAt && (detail === undefined ? textIn(details, 'detail', redact) : redact(detail)),
    hint: textIn(details, 'hint', redact),
    expected,
    received,
    firstDifference: findDifference(expected, received),
    parts: partsIn(details, redact),
    differs: textIn(details, 'differs', redact),
    error: textIn(details, 'error', redact) ?? textIn(details, 'oauth_problem', redact),
  };
}

function partsIn({ parts }: AuthenticationTrace['details'], redact: Redact): MessagePart[] {
  if (!Array.isArray(parts)) return [];
  return parts.flatMap((part: unknown): MessagePart[] => {
    if (typeof part !== 'object' || part === null) return [];
    const [name, expected, signed] = ['name', 'expected', 'signed'].map((each): unknown =>
      Reflect.get(part, each),
    );
    if (typeof name !== 'string' || typeof expected !== 'string') return [];
    const shown = { name: redact.values(name), expected: redactPart(name, expected, redact) };
    return [typeof signed === 'string' ? { ...shown, signed: redactPart(name, signed, redact) } : shown];
  });
}

function textIn(details: AuthenticationTrace['details'], name: string, redact: Redact): string | undefined {
  const value = details[name];
  return typeof value === 'string' ? redact(value) : undefined;
}

function findDifference(
  expected: string | undefined,
  received: string | undefined,
): FirstDifference | undefined {
  if (expected === undefined || received === undefined) return undefined;
  let at = 0;
  while (at < expected.length && expected[at] === received[at]) at += 1;
  return { at, expected: expected.slice(at), received: received.slice(at) };
}

/** The members of an entry that its text contains. */
interface EntryText {
  readonly number: number;
  readonly request: JournalRequest;
  readonly received: string | undefined;
  readonly status: number;
  readonly user: string | undefined;
  readonly step: number | undefined;
  readonly problem:
    | { readonly type: string; readonly detail: string; readonly hint?: string | undefined }
    | undefined;
  readonly auth: JournalAuth | undefined;
  readonly cors: JournalCors | undefined;
  readonly fault: Fault | undefined;
  readonly aborted: boolean;
  readonly warnings: readonly string[];
}

/** The names of the steps, from 0 on. `docs/operations.md` describes them. */
const stepNames = [
  'parsing',
  'availability',
  'message',
  'method',
  'target',
  'framing',
  'route',
  'credentials',
  'OPTIONS',
  'implementation',
  'permission',
  'content type',
  'existence',
  'representation',
  'preconditions',
  'content',
  'action',
];

/**
 * Returns one line with the request, the response and the reason of a refusal. For wrong credentials, further lines contain the
 * check and the messages.
 */
export function formatEntry(entry: EntryText): string {
  const { number, request, status, user, problem, auth, cors } = entry;
  const by = user === undefined ? '' : ` by ${user}`;
  const outcome = [
    status === 0 ? 'no response' : status,
    problem?.type ?? auth?.error,
    formatStep(entry),
    formatFault(entry.fault),
    entry.aborted ? 'the client disconnected' : undefined,
  ].filter((part) => part !== undefined);
  const reason = formatReason(entry);
  const line = `#${number} ${formatSubject(request, entry.received)}${by}: ${outcome.join(', ')}`;
  const described = reason === undefined ? line : `${line}: ${reason}`;
  return [
    escapeInvisible(described),
    ...(auth === undefined ? [] : formatChecks(auth)),
    ...formatCors(cors),
    ...entry.warnings.map((warning) => escapeInvisible(`warning: ${warning}`)),
  ].join('\n  ');
}

function formatSubject(request: JournalRequest, received: string | undefined): string {
  if (request.method !== '') return `${request.method} ${toReadable(request.target)}`;
  const [line = ''] = (received ?? '').split('\n', 1);
  const start = line.trimEnd();
  return isRequestLine.test(start) ? `unparsable request ${JSON.stringify(start)}` : 'unparsable request';
}

const isRequestLine = /^[!-~]{1,32} .{0,200}$/;

function formatStep({ step, fault }: EntryText): string | undefined {
  if (step !== undefined) return `step ${step} (${stepNames[step] ?? ''})`;
  return fault === undefined ? 'no step' : undefined;
}

/** Describes a fault by its members. A body and fields, which may be long or contain secrets, are only named. */
function formatFault(fault: Fault | undefined): string | undefined {
  if (fault === undefined) return undefined;
  const members = Object.entries(fault).filter(([, value]: [string, unknown]) => value !== undefined);
  const described = members.map(([name, value]: [string, unknown]) =>
    typeof value === 'object' || name === 'body' || name === 'retryAfter' ? name : `${name} ${String(value)}`,
  );
  return `fault: ${described.join(', ')}`;
}

/** Returns the detail of the refusal and, after a colon, the mistake. Undefined if the request was not refused. */
function formatReason({ problem, auth }: EntryText): string | undefined {
  const detail = problem?.detail ?? (auth?.failedAt === undefined ? undefined : auth.detail);
  const hint = auth?.hint ?? problem?.hint;
  if (detail === undefined || hint === undefined) return detail ?? hint;
  // Some details contain their hint.
  if (detail.includes(hint.replace(/\.$/, ''))) return detail;
  return `${detail.replace(/\.$/, '')}: ${hint}`;
}

function formatChecks(shown: JournalAuth): string[] {
  const { scheme = 'credentials', failedAt, expected, received } = shown;
  if (failedAt === undefined) return [];
  const lines = [`${scheme}: failed at ${failedAt}`];
  // A message of several lines, or without separators beside its parts, is shown by its parts.
  const isJoined = shown.parts.map((part) => part.expected).join('') === expected;
  const isLong = expected === undefined || expected.length > longestMessage || expected.includes('\n');
  const hasParts = shown.parts.length > 0 && (isJoined || isLong);
  if (hasParts) return [...lines, ...formatParts(shown)].map(escapeInvisible);
  if (expected !== undefined) lines.push(`expected ${expected}`);
  if (received !== undefined) lines.push(`received ${received}`);
  return lines.map(escapeInvisible);
}

/** Returns the condition that a request from another origin does not meet. */
function formatCors(cors: JournalCors | undefined): string[] {
  if (cors?.failedAt === undefined) return [];
  return [escapeInvisible(`cors: failed at ${cors.failedAt}: ${cors.detail ?? ''}`)];
}

/** Returns the checks that passed, and the part that differs or, if none is known, all parts. */
function formatParts({ passed, parts, differs }: JournalAuth): string[] {
  const lines = passed.length === 0 ? [] : [`passed ${passed.join(', ')}`];
  const part = parts.find(({ name }) => name === differs);
  if (part === undefined)
    return [
      ...lines,
      `expected ${parts.map(({ name, expected }) => `${name} ${shorten(expected)}`).join(' | ')}`,
    ];
  const signed = part.signed === undefined ? '' : `, signed ${JSON.stringify(shorten(part.signed))}`;
  return [...lines, `${part.name}: expected ${JSON.stringify(shorten(part.expected))}${signed}`];
}

/** The longest message that is shown whole, in characters. */
const longestMessage = 1000;

/** The longest value of a part in a line, in characters. */
const longestPart = 200;

function shorten(text: string): string {
  return text.length <= longestPart ? text : `${text.slice(0, longestPart)}…`;
}
