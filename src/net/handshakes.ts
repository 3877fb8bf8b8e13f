import type { Socket } from 'node:net';

/**
 * The connections that TLS has not agreed on yet. Node hands out another socket when it has; that it is the same
 * connection is seen by its other end.
 */
export class Handshakes {
  readonly #sockets = new Map<string, Socket>();

  /** How many there are. */
  get size(): number {
    return this.#sockets.size;
  }

  /** Takes a connection that was just accepted; `gone` is told if it closes before TLS has agreed. */
  begin(socket: Socket, gone: () => void): void {
    const end = otherEnd(socket);
    this.#sockets.set(end, socket);
    socket.once('close', () => {
      // The same client may have come again from the same port.
      if (this.#sockets.get(end) === socket) this.#sockets.delete(end);
      gone();
    });
  }

  /** Lets go of the connection that this socket of TLS is on. */
  finish(socket: Socket): void {
    this.#sockets.delete(otherEnd(socket));
  }

  /** Ends them all. */
  destroy(): void {
    for (const socket of this.#sockets.values()) socket.destroy();
  }
}

function otherEnd(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}
