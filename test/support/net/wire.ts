import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectSecurely, createSecureContext, type SecureContext } from 'node:tls';
import type { TlsIdentity } from '../../../src/net/tls/identity.ts';
import { keepSaid } from '../transcript.ts';
import { transport } from './transport.ts';

/** A reply as it stood on the wire. */
export interface WireReply {
  readonly status: number;
  readonly reason: string;
  /** Names and values in the order sent. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly content: Buffer;
  /** The content as UTF-8. */
  readonly text: string;
  /** A field's only value; undefined when it is absent. Throws when it stands there twice. */
  field(name: string): string | undefined;
}

/** What came is not HTTP/1.1 to the letter. */
export class WireError extends Error {
  override readonly name = 'WireError';
}

/** How a connection ended: after a FIN, or by a reset. */
type Ending = 'closed' | 'reset';

const statusLine = /^HTTP\/1\.1 ([1-5][0-9]{2}) ([\t\x20-\x7e]*)$/;
const fieldLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?([\t\x20-\x7e\x80-\xff]*)$/;

/** Reads replies out of bytes that come in any pieces. Takes nothing but what a strict sender writes. */
class ReplyReader {
  #chunks: Buffer[] = [];
  #bytes: Buffer = Buffer.alloc(0);
  #size = 0;
  #needed = 0;

  /** Adds bytes as they arrived. */
  push(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.#size += bytes.length;
  }

  /** Whether bytes are left that no reply has taken. */
  get pending(): boolean {
    return this.#size > 0;
  }

  /** The next reply if it is whole; `head` says that it answers HEAD. Throws a WireError at the first fault. */
  next(head = false): WireReply | undefined {
    if (this.#size < this.#needed) return undefined;
    this.#bytes = Buffer.concat([this.#bytes, ...this.#chunks.splice(0)]);
    const end = this.#bytes.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const lines = this.#bytes.toString('latin1', 0, end).split('\r\n');
    const status = statusLine.exec(lines[0] ?? '');
    if (status === null) throw new WireError(`not a status line: ${JSON.stringify(lines[0])}`);
    const fields = lines.slice(1).map(parseField);
    const code = Number(status[1]);
    const from = end + 4;
    const length = computeLength(code, fields, head);
    this.#needed = from + length;
    if (this.#size < this.#needed) return undefined;
    const content = this.#bytes.subarray(from, from + length);
    keepSaid(this.#bytes.toString('utf8', 0, from + length));
    this.#bytes = this.#bytes.subarray(from + length);
    this.#size -= from + length;
    this.#needed = 0;
    return buildReply(code, status[2] ?? '', fields, content);
  }
}

function parseField(line: string): [string, string] {
  const parts = fieldLine.exec(line);
  if (parts === null) throw new WireError(`not a field line: ${JSON.stringify(line)}`);
  return [parts[1] ?? '', parts[2] ?? ''];
}

function valueIn(fields: readonly (readonly [string, string])[], name: string): string | undefined {
  const values = fields.filter(([known]) => known.toLowerCase() === name.toLowerCase());
  if (values.length > 1) throw new WireError(`${name} was sent ${values.length} times`);
  return values[0]?.[1];
}

/** The length of the content that follows (RFC 9112 §6.3); a server of this kind always declares it. */
function computeLength(
  status: number,
  fields: readonly (readonly [string, string])[],
  head: boolean,
): number {
  if (valueIn(fields, 'Transfer-Encoding') !== undefined) throw new WireError('the reply is chunked');
  const declared = valueIn(fields, 'Content-Length');
  if (declared !== undefined && !/^(0|[1-9][0-9]*)$/.test(declared))
    throw new WireError(`Content-Length is ${declared}`);
  const bare = status < 200 || status === 204 || status === 304;
  if (bare && declared !== undefined) throw new WireError(`${status} with a Content-Length`);
  if (bare) return 0;
  if (declared === undefined) throw new WireError(`${status} without a Content-Length`);
  return head ? 0 : Number(declared);
}

function buildReply(
  status: number,
  reason: string,
  fields: readonly (readonly [string, string])[],
  content: Buffer,
): WireReply {
  return {
    status,
    reason,
    fields,
    content,
    text: content.toString('utf8'),
    field: (name) => valueIn(fields, name),
  };
}

/** One connection to a server on the loopback, spoken to in bytes. */
export class Wire {
  readonly socket: Socket;
  /** Resolves when the connection is gone. */
  readonly ending: Promise<Ending>;
  readonly #carrier: Socket;
  readonly #reader = new ReplyReader();
  #wake: () => void = () => undefined;
  #over = false;

  /** `carrier` is what the socket is on, where it is one of TLS. */
  constructor(socket: Socket, carrier = socket) {
    this.socket = socket;
    this.#carrier = carrier;
    this.ending = new Promise((resolve) => {
      socket.once('error', () => undefined);
      socket.once('close', (failed) => {
        this.#over = true;
        this.#wake();
        resolve(failed ? 'reset' : 'closed');
      });
    });
    socket.on('data', (bytes) => {
      this.#reader.push(bytes);
      this.#wake();
    });
    socket.on('end', () => {
      this.#over = true;
      this.#wake();
    });
  }

  /** Sends bytes; a string stands for octets (latin1). Resolves when the system has taken them, or never will. */
  async send(bytes: string | Uint8Array): Promise<void> {
    const taken = new Promise<void>((resolve) => {
      this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes, () => resolve());
    });
    await Promise.race([taken, this.ending]);
  }

  /** The next reply, 1xx ones too. Rejects when the server ends the connection before one is whole. */
  async reply(head = false): Promise<WireReply> {
    const reply = await this.next(head);
    if (reply === undefined) throw new WireError('the connection ended without a reply');
    return reply;
  }

  /** The next reply; undefined when the server has ended its side and every byte was read. */
  async next(head = false): Promise<WireReply | undefined> {
    for (;;) {
      const reply = this.#reader.next(head);
      if (reply !== undefined) return reply;
      if (this.#over && this.#reader.pending) throw new WireError('the connection ended within a reply');
      if (this.#over) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Every reply until the server ends its side. */
  async rest(head = false): Promise<WireReply[]> {
    const replies: WireReply[] = [];
    for (let reply = await this.next(head); reply !== undefined; reply = await this.next(head))
      replies.push(reply);
    return replies;
  }

  /** Ends this side and leaves the other open. */
  finish(): void {
    this.socket.end();
  }

  /** Ends the connection with a reset. */
  reset(): void {
    this.#carrier.resetAndDestroy();
  }

  /** Lets the connection go, and waits until it is gone. */
  async close(): Promise<void> {
    this.socket.destroy();
    await this.ending;
  }
}

/** Opens a connection to a port of this host, over what the test's file has for a transport. */
export async function open(port: number, host = '127.0.0.1'): Promise<Wire> {
  const socket = connect({ port, host, allowHalfOpen: true, noDelay: true });
  await once(socket, 'connect');
  return transport.tls === undefined ? new Wire(socket) : openSecurely(socket, transport.tls);
}

let trusted: { readonly cert: string | Buffer; readonly context: SecureContext } | undefined;

/** Returns a context that trusts this certificate. Creating one costs more than the handshake. */
function contextFor(cert: string | Buffer): SecureContext {
  if (trusted?.cert !== cert) trusted = { cert, context: createSecureContext({ ca: cert }) };
  return trusted.context;
}

/** Puts TLS on a connection; whether it is agreed on or the server ends it, is seen on the wire that comes out. */
async function openSecurely(carrier: Socket, { cert }: TlsIdentity): Promise<Wire> {
  const socket = connectSecurely({
    socket: carrier,
    secureContext: contextFor(cert),
    servername: 'localhost',
  });
  const wire = new Wire(socket, carrier);
  await Promise.race([new Promise((resolve) => socket.once('secureConnect', resolve)), wire.ending]);
  return wire;
}

/** Sends bytes on a new connection, ends its side, and gives every reply until the server has ended its own. */
export async function exchange(port: number, bytes: string | Uint8Array, head = false): Promise<WireReply[]> {
  const wire = await open(port);
  await wire.send(bytes);
  wire.finish();
  const replies = await wire.rest(head);
  await wire.close();
  return replies;
}
