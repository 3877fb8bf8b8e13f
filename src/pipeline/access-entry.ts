// Creates the entries of the access log, of which the metrics are counted. Ids of requests are created only if the log or
// X-Request-Id needs them.

import type { Clock } from '../clock.ts';
import { type IncomingRequest, neverHasContent, type Response } from '../http/message.ts';
import type { RequestTrace } from './call.ts';
import type { AccessLogEntry } from './options.ts';
import { pathSent } from './problem-response.ts';

/** The maximum length of User-Agent in the log, in characters. */
const maxUserAgent = 256;

/** Returns the id of a request: that of the client or a proxy, if it is usable, or else a new one. */
export type RequestIds = (request: IncomingRequest | undefined) => string;

/** Creates ids of a random prefix, drawn for the first one, and a number. Ids are unique, not secret. */
export function createRequestIds(random: (size: number) => Uint8Array): RequestIds {
  let prefix = '';
  let count = 0;
  return (request) => {
    const given = usableRequestId(request?.headers.get('x-request-id'));
    if (given !== undefined) return given;
    if (prefix === '') prefix = Buffer.from(random(8)).toString('hex');
    count += 1;
    return `${prefix}-${count}`;
  };
}

/** Returns the entry for the access log: method and path as sent, nothing of the query, the content or other fields. */
export function accessEntry(
  request: IncomingRequest | undefined,
  response: Response,
  { principal, problem, requestId }: RequestTrace,
  clock: Clock,
  begun: number,
): AccessLogEntry {
  const fields = request?.headers;
  return {
    time: clock.now(),
    method: request?.method ?? '-',
    path: request === undefined ? '-' : pathSent(request),
    status: response.status,
    principal: principal?.name,
    scheme: principal?.scheme,
    microseconds: Math.round((clock.steady() - begun) * 1000),
    problem: problem?.type,
    peer: request?.connection.peer ?? '-',
    requestId: requestId ?? '-',
    traceparent: parseTraceparent(fields?.get('traceparent')),
    bytesReceived: request?.body.received ?? 0,
    bytesSent: contentLength(response),
    userAgent: fields?.get('user-agent')?.slice(0, maxUserAgent),
  };
}

/** Returns the bytes of content that a response has on the wire. */
function contentLength({ status, body: content, headOnly }: Response): number {
  if (content === undefined || headOnly === true || neverHasContent(status)) return 0;
  return typeof content === 'string' ? Buffer.byteLength(content) : content.length;
}

/** An id that is safe in a log and in a field: ASCII without spaces, quotes, commas and backslashes. */
const form = /^[A-Za-z0-9._~:=+/@-]{1,128}$/;

/** Returns the value of X-Request-Id if it can be used as an id: 1 to 128 characters of `A-Z a-z 0-9 . _ ~ : = + / @ -`. */
export function usableRequestId(value: string | undefined): string | undefined {
  return value !== undefined && form.test(value) ? value : undefined;
}

const traceParentForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-[!-~]{0,200})?$/;

/**
 * Returns the value of traceparent if it is valid (W3C Trace Context §3.2): version, trace id, parent id and flags. A version
 * later than 00 may have further parts. Returns undefined for any other value, which must be ignored.
 */
export function parseTraceparent(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const [whole, version, traceId, parentId, more] = traceParentForm.exec(value) ?? [];
  if (version === undefined || version === 'ff') return undefined;
  if (version === '00' && more !== undefined) return undefined;
  return isZero(traceId) || isZero(parentId) ? undefined : whole;
}

function isZero(digits: string | undefined): boolean {
  return digits === undefined || /^0+$/.test(digits);
}
