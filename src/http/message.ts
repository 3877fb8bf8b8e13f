import { CollectedBytes } from './collected-bytes.ts';
import { type FieldLine, Fields } from './fields.ts';
import { contentTooLarge } from './problem.ts';
import type { WireFault } from './wire-fault.ts';

/** Whether a message of this status never has content (RFC 9110 §15.3.5, §15.3.6, §15.4.5). */
export function neverHasContent(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

/** What is known about where a request came from. */
export interface Connection {
  /** The peer's address, without its port. */
  readonly peer: string;
  /** Whether the request arrived over TLS. */
  readonly secure: boolean;
}

/** The content of a request while it is still on its way. */
export interface Body {
  /** Whether the request has content at all, be it of length 0 (RFC 9112 §6.3). */
  readonly present: boolean;
  /**
   * Hands each chunk to `sink` as it arrives and resolves when the content is whole. Sends 100 Continue first
   * where the client waits for it. Rejects with what `sink` throws, or with a Problem (400, 408) when the
   * content breaks off, breaks its framing or is too slow. May be called once.
   */
  consume(sink: (chunk: Uint8Array) => void): Promise<void>;
  /**
   * Reads the content ahead, as sent, for who has to see it before it is that content's turn; `consume` then hands it over all the
   * same. Rejects as `consume` does, and with a Problem (413) when it has more than `limit` bytes. Gives the same bytes when called again.
   */
  hold(limit: number): Promise<Uint8Array>;
}

/** A request as a value; nothing in it has been judged yet. */
export interface Request {
  /** As sent: `GET`. */
  readonly method: string;
  /** The request target as sent, byte for byte, each octet one character. */
  readonly target: string;
  /** `1.0`, `1.1`. */
  readonly version: string;
  readonly fields: Fields;
  readonly body: Body;
  readonly connection: Connection;
}

/** A reply as a value. Only the listener turns it into bytes on a socket. */
export interface Response {
  readonly status: number;
  /** In the order they are written. `Content-Length`, `Connection` and framing are the listener's own. */
  readonly fields: FieldLine[];
  /** What is sent; undefined is no content at all (204, 304). */
  readonly content: string | Uint8Array | undefined;
  /** The content is left out, its length is told: the reply to HEAD (RFC 9110 §9.3.2). */
  readonly headOnly?: boolean;
  /** The connection ends after this reply. */
  readonly close?: boolean;
  /** What goes wrong on purpose while it is sent, in a test double. */
  readonly fault?: WireFault;
  /** Called when there is nobody any more whom it could be sent to, or who has at least ended its own side by then. */
  readonly onAbandoned?: () => void;
}

/** What a request is made of when code makes it: everything but the method and the target may be left out. */
export interface RequestParts {
  method: string;
  target: string;
  /** Field lines in the order to be sent. `Host` is added when it is left out. */
  fields?: readonly (readonly [string, string])[];
  /** The content; a string is sent as UTF-8. */
  content?: string | Uint8Array;
  peer?: string;
  secure?: boolean;
}

/** Makes a request in memory, the same kind of value that the listener makes of a socket's bytes. */
export function createRequest(parts: RequestParts): Request {
  const raw = (parts.fields ?? []).flat();
  const fields = new Fields(raw);
  const completed = fields.has('host') ? fields : new Fields(['Host', 'localhost', ...raw]);
  return {
    method: parts.method,
    target: parts.target,
    version: '1.1',
    fields: completed,
    body: bodyOf(parts.content),
    connection: { peer: parts.peer ?? '127.0.0.1', secure: parts.secure ?? false },
  };
}

/** All that `flow` hands over, in one piece. Rejects with a Problem (413) when it has more than `limit` bytes. */
export async function readAll(
  limit: number,
  flow: (take: (chunk: Uint8Array) => void) => Promise<void>,
): Promise<Uint8Array> {
  const collected = new CollectedBytes();
  let length = 0;
  await flow((chunk) => {
    length += chunk.length;
    if (length > limit) throw contentTooLarge(limit);
    collected.write(chunk);
  });
  return collected.bytes;
}

function bodyOf(content: string | Uint8Array | undefined): Body {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return {
    present: bytes !== undefined,
    async consume(sink) {
      if (bytes !== undefined && bytes.length > 0) sink(bytes);
    },
    async hold(limit) {
      return readAll(limit, async (take) => {
        if (bytes !== undefined) take(bytes);
      });
    },
  };
}
