import type { Socket } from 'node:net';

/** What a client may still send after the last reply without being cut off, in bytes. */
const drainedBytes = 256 * 1024;
/** How long it may, in milliseconds. */
const drainedTime = 1000;

/**
 * Sends the last bytes and ends this side of the connection; the other side is read and thrown away for a while.
 * A socket that is closed with bytes unread answers with a reset, and the reset can overtake the reply in
 * the client (RFC 9112 §9.6). A client that does not even take the last bytes has `patience` milliseconds.
 */
export function sayFarewell(socket: Socket, patience: number, last?: Uint8Array): void {
  // From here on nothing is parsed: the listeners of node:http go, and with the first of ours it lets go of the handle.
  socket.removeAllListeners('data');
  socket.removeAllListeners('end');
  let room = drainedBytes;
  socket.on('data', (chunk: Uint8Array) => {
    room -= chunk.length;
    if (room < 0) socket.pause();
  });
  // When both sides have ended, the socket destroys itself.
  socket.once('finish', () => {
    const timer = setTimeout(() => socket.destroy(), drainedTime).unref();
    socket.once('close', () => clearTimeout(timer));
  });
  socket.setTimeout(patience);
  if (last === undefined) socket.end();
  else socket.end(last);
  socket.resume();
}
