import type { Socket } from 'node:net';
import type { Response } from '../http/message.ts';
import { isSilent, type WireFault } from '../http/wire-fault.ts';
import { clearInterval, clearTimeout, setInterval, setTimeout } from '../timers.ts';
import { closeLingering } from './lingering-close.ts';
import { contentSent, lastBytes } from './response-encoder.ts';

/** A response with an injected fault, encoded. */
interface FaultyMessage {
  readonly head: Uint8Array;
  readonly content: Uint8Array;
}

/** A connection on which the last response is being sent. */
interface ClosingConnection {
  readonly socket: Socket;
  /** The TCP socket under a TLS socket, if it is known; otherwise the same socket. */
  readonly tcpSocket: Socket;
  /** How long the client may leave the response unread, in milliseconds. */
  readonly timeout: number;
}

/** Milliseconds between two pieces of throttled content, unless a single byte takes longer. */
const dribbleInterval = 50;

/** Milliseconds that a client has to read the response before a reset. */
const resetDelay = 20;

/** Encodes a response with a fault. `head` is true if the method was HEAD. Throws if a field cannot be written. */
export function encodeFaulty(response: Response, fault: WireFault, head: boolean): FaultyMessage {
  const message = Buffer.from(lastBytes(response, head));
  const split = message.indexOf('\r\n\r\n') + 4;
  const lines = message.toString('latin1', 0, split);
  const content = message.subarray(split);
  // Without content, there is neither a length nor a chunk to corrupt.
  if (contentSent(response, head) === undefined) return { head: message.subarray(0, split), content };
  switch (fault.break?.kind) {
    case 'truncate':
      return { head: encodeLatin1(lines), content: content.subarray(0, fault.break.after) };
    case 'reset':
      return { head: encodeLatin1(lines), content: content.subarray(0, fault.break.after ?? 0) };
    case 'wrongLength':
      return {
        head: encodeLatin1(
          lines.replace(lengthLine, `Content-Length: ${Math.max(0, content.length + fault.break.by)}\r\n`),
        ),
        content,
      };
    case 'badChunk':
      return {
        head: encodeLatin1(lines.replace(lengthLine, 'Transfer-Encoding: chunked\r\n')),
        content: encodeBadChunks(content),
      };
    case 'close':
    case undefined:
      return { head: encodeLatin1(lines), content };
  }
}

const lengthLine = /^Content-Length: [0-9]+\r\n/m;

/** Encodes the first half as a valid chunk, and the second as one whose size is not a hexadecimal number. */
function encodeBadChunks(content: Uint8Array): Uint8Array {
  const half = Math.ceil(content.length / 2);
  const [first, second] = [content.subarray(0, half), content.subarray(half)];
  return Buffer.concat([
    encodeLatin1(`${half.toString(16)}\r\n`),
    first,
    encodeLatin1('\r\nnone\r\n'),
    second,
  ]);
}

function encodeLatin1(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

/** Sends an encoded response, throttled if the fault says so, and closes or resets the connection. */
export function sendFaulty(
  connection: ClosingConnection,
  { head, content }: FaultyMessage,
  fault: WireFault,
): void {
  const { socket, timeout } = connection;
  const resets = fault.break?.kind === 'reset';
  if (isSilent(fault)) {
    if (resets) reset(connection);
    else closeLingering(socket, timeout);
    return;
  }
  const end = (): void => (resets ? resetAfterDelay(connection) : closeLingering(socket, timeout));
  socket.setTimeout(timeout);
  socket.write(head);
  if (fault.dribble === undefined) socket.write(content, end);
  else dribble(socket, content, fault.dribble, end);
}

/** Returns how to throttle content to `rate` bytes a second: pieces of `size` bytes, `interval` milliseconds before each. */
export function computeDribble(rate: number): { interval: number; size: number } {
  const interval = Math.max(dribbleInterval, 1000 / rate);
  return { interval, size: Math.max(1, Math.round((rate * interval) / 1000)) };
}

function dribble(socket: Socket, content: Uint8Array, rate: number, end: () => void): void {
  const { interval, size } = computeDribble(rate);
  let at = 0;
  const timer = setInterval(() => {
    socket.write(content.subarray(at, at + size));
    at += size;
    if (at < content.length) return;
    clearInterval(timer);
    end();
  }, interval);
  socket.once('close', () => clearInterval(timer));
}

/** Gives the client time to read: a client that receives a reset at once may drop what arrived before it. */
function resetAfterDelay(connection: ClosingConnection): void {
  const timer = setTimeout(() => reset(connection), resetDelay);
  connection.socket.once('close', () => clearTimeout(timer));
}

/** Resets the TCP connection. Under TLS, if the TCP socket is unknown, only closes the connection. */
function reset({ socket, tcpSocket }: ClosingConnection): void {
  if ('encrypted' in tcpSocket) {
    tcpSocket.destroy();
    return;
  }
  // A writable socket would send a FIN before the reset, which some clients take for a regular close.
  Object.assign(tcpSocket, { writable: false }).resetAndDestroy();
  tcpSocket.destroy();
  socket.destroy();
}
