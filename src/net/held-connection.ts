import { Duplex } from 'node:stream';

/**
 * A connection that collects one request and sends it in three pieces: the header section without its last byte, then all
 * but the last byte of the request, then that byte. Several connections that send their pieces in turn deliver their
 * requests at the same time, whether the server acts on the header section or on the whole request.
 */
export class HeldConnection extends Duplex {
  readonly #socket: Duplex;
  readonly #pending: Buffer[] = [];

  constructor(socket: Duplex) {
    super();
    this.#socket = socket;
    socket.on('data', (bytes: Buffer) => {
      if (!this.push(bytes)) socket.pause();
    });
    socket.once('end', () => this.push(null));
    socket.once('error', (error) => this.destroy(error));
    // A response that ended normally may still be unread.
    socket.once('close', (failed: boolean) => failed && this.destroy());
  }

  /** Returns the three pieces of the collected request. */
  pieces(): readonly Buffer[] {
    const bytes = Buffer.concat(this.#pending);
    const headerEnd = bytes.indexOf('\r\n\r\n') + 3;
    const last = bytes.length - 1;
    return [bytes.subarray(0, headerEnd), bytes.subarray(headerEnd, last), bytes.subarray(last)];
  }

  /** Sends a piece. Resolves when it is handed to the operating system, or if the connection has failed. */
  transmit(piece: Buffer | undefined): Promise<void> {
    if (this.destroyed || piece === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      this.#socket.write(piece, () => resolve());
    });
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#pending.push(chunk);
    done();
  }

  override _final(done: () => void): void {
    this.#socket.end();
    done();
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
