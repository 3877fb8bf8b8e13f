import { STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http';
import type { Response } from '../http/message.ts';

/** Returns the reason phrase of a status; '' if it has none. */
export function findReasonPhrase(status: number): string {
  return STATUS_CODES[status] ?? '';
}

/** Returns whether a response of this status never has content (RFC 9110 §15.3.5, §15.4.5). */
function isBare(status: number): boolean {
  return status === 204 || status === 304;
}

/** Returns the content to send. `head` is true if the method was HEAD. */
export function contentSent(response: Response, head: boolean): string | Uint8Array | undefined {
  return head || response.headOnly === true || isBare(response.status) ? undefined : response.body;
}

/** Returns alternating names and values of the fields to send, including Content-Length (RFC 9110 §8.6). */
export function fieldsSent(response: Response): string[] {
  const flat: string[] = [];
  for (const [name, value] of response.headers) flat.push(name, value);
  if (!isBare(response.status)) flat.push('Content-Length', String(computeLength(response.body)));
  return flat;
}

function computeLength(content: string | Uint8Array | undefined): number {
  if (content === undefined) return 0;
  return typeof content === 'string' ? Buffer.byteLength(content) : content.length;
}

/** Converts alternating names and values to field lines. */
export function formatLines(flat: readonly string[]): string {
  let lines = '';
  for (let at = 0; at + 1 < flat.length; at += 2) lines += `${flat[at]}: ${flat[at + 1]}\r\n`;
  return lines;
}

/** Encodes a response after which the connection is closed. Throws if a field cannot be written. */
export function lastBytes(response: Response, head: boolean): Uint8Array {
  const message = encodeMessage(response, head, 'Connection: close\r\n', new FieldLines());
  return typeof message === 'string' ? Buffer.from(message, 'latin1') : message;
}

/**
 * Encodes a whole response. `connection` is the line or lines about the connection. If a string is returned, each character is one
 * byte. Throws if a field cannot be written.
 */
export function encodeMessage(
  response: Response,
  head: boolean,
  connection: string,
  fieldLines: FieldLines,
): string | Uint8Array {
  const { status, body: content } = response;
  let lines = `HTTP/1.1 ${status} ${findReasonPhrase(status)}\r\n`;
  for (const [name, value] of response.headers) lines += fieldLines.of(name, value);
  const length = computeLength(content);
  if (!isBare(status)) lines += `Content-Length: ${length}\r\n`;
  lines += `${connection}\r\n`;
  const sent = contentSent(response, head);
  if (sent === undefined) return lines;
  // If the lengths in bytes and characters are equal, it is ASCII; one string is written faster than two pieces.
  if (typeof sent === 'string' && sent.length === length) return lines + sent;
  return Buffer.concat([Buffer.from(lines, 'latin1'), typeof sent === 'string' ? Buffer.from(sent) : sent]);
}

/** Fields that usually have the same value in consecutive responses, and contain nothing that is specific to a client. */
const recurring = [
  'Date',
  'Vary',
  'Cache-Control',
  'Content-Type',
  'ETag',
  'Last-Modified',
  'Allow',
  'Link',
  'Retry-After',
  'WWW-Authenticate',
  'X-Content-Type-Options',
] as const;

/** Encodes field lines. Caches the last line of each recurring field, so that it is not validated and concatenated again. */
export class FieldLines {
  readonly #last = new Map<string, { value: string | undefined; line: string }>(
    recurring.map((name) => [name, { value: undefined, line: '' }]),
  );

  /** Returns the line with its line end. Throws if it cannot be written. */
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
