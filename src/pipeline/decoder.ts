/** Decodes a document incrementally. */
export interface Decoder {
  /** Accepts the next bytes. Throws a Problem as soon as the document is known to be invalid. */
  write(bytes: Uint8Array): void;
  /** Ends the document. Returns its value, or throws a Problem with every error found. */
  end(): unknown;
}
