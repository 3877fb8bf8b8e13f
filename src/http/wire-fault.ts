/** A fault that is injected while a response is sent. The connection is closed after such a response. */
export interface WireFault {
  /** Throttles the content to this many bytes a second. */
  readonly dribble?: number | undefined;
  /** How the response breaks. Default: it does not. A response without content can break only by a reset at 0, or by `close`. */
  readonly break?: WireBreak | undefined;
}

/**
 * How a response breaks. `truncate`: the connection is closed after this many bytes of the content. `reset`: the connection is
 * reset after this many bytes of the content or, if undefined, before any byte of the response. `badChunk`: the content is
 * chunked (RFC 9112 §7.1), and the size of the second chunk is not a number. `wrongLength`: Content-Length is wrong by this
 * many bytes, positive or negative. `close`: the connection is closed in order, before any byte of the response.
 */
export type WireBreak =
  | { readonly kind: 'truncate'; readonly after: number }
  | { readonly kind: 'reset'; readonly after: number | undefined }
  | { readonly kind: 'close' }
  | { readonly kind: 'badChunk' }
  | { readonly kind: 'wrongLength'; readonly by: number };

/** Returns whether no byte of the response is sent. */
export function isSilent({ break: broken }: WireFault): boolean {
  return broken?.kind === 'close' || (broken?.kind === 'reset' && broken.after === undefined);
}
