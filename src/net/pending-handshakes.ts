import type { Socket } from 'node:net';

/**
 * The connections that TLS has not agreed on yet. Node hands out another socket when it has; that it is the same
 * connection is seen by its other end.
 */
export class Handshakes {
  readonly #sockets = new Map<string, { readonly socket: Socket; readonly since: number }>();

  /** How many there are. */
  get size(): number {
    return this.#sockets.size;
  }

  /** The one that has been waited for the longest, and since which turn; undefined when there is none. */
  get longest(): { readonly socket: Socket; readonly since: number } | undefined {
    for (const handshake of this.#sockets.values()) return handshake;
    return undefined;
  }

  /**
   * Takes a connection that was just accepted, at the turn `since`; `gone` is told if it closes before TLS has agreed.
   */
  begin(socket: Socket, since: number, gone: () => void): void {
    const end = otherEnd(socket);
    this.#sockets.delete(end); // so that it stands last
    this.#sockets.set(end, { socket, since });
    socket.once('close', () => {
      // The same client may have come again from the same port.
      if (this.#sockets.get(end)?.socket === socket) this.#sockets.delete(end);
      gone();
    });
  }

  /** Lets go of the connection that this socket is of, or that this socket of TLS is on; gives its own socket. */
  finish(socket: Socket): Socket | undefined {
    const end = otherEnd(socket);
    const carrier = this.#sockets.get(end)?.socket;
    this.#sockets.delete(end);
    return carrier;
  }

  /** Ends them all. */
  destroy(): void {
    for (const { socket } of this.#sockets.values()) socket.destroy();
  }
}

function otherEnd(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}
