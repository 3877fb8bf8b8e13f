import { linesOf } from '../../http/field-lines.ts';
import { type FieldLine, Fields } from '../../http/fields.ts';
import { formatDate } from '../../http/headers/date.ts';
import type { Request, Response } from '../../http/message.ts';
import { contentSent } from '../../net/response-encoder.ts';
import { type Fault, wireFaultOf } from './declaration.ts';

/** The answer of a fault with a status, in the place of the server's. `now` is the time (ms) that its Date says. */
export function substituteResponse(fault: Fault & { readonly status: number }, now: number): Response {
  const { status, body, fields = [], retryAfter } = fault;
  const lines: FieldLine[] = [['Date', formatDate(now)]];
  for (const [name, value] of linesOf(fields)) lines.push([name, value]);
  const typed = lines.some(([name]) => name.toLowerCase() === 'content-type');
  if (typeof body === 'string' && !typed) lines.push(['Content-Type', 'text/plain; charset=utf-8']);
  if (retryAfter !== undefined) lines.push(['Retry-After', String(retryAfter)]);
  return { status, fields: lines, content: body };
}

/** The reply of a server that never acted: the connection is reset. */
export const noResponse: Response = {
  status: 503,
  fields: [],
  content: undefined,
  close: true,
  fault: { break: { kind: 'reset', after: undefined } },
};

/** The request without Accept-Encoding, so that the document is broken and not its compressed form. */
export function withoutConditions(request: Request): Request {
  const { raw } = request.fields;
  const kept = raw.filter((_, at) => raw[at - (at % 2)]?.toLowerCase() !== 'accept-encoding');
  return { ...request, fields: new Fields(kept) };
}

/** The reply with the fault in it; undefined where the fault cannot apply to it, as `truncate` to a reply without content. */
export function corrupted(response: Response, fault: Fault): Response | undefined {
  const marred = fault.malformedXml === true ? withBrokenDocument(response) : response;
  if (marred === undefined) return undefined;
  const length = lengthSent(marred);
  const wire = wireFaultOf(fault, length);
  if (wire === undefined) return marred;
  if (length === 0 && fault.reset !== 'before') return undefined;
  if (fault.truncate !== undefined && fault.truncate >= length) return undefined;
  return { ...marred, close: true, fault: wire };
}

function lengthSent(response: Response): number {
  const content = contentSent(response, false) ?? '';
  return typeof content === 'string' ? Buffer.byteLength(content) : content.length;
}

function withBrokenDocument(response: Response): Response | undefined {
  if (lengthSent(response) === 0) return undefined;
  const text = Buffer.from(response.content ?? '').toString('utf8');
  const cut = cutOffEnd(text);
  return cut === undefined ? undefined : { ...response, content: cut };
}

/** A document of XML or JSON without its end. */
function cutOffEnd(text: string): string | undefined {
  if (/^\s*[{[]/.test(text)) return text.trimEnd().slice(0, -1);
  if (!/^\s*</.test(text)) return undefined;
  const endTag = text.lastIndexOf('</');
  return endTag >= 0 ? text.slice(0, endTag) : text.replace(/\/>\s*$/, '>');
}
