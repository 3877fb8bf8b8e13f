/** What may go wrong on purpose while a reply is sent. The connection ends with such a reply. */
export interface WireFault {
  /** The content is sent at so many bytes a second. */
  readonly dribble?: number;
  /** How it breaks; left out, it is only slow. A reply without content has nothing that could break but by a reset at 0. */
  readonly break?: WireBreak;
}

/**
 * How a reply breaks. `truncate`: the connection ends in order after so many bytes of the content. `reset`: it ends with a
 * reset, after so many bytes of the content or, where that is undefined, before anything of the reply. `badChunk`: the
 * content comes in chunks (RFC 9112 §7.1), and the size of the second one is no number. `wrongLength`: Content-Length
 * is off by so many bytes, one way or the other.
 */
export type WireBreak =
  | { readonly kind: 'truncate'; readonly after: number }
  | { readonly kind: 'reset'; readonly after: number | undefined }
  | { readonly kind: 'badChunk' }
  | { readonly kind: 'wrongLength'; readonly by: number };
