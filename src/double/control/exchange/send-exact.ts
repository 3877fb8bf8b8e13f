import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { clearTimeout, setTimeout } from '../../../timers.ts';

/** The result of sending bytes. */
interface SentExchange {
  /** The bytes received, at most `limit`. */
  readonly response: Buffer;
  /** How it ended: a complete response, the end of the connection, an error, the timeout, or the limit. */
  readonly ended: 'complete' | 'closed' | 'failed' | 'timeout' | 'limit';
  /** The message of the error. */
  readonly error: string | undefined;
}

/** The limits on an exchange. */
interface SendLimits {
  /** Milliseconds within which the response must be complete. */
  readonly timeout: number;
  /** The maximum number of bytes that are received. */
  readonly limit: number;
}

/**
 * Sends exactly these bytes over a connection of their own, and returns the bytes of the response. The connection is not closed
 * before the response is complete, since the server would take that as a client that has disconnected.
 * @param origin `http://…` or `https://…`, an origin of the controlled service
 */
export function sendExact(origin: string, bytes: Uint8Array, limits: SendLimits): Promise<SentExchange> {
  const method = /^[^ \r\n]*/.exec(Buffer.from(bytes.subarray(0, 64)).toString('latin1'))?.[0] ?? '';
  return new Promise((resolve) => {
    const received: Buffer[] = [];
    const socket = open(origin);
    const end = (ended: SentExchange['ended'], error?: Error): void => {
      clearTimeout(timer);
      socket.destroy();
      const response = Buffer.concat(received).subarray(0, limits.limit);
      resolve({ response, ended, error: error?.message });
    };
    const timer = setTimeout(() => end('timeout'), limits.timeout);
    let length = 0;
    socket.on('data', (chunk: Buffer) => {
      received.push(chunk);
      length += chunk.length;
      if (responseProgress(Buffer.concat(received), method).complete) end('complete');
      else if (length > limits.limit) end('limit');
    });
    socket.once('error', (error) => end('failed', error));
    socket.once('close', () => end('closed'));
    socket.write(bytes);
  });
}

function open(origin: string): Socket {
  const { protocol, hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[|\]$/g, '');
  if (protocol !== 'https:') return connect({ host, port: Number(port || 80), noDelay: true });
  // The peer is the controlled service itself. Its certificate may be one of an authority that is not known here, or a planned fault.
  const socket = connectSecurely({ host, port: Number(port || 443), rejectUnauthorized: false });
  return socket.setNoDelay(true);
}
/** What is known about a response from the bytes that have arrived. */
interface ResponseProgress {
  /** Whether the final response is complete. */
  readonly complete: boolean;
  /** Its status; undefined as long as its status line is incomplete, or if the bytes are no response. */
  readonly status: number | undefined;
}

/**
 * Returns whether the bytes contain a complete final response (RFC 9112 §6.3). Interim responses before it are skipped. A response
 * without a length is never complete: it ends with the connection.
 * @param method the method of the request, since a response to HEAD has no content
 */
function responseProgress(bytes: Buffer, method: string): ResponseProgress {
  let start = 0;
  for (;;) {
    const headEnd = bytes.indexOf('\r\n\r\n', start);
    const head = bytes.toString('latin1', start, headEnd < 0 ? bytes.length : headEnd);
    const status = parseStatus(head);
    if (headEnd < 0 || status === undefined) return { complete: false, status };
    const content = headEnd + 4;
    // 101 is final: what follows is another protocol.
    if (status < 200 && status !== 101) start = content;
    else return { complete: isComplete(head, status, bytes.subarray(content), method), status };
  }
}

function parseStatus(head: string): number | undefined {
  const status = /^HTTP\/\d\.\d (\d{3})(?!\d)/.exec(head)?.[1];
  return status === undefined ? undefined : Number(status);
}

function isComplete(head: string, status: number, content: Buffer, method: string): boolean {
  if (method === 'HEAD' || status === 101 || status === 204 || status === 304) return true;
  if (/\r\ntransfer-encoding:.*chunked[ \t]*(?:\r\n|$)/i.test(head)) return endsWithLastChunk(content);
  const length = /\r\ncontent-length:[ \t]*(\d+)[ \t]*(?:\r\n|$)/i.exec(head)?.[1];
  return length !== undefined && content.length >= Number(length);
}

/** Returns whether the chunks are followed by the last chunk and the trailer section (RFC 9112 §7.1). */
function endsWithLastChunk(content: Buffer): boolean {
  let at = 0;
  for (;;) {
    const lineEnd = content.indexOf('\r\n', at);
    if (lineEnd < 0) return false;
    const size = Number.parseInt(content.toString('latin1', at, lineEnd), 16);
    if (Number.isNaN(size)) return false;
    if (size === 0) return content.indexOf('\r\n\r\n', lineEnd) >= 0;
    at = lineEnd + 2 + size + 2;
  }
}
