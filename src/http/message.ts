import { CollectedBytes } from './collected-bytes.ts';
import { type FieldLine, HttpHeaders } from './fields.ts';
import { contentTooLarge } from './problem.ts';
import type { WireFault } from './wire-fault.ts';

/** Returns whether a message of this status never has content (RFC 9110 §15.3.5, §15.3.6, §15.4.5). */
export function neverHasContent(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

/** The connection on which a request arrived. */
export interface Connection {
  /** The peer's address, without its port. */
  readonly peer: string;
  /** Whether the request arrived over TLS. */
  readonly secure: boolean;
  /** Whether TLS is assumed where credentials require it, because a test stands in for a service over TLS. Default: false. */
  readonly assumesTls?: boolean;
  /** Returns false once the client has disconnected, or closed its sending side. Default: not known. */
  isOpen?(): boolean;
}

/** Returns whether a connection may carry secrets: over TLS, or where that is assumed. */
export function isConfidential({ secure, assumesTls = false }: Connection): boolean {
  return secure || assumesTls;
}

/** The content of a request, which may still be arriving. */
export interface Body {
  /** Whether the request has content, including content of length 0 (RFC 9112 §6.3). */
  readonly present: boolean;
  /** The bytes of content that were read so far, as sent. Undefined if they are not counted. */
  readonly received?: number;
  /**
   * Passes each chunk to `sink` as it arrives, and resolves when the content is complete. First sends 100 Continue if the client
   * waits for it. Rejects with what `sink` throws, or with a Problem (400, 408) if the content is incomplete, has invalid
   * framing, or is too slow. May be called once.
   */
  consume(sink: (chunk: Uint8Array) => void): Promise<void>;
  /**
   * Reads the content as sent and buffers it; `consume` can still be called. Returns the same bytes when called again. Rejects as
   * `consume` does, and with a Problem (413) if there are more than `limit` bytes.
   */
  hold(limit: number): Promise<Uint8Array>;
  /**
   * Stops counting the content as that of a request that is not authenticated, of which a server holds a limited amount; beyond it
   * reading rejects with a Problem (503). Undefined if it is not counted.
   */
  release?(): void;
}

/** A request, as the code of a resource reads it. */
export interface HttpRequest {
  /** The method as sent: `GET`. */
  readonly method: string;
  /** The request target as sent, path and query: `/a%2Db?c=1`. */
  readonly target: string;
  /** The normalized path: unreserved octets decoded, hexadecimal digits in upper case. */
  readonly path: string;
  /** The parameters of the query. */
  readonly query: URLSearchParams;
  /** The header fields. */
  readonly headers: HttpHeaders;
  /** The client's address, without its port. */
  readonly peer: string;
  /** Whether the request arrived over TLS. */
  readonly secure: boolean;
}

/** A request as a value, before it is handled. Nothing in it has been validated. */
export interface IncomingRequest {
  /** The method as sent: `GET`. */
  readonly method: string;
  /** The request target as sent, byte for byte; each octet is one character. */
  readonly target: string;
  /** `1.0` or `1.1`. */
  readonly version: string;
  readonly headers: HttpHeaders;
  readonly body: Body;
  readonly connection: Connection;
  /** The path prefix that a proxy removed, and that `target` has again: `/api`. Default: none. */
  readonly basePath?: string;
  /** Records the checks of credentials that an endpoint verifies itself. Set by an observer. */
  readonly trace?: object;
}

/** Returns whether a request has content that is not declared as empty. */
export function hasContent({ body, headers }: Pick<IncomingRequest, 'body' | 'headers'>): boolean {
  return body.present && headers.get('content-length') !== '0';
}

/** A response as a value. Only the listener writes it to a socket. */
export interface Response {
  readonly status: number;
  /** The fields in the order sent. The listener adds `Content-Length`, `Connection` and framing. */
  readonly headers: FieldLine[];
  /** The content; undefined for none (204, 304). */
  readonly body: string | Uint8Array | undefined;
  /** Whether only the length of the content is sent, as for HEAD (RFC 9110 §9.3.2). */
  readonly headOnly?: boolean;
  /** Whether the connection is closed after this response. */
  readonly close?: boolean;
  /** A fault to inject while the response is sent, in a test double. */
  readonly fault?: WireFault;
  /** Called if the client disconnected, or closed its sending side, before the response was sent. */
  readonly onAbandoned?: () => void;
  /** What is wrong with the response, for the journal of a double. */
  readonly warnings?: readonly string[];
  /** What an observer recorded of the exchange, for a caller in this process. */
  readonly record?: object;
}

/** The parts of a request that code creates. Only the method and the target are required. */
export interface RequestParts {
  method: string;
  target: string;
  /** The field lines in order. `Host` is added if it is missing. */
  headers?: readonly (readonly [string, string])[] | undefined;
  /** The content; a string is encoded as UTF-8. */
  body?: string | Uint8Array | undefined;
  /** The peer's address. Default: `127.0.0.1`. */
  peer?: string | undefined;
  /** Whether the request arrived over TLS. Default: false. */
  secure?: boolean | undefined;
}

/** Creates a request in memory, of the same type as the listener creates from a socket. */
export function createRequest(parts: RequestParts): IncomingRequest {
  const raw = (parts.headers ?? []).flat();
  const fields = new HttpHeaders(raw);
  const completed = fields.has('host') ? fields : new HttpHeaders(['Host', 'localhost', ...raw]);
  return {
    method: parts.method,
    target: parts.target,
    version: '1.1',
    headers: completed,
    body: createBody(parts.body),
    connection: { peer: parts.peer ?? '127.0.0.1', secure: parts.secure ?? false },
  };
}

/** Collects all chunks from `flow`. Rejects with a Problem (413) if there are more than `limit` bytes. */
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

function createBody(content: string | Uint8Array | undefined): Body {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return {
    present: bytes !== undefined,
    received: bytes?.length ?? 0,
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
