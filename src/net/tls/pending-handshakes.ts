import type { Socket } from 'node:net';

/**
 * The connections whose TLS handshake is not complete. Node emits a new socket when it is; both sockets have the same remote address
 * and port.
 */
export class Handshakes {
  readonly #sockets = new Map<string, { readonly socket: Socket; readonly since: number }>();

  /** The number of handshakes. */
  get size(): number {
    return this.#sockets.size;
  }

  /** The oldest handshake, and its sequence number; undefined if there is none. */
  get longest(): { readonly socket: Socket; readonly since: number } | undefined {
    for (const handshake of this.#sockets.values()) return handshake;
    return undefined;
  }

  /** Adds an accepted connection with its sequence number. Calls `closed` when the socket closes. */
  begin(socket: Socket, since: number, closed: () => void): void {
    const remote = formatRemote(socket);
    this.#sockets.delete(remote); // so that it becomes the last one
    this.#sockets.set(remote, { socket, since });
    socket.once('close', () => {
      // The same client may have connected again from the same port.
      if (this.#sockets.get(remote)?.socket === socket) this.#sockets.delete(remote);
      closed();
    });
  }

  /** Removes the handshake of a TCP socket or of the TLS socket on it. Returns the TCP socket; undefined if there is none. */
  finish(socket: Socket): Socket | undefined {
    const remote = formatRemote(socket);
    const tcpSocket = this.#sockets.get(remote)?.socket;
    this.#sockets.delete(remote);
    return tcpSocket;
  }

  /** Destroys all their sockets. */
  destroy(): void {
    for (const { socket } of this.#sockets.values()) socket.destroy();
  }
}

function formatRemote(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}
