import type { Socket } from 'node:net';
import type { Response } from '../http/message.ts';
import type { WireFault } from '../http/wire-fault.ts';
import { clearInterval, clearTimeout, setInterval, setTimeout } from '../timers.ts';
import { closeLingering } from './lingering-close.ts';
import { contentSent, lastBytes } from './response-encoder.ts';

/** A reply in which something is wrong, as it is sent. */
export interface FaultyParts {
  readonly head: Uint8Array;
  readonly content: Uint8Array;
}

/** A connection on its last reply. */
interface Ending {
  readonly socket: Socket;
  /** What the socket is on, where it is one of TLS and that is known; itself otherwise. */
  readonly carrier: Socket;
  /** How long the client may leave the reply unread, in ms. */
  readonly patience: number;
}

/** Milliseconds between two pieces of content that comes slowly, unless a single byte takes longer. */
const dribbleInterval = 50;

/** Milliseconds that a client has to read what was sent before a reset. */
const readingTime = 20;

/** What is sent of a reply with this fault; `head` says that the request was HEAD. Throws if a field cannot be written. */
export function faultyParts(response: Response, fault: WireFault, head: boolean): FaultyParts {
  const message = Buffer.from(lastBytes(response, head));
  const split = message.indexOf('\r\n\r\n') + 4;
  const lines = message.toString('latin1', 0, split);
  const content = message.subarray(split);
  // Without content there is neither a length nor a chunk that a client could stumble over.
  if (contentSent(response, head) === undefined) return { head: message.subarray(0, split), content };
  switch (fault.break?.kind) {
    case 'truncate':
      return { head: latin1(lines), content: content.subarray(0, fault.break.after) };
    case 'reset':
      return { head: latin1(lines), content: content.subarray(0, fault.break.after ?? 0) };
    case 'wrongLength':
      return { head: latin1(withLength(lines, Math.max(0, content.length + fault.break.by))), content };
    case 'badChunk':
      return { head: latin1(chunked(lines)), content: badChunks(content) };
    case undefined:
      return { head: latin1(lines), content };
  }
}

const lengthLine = /^Content-Length: [0-9]+\r\n/m;

function withLength(lines: string, length: number): string {
  return lines.replace(lengthLine, `Content-Length: ${length}\r\n`);
}

function chunked(lines: string): string {
  return lines.replace(lengthLine, 'Transfer-Encoding: chunked\r\n');
}

/** The first half as a good chunk, the second as one whose size is no hexadecimal number. */
function badChunks(content: Uint8Array): Uint8Array {
  const half = Math.ceil(content.length / 2);
  const [first, second] = [content.subarray(0, half), content.subarray(half)];
  return Buffer.concat([latin1(`${half.toString(16)}\r\n`), first, latin1('\r\nnone\r\n'), second]);
}

function latin1(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

/** Sends the pieces, in time where they are to come slowly, and ends the connection in order or with a reset. */
export function sendFaulty(ending: Ending, { head, content }: FaultyParts, fault: WireFault): void {
  const resets = fault.break?.kind === 'reset';
  if (resets && fault.break.after === undefined) {
    reset(ending);
    return;
  }
  const end = (): void => (resets ? resetWhenRead(ending) : closeLingering(ending.socket, ending.patience));
  ending.socket.setTimeout(ending.patience);
  ending.socket.write(head);
  if (fault.dribble === undefined) ending.socket.write(content, end);
  else dribble(ending.socket, content, fault.dribble, end);
}

/** How content comes at so many bytes a second: pieces of `size` bytes, `interval` ms before each. */
export function dribbleOf(rate: number): { interval: number; size: number } {
  const interval = Math.max(dribbleInterval, 1000 / rate);
  return { interval, size: Math.max(1, Math.round((rate * interval) / 1000)) };
}

function dribble(socket: Socket, content: Uint8Array, rate: number, end: () => void): void {
  const { interval, size } = dribbleOf(rate);
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

/** A client that finds both at once takes what came before a reset for all, or nothing: it is given time to read. */
function resetWhenRead(ending: Ending): void {
  const timer = setTimeout(() => reset(ending), readingTime);
  ending.socket.once('close', () => clearTimeout(timer));
}

/** Of TLS only the socket underneath can be reset; where that is not known, it just ends. */
function reset({ socket, carrier }: Ending): void {
  if ('encrypted' in carrier) {
    carrier.destroy();
    return;
  }
  // A socket that is writable would send a FIN before the reset, which some clients take for an orderly end.
  Object.assign(carrier, { writable: false }).resetAndDestroy();
  carrier.destroy();
  socket.destroy();
}
