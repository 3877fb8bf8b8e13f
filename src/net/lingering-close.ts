import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clearTimeout, setTimeout } from '../timers.ts';
import { detachListener } from './detach-listener.ts';

/** Bytes that a client may still send after the last response. */
const drainedBytes = 256 * 1024;
/** Milliseconds in which it may send them. */
const drainedTime = 1000;

/**
 * Sends the last bytes and closes the sending side of a connection; what still arrives is read and dropped for a while.
 * A socket that is closed with bytes unread answers with a reset, and the reset can overtake the response in
 * the client (RFC 9112 §9.6). If the client does not read the last bytes within `timeout` milliseconds, the connection is
 * destroyed, whatever it sends meanwhile; 0 is no limit.
 */
export function closeLingering(socket: Socket, timeout: number, last?: Uint8Array): void {
  // From here on nothing is parsed: the listeners of node:http are removed, and with the first of ours it releases the handle.
  socket.removeAllListeners('data');
  socket.removeAllListeners('end');
  let room = drainedBytes;
  socket.on('data', (chunk: Uint8Array) => {
    room -= chunk.length;
    if (room < 0) socket.pause();
  });
  const unread = timeout > 0 ? setTimeout(() => socket.destroy(), timeout).unref() : undefined;
  // When both sides have ended, the socket destroys itself.
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
 * Ends a response whose header section says that the connection closes, and closes it as above. Node.js's own listener of
 * 'finish' would destroy the socket with bytes unread; it runs when the connection has closed.
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
