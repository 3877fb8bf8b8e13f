import { type Duration, readSignedDuration } from '../../duration.ts';
import { type HeadersInput, toLines } from '../../http/field-lines.ts';
import { type FieldLine, HttpHeaders, sendableLine } from '../../http/fields.ts';
import { formatDate } from '../../http/headers/date.ts';
import type { IncomingRequest, Response } from '../../http/message.ts';
import { isSafe } from '../../http/method.ts';
import { isSilent, type WireBreak, type WireFault } from '../../http/wire-fault.ts';
import { contentSent } from '../../net/response-encoder.ts';
import { duration } from '../../shape/duration.ts';
import { createFault, describeKind } from '../../shape/fault.ts';
import {
  anything,
  either,
  flag,
  instanceOf,
  leaf,
  number,
  object,
  optional,
  read,
  refine,
  type ShapesOf,
  text,
  word,
} from '../../shape/shape.ts';
import { longestDelay } from '../../timers.ts';
import { checkRequestMatch, isRestricted, type RequestMatch } from '../match.ts';

/** The members of a fault. */
interface FaultParts {
  /** The status (200 to 599) of a response that is sent instead of processing the request. */
  readonly status?: number;
  /** The content of that response. A string is sent as UTF-8, and as `text/plain` unless `headers` name another type. Default: none. */
  readonly body?: string | Uint8Array;
  /** Further header fields of that response, by name or as lines. */
  readonly headers?: HeadersInput;
  /** The Retry-After of that response: seconds, or a date as sent. */
  readonly retryAfter?: number | string;
  /**
   * Delays the response, after the request was processed, or before with `before`: ms of the host's time, or text such as `2s`. At
   * most 2,147,483,647 ms.
   */
  readonly delay?: Duration;
  /** Sends the content at this rate, in bytes per second of the host's time. */
  readonly dribble?: number;
  /** Closes the connection after this many bytes of the content, although a greater length was declared. */
  readonly truncate?: number;
  /**
   * Resets the connection `before` the response, `amid` it (after half of the content), or after this many bytes of the
   * content. The request has been processed by then, unless `before` is true.
   */
  readonly reset?: 'before' | 'amid' | number;
  /** Closes the connection in order, without a response: `curl` reports an empty reply. The request has been processed by then. */
  readonly close?: boolean;
  /**
   * Resets the connection without a response, after a change was made: a client cannot distinguish that from a lost request. Applies
   * to the first matching PUT, POST or DELETE whose response would be 2xx.
   */
  readonly lostAfterActing?: boolean;
  /** Sends the content in chunks. The size of the second chunk is not a number. */
  readonly badChunk?: boolean;
  /** Adds this number of bytes, positive or negative, to Content-Length. */
  readonly wrongLength?: number;
  /** Cuts the document before its last end tag, or before its last bracket in JSON. Content-Length is that of the cut document. */
  readonly malformedXml?: boolean;
  /**
   * Presents an expired certificate to this many new TLS connections. There is no request yet, so it can have no match and
   * no other fault.
   */
  readonly staleCertificate?: boolean;
  /** Rotates the user's secret before the credentials are verified. */
  readonly rotatedSecret?: boolean;
  /** Makes the request's token expire before it is verified. */
  readonly expiredToken?: boolean;
  /** Treats the nonce of the request as used. */
  readonly nonceSeen?: boolean;
  /** Moves the clock, and the response's `Date`, for this request only: ms, or text such as `-5m`. At most 366 days. */
  readonly skewedDate?: Duration;
  /** With `delay`: the delay precedes the processing. With `reset: 'before'`: the request is not processed. */
  readonly before?: boolean;
}

/** Members of a fault that must be absent, or false. */
type Without<Names extends keyof FaultParts> = {
  readonly [Name in Names]?: boolean extends FaultParts[Name] ? false : never;
};

/** Members of a fault that must be present. */
type With<Names extends keyof FaultParts> = Required<Pick<FaultParts, Names>>;

type BreakName = (typeof breaks)[number];

/** At most one way to break the response. */
type OneBreak =
  | Without<BreakName>
  | {
      [Name in BreakName]: With<Name> &
        Without<Exclude<BreakName, Name> | (Name extends 'lostAfterActing' ? 'status' : never)>;
    }[BreakName];

/** A response instead of processing the request, or none. */
type Answer =
  | (With<'status'> & Without<'malformedXml'>)
  | Without<'status' | 'body' | 'headers' | 'retryAfter'>;

/** What precedes the processing. */
type Before =
  | Without<'before'>
  | With<'delay'>
  | {
      /** Resets the connection before the response, and before the request is processed. */
      readonly reset: 'before';
    };

/**
 * A fault. A status, a delay and one way to break the response can be combined:
 * `{ status: 503, delay: 200, truncate: 10 }`. `truncate`, `reset`, `close`, `badChunk`, `wrongLength` and `lostAfterActing` exclude each
 * other.
 */
export type Fault =
  | (FaultParts & Without<'staleCertificate'> & OneBreak & Answer & Before)
  | (With<'staleCertificate'> & Without<Exclude<keyof FaultParts, 'staleCertificate'>>);

const count = { min: 0 };
/** The greatest skew of a date in ms: 366 days. */
export const maxSkew = 366 * 86_400_000;

/** Describes the members of a fault. */
export const faultMembers = {
  status: optional(
    number({ min: 200, max: 599 }, 'status of the response that is sent instead of processing the request'),
  ),
  body: optional(either(text('content of that response'), instanceOf(Uint8Array, 'text or bytes'))),
  headers: optional(anything),
  retryAfter: optional(either(number({ min: 0 }), text(), 'Retry-After of that response')),
  delay: optional(duration(longestDelay)),
  dribble: optional(
    refine(
      number({ whole: false, expected: 'a positive number' }, 'rate of the content in bytes per second'),
      (rate, path) =>
        rate > 0 && Number.isFinite(rate) ? [] : [createFault(path, `must be a positive number, is ${rate}`)],
      { exclusiveMinimum: 0 },
    ),
  ),
  truncate: optional(number(count, 'the connection is closed after this number of bytes of the content')),
  reset: optional(
    either(
      number(count),
      word(['before', 'amid'], undefined, "'before', 'amid' or an integer from 0"),
      'the connection is reset before the response, in the middle of its content, or after this number of bytes',
    ),
  ),
  close: optional(flag('the connection is closed in order, without a response')),
  lostAfterActing: optional(
    flag('after PUT, POST or DELETE made a change, the connection is reset without a response'),
  ),
  badChunk: optional(flag('the size of the second chunk is not a number')),
  wrongLength: optional(
    refine(
      number({}, 'number of bytes by which Content-Length is wrong'),
      (by, path) => (by === 0 ? [createFault(path, 'must be an integer other than 0, is 0')] : []),
      { not: { const: 0 } },
    ),
  ),
  malformedXml: optional(flag('the document is cut before its last end tag')),
  staleCertificate: optional(flag('new TLS connections get an expired certificate')),
  rotatedSecret: optional(flag('the user’s secret is rotated before the request is verified')),
  expiredToken: optional(flag('the request’s token expires before the request is verified')),
  nonceSeen: optional(flag('the nonce of the request counts as used')),
  skewedDate: optional(
    leaf(
      {
        description: 'ms, or text such as -5m, by which the clock is ahead for this request',
        type: ['number', 'string'],
      },
      `a number of ms, at most ${maxSkew}, or text such as -5m`,
      (value): value is Duration => Math.abs(readSignedDuration(value) ?? Infinity) <= maxSkew,
    ),
  ),
  before: optional(flag('with delay: the delay precedes processing; with reset: nothing is processed')),
} satisfies ShapesOf<FaultParts>;

const faultShape = object(faultMembers, undefined, { expected: 'an object such as { status: 503 }' });

/** Returns whether a member of a fault has this name. */
function isFaultName(name: string): boolean {
  return Object.hasOwn(faultMembers, name);
}

const breaks = ['truncate', 'reset', 'close', 'badChunk', 'wrongLength', 'lostAfterActing'] as const;

/** Throws RangeError if a fault is invalid. The message contains the reason. */
export function checkFault(fault: FaultParts): asserts fault is Fault {
  read(faultShape, fault, 'a fault');
  const names = Object.keys(fault).filter((name) => Reflect.get(fault, name) !== undefined);
  if (names.length === 0) throw new RangeError('a fault must have a member, such as { status: 503 }');
  checkHeaders(fault);
  checkCombination(fault, names);
}

/** Throws RangeError unless the first argument of `times` is a positive integer. */
export function checkCount(count: unknown): void {
  if (typeof count === 'number' && Number.isInteger(count) && count > 0) return;
  const given = typeof count === 'number' ? String(count) : describeKind(count);
  throw new RangeError(
    `the number of requests for a fault must be a positive integer, is ${given}; such as times(2, {}, { status: 503 })`,
  );
}

/** Throws RangeError if a match or a fault is invalid, with the nearest known name. `call` is the start of a call with both. */
export function checkPlan(match: RequestMatch, fault: Fault, call: string): void {
  checkPresent(match, fault, call);
  checkRequestMatch(match);
  checkFault(fault);
  if (fault.staleCertificate === true && isRestricted(match))
    throw new RangeError('staleCertificate cannot have a match, since there is no request yet');
}

/** Throws RangeError if there is no fault, as in `next({ status: 503 })`. */
function checkPresent(match: RequestMatch, fault: Fault | undefined, call: string): void {
  if (fault !== undefined) return;
  const names = typeof match === 'object' && match !== null ? Object.keys(match) : [];
  const hint = names.some(isFaultName) ? `; the match comes first, such as ${call}{}, { status: 503 })` : '';
  throw new RangeError(`the fault is missing${hint}`);
}

function checkHeaders({ headers = {}, retryAfter = '' }: FaultParts): void {
  for (const [name, value] of toLines(headers)) sendableLine(name, value);
  sendableLine('Retry-After', String(retryAfter));
}

function checkCombination(fault: FaultParts, names: readonly string[]): void {
  const breaking = breaks.filter((name) => fault[name] !== undefined && fault[name] !== false);
  if (breaking.length > 1) throw new RangeError(`${breaking.join(' and ')} exclude each other in a fault`);
  for (const name of ['body', 'headers', 'retryAfter'] as const) {
    if (fault[name] !== undefined && fault.status === undefined)
      throw new RangeError(`${name} of a fault requires a status`);
  }
  if (fault.status !== undefined && fault.malformedXml === true)
    throw new RangeError('malformedXml and status exclude each other in a fault');
  if (fault.status !== undefined && fault.lostAfterActing === true)
    throw new RangeError('lostAfterActing and status exclude each other in a fault');
  if (fault.before === true && fault.delay === undefined && fault.reset !== 'before')
    throw new RangeError("before of a fault requires delay, or reset: 'before'");
  if (fault.staleCertificate === true && names.length > 1)
    throw new RangeError('staleCertificate excludes all other faults, since there is no request yet');
}

/** Returns the wire fault for a response with content of `length` bytes. Undefined if the fault has no effect on the wire. */
export function toWireFault(fault: FaultParts, length: number): WireFault | undefined {
  const breaking = toWireBreak(fault, length);
  if (breaking === undefined && fault.dribble === undefined) return undefined;
  return {
    ...(fault.dribble === undefined ? {} : { dribble: fault.dribble }),
    ...(breaking === undefined ? {} : { break: breaking }),
  };
}

function toWireBreak(
  { truncate, reset, close, badChunk, wrongLength, lostAfterActing }: FaultParts,
  length: number,
): WireBreak | undefined {
  if (truncate !== undefined) return { kind: 'truncate', after: truncate };
  if (reset === 'before' || lostAfterActing === true) return { kind: 'reset', after: undefined };
  if (reset !== undefined) return { kind: 'reset', after: reset === 'amid' ? Math.floor(length / 2) : reset };
  if (close === true) return { kind: 'close' };
  if (badChunk === true) return { kind: 'badChunk' };
  return wrongLength === undefined ? undefined : { kind: 'wrongLength', by: wrongLength };
}

/** Returns the response of a fault with a status. `now` is the time of its `Date`, in ms. */
export function createSubstituteResponse(fault: Fault & { readonly status: number }, now: number): Response {
  const { status, body, headers = [], retryAfter } = fault;
  const lines: FieldLine[] = [['Date', formatDate(now)]];
  for (const [name, value] of toLines(headers)) lines.push([name, value]);
  const hasType = lines.some(([name]) => name.toLowerCase() === 'content-type');
  if (typeof body === 'string' && !hasType) lines.push(['Content-Type', 'text/plain; charset=utf-8']);
  if (retryAfter !== undefined) lines.push(['Retry-After', String(retryAfter)]);
  return { status, headers: lines, body };
}

/** The response to a request that is not processed: the connection is reset. */
export const noResponse: Response = {
  status: 503,
  headers: [],
  body: undefined,
  close: true,
  fault: { break: { kind: 'reset', after: undefined } },
};

/** Removes Accept-Encoding from a request, so that the fault breaks the document and not its compressed form. */
export function removeAcceptEncoding(request: IncomingRequest): IncomingRequest {
  const { raw } = request.headers;
  const remaining = raw.filter((_, at) => raw[at - (at % 2)]?.toLowerCase() !== 'accept-encoding');
  return { ...request, headers: new HttpHeaders(remaining) };
}

/**
 * Returns the response to a request with the fault applied. Undefined if that is impossible, as `truncate` without content, or
 * `lostAfterActing` without a change.
 */
export function applyFault(
  response: Response,
  fault: Fault,
  { method }: IncomingRequest,
): Response | undefined {
  if (fault.lostAfterActing === true && !isChange(method, response)) return undefined;
  const faulty = fault.malformedXml === true ? breakDocument(response) : response;
  if (faulty === undefined) return undefined;
  const length = lengthSent(faulty);
  const wire = toWireFault(fault, length);
  if (wire === undefined) return faulty;
  if (length === 0 && !isSilent(wire)) return undefined;
  if (fault.truncate !== undefined && fault.truncate >= length) return undefined;
  return { ...faulty, close: true, fault: wire };
}

function isChange(method: string, { status }: Response): boolean {
  return status < 300 && !isSafe(method);
}

function lengthSent(response: Response): number {
  const content = contentSent(response, false) ?? '';
  return typeof content === 'string' ? Buffer.byteLength(content) : content.length;
}

function breakDocument(response: Response): Response | undefined {
  if (lengthSent(response) === 0) return undefined;
  const text = Buffer.from(response.body ?? '').toString('utf8');
  const cut = cutOffEnd(text);
  return cut === undefined ? undefined : { ...response, body: cut };
}

/** Removes the end of an XML or JSON document. Undefined if the text is neither. */
function cutOffEnd(text: string): string | undefined {
  if (/^\s*[{[]/.test(text)) return text.trimEnd().slice(0, -1);
  if (!/^\s*</.test(text)) return undefined;
  const endTag = text.lastIndexOf('</');
  return endTag >= 0 ? text.slice(0, endTag) : text.replace(/\/>\s*$/, '>');
}
