import type { Observer } from './observer.ts';

/** One answered request in the access log. Contains no secrets. */
export interface AccessLogEntry {
  /** When the response was ready: milliseconds since 1970-01-01T00:00:00Z. */
  readonly time: number;
  /** The method as sent; `-` if it could not be read. */
  readonly method: string;
  /** The path as sent, without the query; `-` if it could not be read. */
  readonly path: string;
  /** The status code of the response. */
  readonly status: number;
  /** The name of the authenticated user or client; undefined for an anonymous request. */
  readonly principal: string | undefined;
  /** The scheme that authenticated the request: `hmac`. Undefined for an anonymous request. */
  readonly scheme: string | undefined;
  /** Microseconds from the end of the request's header section to the response. */
  readonly microseconds: number;
  /** The problem type, if the request was rejected. */
  readonly problem: string | undefined;
  /** The address of the client, also behind a trusted proxy; `-` if no request could be read. */
  readonly peer: string;
  /** The value of X-Request-Id, if it is usable, or else a new id. */
  readonly requestId: string;
  /** The value of traceparent (W3C Trace Context), if it is valid. */
  readonly traceparent: string | undefined;
  /** The bytes of content that were read. */
  readonly bytesReceived: number;
  /** The bytes of content in the response. */
  readonly bytesSent: number;
  /** The first 256 characters of User-Agent, as sent: it can contain control characters. */
  readonly userAgent: string | undefined;
}

/** Options of the pipeline. */
export interface PipelineOptions {
  /** Networks (CIDR) of trusted proxies. Default: none. */
  readonly trustProxy?: readonly string[] | undefined;
  /**
   * The path prefix that a proxy removes from request targets: `/api`. Signatures are verified over the target with the prefix, and
   * all paths in responses have it. Default: none.
   */
  readonly basePath?: string | undefined;
  /** Whether responses have the id of the request in X-Request-Id. Default: false. */
  readonly requestId?: boolean | undefined;
  /** Called for every answered request. */
  readonly onRequest?: ((entry: AccessLogEntry) => void) | undefined;
  /** Observes every request and response in full. Default: none, at no cost. @internal */
  readonly observer?: Observer | undefined;
  /** Called with internal errors, which a client sees as 500. Default: writes to standard error. */
  readonly onError?: ((error: unknown) => void) | undefined;
}
