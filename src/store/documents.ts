/** A document and the version of its content. */
export interface StoredDocument {
  /** The bytes of the document. */
  readonly content: Uint8Array;
  /** Identifies the content. Each replacement has another one. */
  readonly version: string;
}

/**
 * Stores a few small documents, which several processes share: the account files and the master key. Implementations
 * reject with StoreError if they cannot be reached.
 */
export interface DocumentStore {
  /** Describes the location, for messages: `PostgreSQL, schema "countersign"`. */
  readonly location: string;
  /** Returns a document; undefined if there is none. */
  read(name: string): Promise<StoredDocument | undefined>;
  /**
   * Replaces a document if it has the expected version, as one atomic step. Resolves to its new version, or to undefined
   * if it has another version.
   *
   * @param expected undefined if the document must not exist
   */
  replace(name: string, content: Uint8Array, expected: string | undefined): Promise<string | undefined>;
  /** Calls `onChange` at most a second after a document may have changed. Returns a function that stops the calls. */
  watch(onChange: () => void): () => void;
}
