/** Takes a document's bytes as they arrive and gives what it means. */
export interface Decoder {
  /** Takes the next bytes. Throws a Problem as soon as the document cannot be right any more. */
  write(bytes: Uint8Array): void;
  /** The document is whole: gives its value, or throws a Problem with every fault found. */
  end(): unknown;
}
