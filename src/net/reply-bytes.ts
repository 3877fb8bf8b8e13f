import { STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http';
import type { Reply } from '../http/message.ts';

/** Whether a reply of this status never has content (RFC 9110 §15.3.5, §15.4.5). */
function isBare(status: number): boolean {
  return status === 204 || status === 304;
}

/** What of the reply's content is sent; `head` says that the request was HEAD. */
export function contentSent(reply: Reply, head: boolean): string | Uint8Array | undefined {
  return head || reply.headOnly === true || isBare(reply.status) ? undefined : reply.content;
}

/** The reply's names and values in turn, with the length that its content has (RFC 9110 §8.6). */
export function fieldsSent(reply: Reply): string[] {
  const flat: string[] = [];
  for (const [name, value] of reply.fields) flat.push(name, value);
  if (!isBare(reply.status)) flat.push('Content-Length', String(lengthOf(reply.content)));
  return flat;
}

function lengthOf(content: string | Uint8Array | undefined): number {
  if (content === undefined) return 0;
  return typeof content === 'string' ? Buffer.byteLength(content) : content.length;
}

/** The bytes of a reply after which the connection ends. Throws if a field cannot be written. */
export function lastBytes(reply: Reply, head: boolean): Uint8Array {
  const flat = fieldsSent(reply);
  flat.push('Connection', 'close');
  let text = `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status] ?? ''}\r\n`;
  for (let at = 0; at + 1 < flat.length; at += 2) text += fieldLine(flat[at] ?? '', flat[at + 1] ?? '');
  const header = Buffer.from(`${text}\r\n`, 'latin1');
  const content = contentSent(reply, head);
  if (content === undefined) return header;
  return Buffer.concat([header, typeof content === 'string' ? Buffer.from(content) : content]);
}

function fieldLine(name: string, value: string): string {
  validateHeaderName(name);
  validateHeaderValue(name, value);
  return `${name}: ${value}\r\n`;
}
