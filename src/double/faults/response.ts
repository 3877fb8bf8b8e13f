import { toLines } from '../../http/field-lines.ts';
import { type FieldLine, HttpHeaders } from '../../http/fields.ts';
import { formatDate } from '../../http/headers/date.ts';
import type { IncomingRequest, Response } from '../../http/message.ts';
import { isSafe } from '../../http/method.ts';
import { isSilent } from '../../http/wire-fault.ts';
import { contentSent } from '../../net/response-encoder.ts';
import { type Fault, toWireFault } from './declaration.ts';

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
