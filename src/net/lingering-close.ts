import type { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clearTimeout, setTimeout } from '../timers.ts';

/** Bytes that a client may still send after the last response before reading is paused. */
const drainedBytes = 256 * 1024;
/** Milliseconds within which it may send them. */
const drainedTime = 1000;

/**
 * Sends the last bytes, closes the sending side of a connection, then reads and drops for a while what still arrives. Closing a
 * socket with unread bytes sends a reset, which can overtake the response in the client (RFC 9112 §9.6). The connection is
 * destroyed if the client does not read the last bytes within `timeout` milliseconds; 0 is no limit.
 */
export function closeLingering(socket: Socket, timeout: number, last?: Uint8Array): void {
  // Nothing is parsed from here on: the listeners of node:http are removed, and adding the first new one releases the handle.
  socket.removeAllListeners('data');
  socket.removeAllListeners('end');
  let remaining = drainedBytes;
  socket.on('data', (chunk: Uint8Array) => {
    remaining -= chunk.length;
    if (remaining < 0) socket.pause();
  });
  const unread = timeout > 0 ? setTimeout(() => socket.destroy(), timeout).unref() : undefined;
  // When both sides are closed, the socket destroys itself.
  socket.once('finish', () => {
    clearTimeout(unread);
    const draining = setTimeout(() => socket.destroy(), drainedTime).unref();
    socket.once('close', () => clearTimeout(draining));
  });
  socket.once('close', () => clearTimeout(unread));
  if (last === undefined) socket.end();
  else socket.end(last);
  socket.resume();
}

/**
 * Ends a response with `Connection: close`, and closes the connection as `closeLingering` does. Node.js's own listener of 'finish'
 * would destroy the socket with unread bytes, so it is called when the connection has closed.
 */
export function endLingering(
  response: ServerResponse,
  content: string | Uint8Array | undefined,
  timeout: number,
): void {
  const { socket } = response;
  const advance = socket === null ? undefined : detachListener(response, 'finish', 'first');
  if (socket !== null && advance !== undefined)
    response.once('finish', () => {
      socket.prependOnceListener('close', advance);
      closeLingering(socket, timeout);
    });
  response.end(content);
}

/**
 * Removes a listener that node:http itself has added, and returns it, so that the caller can call it later. It is the first
 * listener of a new response, and the last one of a socket that was just accepted. Returns undefined if there is none.
 */
export function detachListener(
  emitter: EventEmitter,
  event: string,
  which: 'first' | 'last',
): (() => void) | undefined {
  const listener = emitter.listeners(event).at(which === 'first' ? 0 : -1);
  if (!isListener(listener)) return undefined;
  emitter.removeListener(event, listener);
  return () => listener.call(emitter);
}

function isListener(value: unknown): value is () => void {
  return typeof value === 'function';
}
