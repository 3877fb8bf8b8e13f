/** A fault that is injected while a response is sent. The connection is closed after such a response. */
export interface WireFault {
  /** Throttles the content to this many bytes a second. */
  readonly dribble?: number | undefined;
  /** How the response breaks. Default: it does not. A response without content can break only by a reset at 0. */
  readonly break?: WireBreak | undefined;
}

/**
 * How a response breaks. `truncate`: the connection is closed after this many bytes of the content. `reset`: the connection is
 * reset after this many bytes of the content or, if undefined, before any byte of the response. `badChunk`: the content is
 * chunked (RFC 9112 §7.1), and the size of the second chunk is not a number. `wrongLength`: Content-Length is wrong by this
 * many bytes, positive or negative.
 */
export type WireBreak =
  | { readonly kind: 'truncate'; readonly after: number }
  | { readonly kind: 'reset'; readonly after: number | undefined }
  | { readonly kind: 'badChunk' }
  | { readonly kind: 'wrongLength'; readonly by: number };
