// Creates the entries of the access log, of which the metrics are counted. Ids of requests are created only if the log or
// X-Request-Id needs them.
import type { Clock } from '../clock.ts';
import { usableRequestId } from '../http/headers/request-id.ts';
import { parseTraceparent } from '../http/headers/trace-context.ts';
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
