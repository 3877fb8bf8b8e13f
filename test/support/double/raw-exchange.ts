import { connect } from 'node:net';

/** What came over a connection, and how that ended. */
interface RawExchange {
  /** Each octet one character. */
  readonly bytes: string;
  readonly head: string;
  readonly content: string;
  readonly ending: 'closed' | 'reset';
}

/** Sends text or bytes to a port of this host and reads until the connection ends. */
export function rawExchange(url: string, text: string | Uint8Array): Promise<RawExchange> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let ending: RawExchange['ending'] = 'closed';
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => {
      ending = 'reset';
    });
    socket.on('data', (piece) => pieces.push(piece));
    socket.on('close', () => {
      const bytes = Buffer.concat(pieces).toString('latin1');
      const split = bytes.indexOf('\r\n\r\n') + 4;
      resolve({ bytes, head: bytes.slice(0, split), content: bytes.slice(split), ending });
    });
    socket.write(text);
  });
}

/** A GET of this path after which the connection ends. */
export function get(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
}
