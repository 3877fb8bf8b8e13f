import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { clearTimeout, setTimeout } from '../../../timers.ts';
import { responseProgress } from './response-end.ts';

/** The result of sending bytes. */
export interface SentExchange {
  /** The bytes received, at most `limit`. */
  readonly response: Buffer;
  /** How it ended: a complete response, the end of the connection, an error, the timeout, or the limit. */
  readonly ended: 'complete' | 'closed' | 'failed' | 'timeout' | 'limit';
  /** The message of the error. */
  readonly error: string | undefined;
}

/** The limits on an exchange. */
export interface SendLimits {
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
