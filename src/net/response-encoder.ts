import { STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http';
import type { Response } from '../http/message.ts';

/** Whether a reply of this status never has content (RFC 9110 §15.3.5, §15.4.5). */
function isBare(status: number): boolean {
  return status === 204 || status === 304;
}

/** What of the reply's content is sent; `head` says that the request was HEAD. */
export function contentSent(response: Response, head: boolean): string | Uint8Array | undefined {
  return head || response.headOnly === true || isBare(response.status) ? undefined : response.content;
}

/** The reply's names and values in turn, with the length that its content has (RFC 9110 §8.6). */
export function fieldsSent(response: Response): string[] {
  const flat: string[] = [];
  for (const [name, value] of response.fields) flat.push(name, value);
  if (!isBare(response.status)) flat.push('Content-Length', String(lengthOf(response.content)));
  return flat;
}

function lengthOf(content: string | Uint8Array | undefined): number {
  if (content === undefined) return 0;
  return typeof content === 'string' ? Buffer.byteLength(content) : content.length;
}

/** Names and values in turn as lines. */
export function linesOf(flat: readonly string[]): string {
  let lines = '';
  for (let at = 0; at + 1 < flat.length; at += 2) lines += `${flat[at]}: ${flat[at + 1]}\r\n`;
  return lines;
}

/** The bytes of a reply after which the connection ends. Throws if a field cannot be written. */
export function lastBytes(response: Response, head: boolean): Uint8Array {
  const message = messageOf(response, head, 'Connection: close\r\n', new FieldLines());
  return typeof message === 'string' ? Buffer.from(message, 'latin1') : message;
}

/**
 * A whole reply as it is sent, `connection` being the line or lines about the connection. A string has a character for
 * each byte. Throws if a field cannot be written.
 */
export function messageOf(
  response: Response,
  head: boolean,
  connection: string,
  fieldLines: FieldLines,
): string | Uint8Array {
  const { status, content } = response;
  let lines = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
  for (const [name, value] of response.fields) lines += fieldLines.of(name, value);
  const length = lengthOf(content);
  if (!isBare(status)) lines += `Content-Length: ${length}\r\n`;
  lines += `${connection}\r\n`;
  const sent = contentSent(response, head);
  if (sent === undefined) return lines;
  // As long in bytes as in characters, it is all ASCII, and one string is written faster than two pieces.
  if (typeof sent === 'string' && sent.length === length) return lines + sent;
  return Buffer.concat([Buffer.from(lines, 'latin1'), typeof sent === 'string' ? Buffer.from(sent) : sent]);
}

/** Fields that are the same from reply to reply, as a rule, and have nothing in them that is for one client alone. */
const recurring = [
  ...['Date', 'Vary', 'Cache-Control', 'Content-Type', 'ETag', 'Last-Modified'],
  ...['Allow', 'Link', 'Retry-After', 'WWW-Authenticate'],
] as const;

/** Makes field lines, and keeps the last of those that recur: they need not be checked and put together again. */
export class FieldLines {
  readonly #last = new Map<string, { value: string | undefined; line: string }>(
    recurring.map((name) => [name, { value: undefined, line: '' }]),
  );

  /** The line with its end. Throws if it cannot be written. */
  of(name: string, value: string): string {
    const last = this.#last.get(name);
    if (last !== undefined && last.value === value) return last.line;
    validateHeaderName(name);
    validateHeaderValue(name, value);
    const line = `${name}: ${value}\r\n`;
    if (last !== undefined) {
      last.value = value;
      last.line = line;
    }
    return line;
  }
}
