/**
 * Copies chunks into one buffer that grows. A list of copies would hold about 200 bytes for each, and a client may send its
 * content in chunks of one byte.
 */
export class CollectedBytes {
  #buffer = Buffer.alloc(0);
  #length = 0;

  /** Adds a copy of the chunk. */
  write(chunk: Uint8Array): void {
    const length = this.#length + chunk.length;
    if (length > this.#buffer.length) this.#grow(length);
    this.#buffer.set(chunk, this.#length);
    this.#length = length;
  }

  /** All bytes so far. They share memory with this object, which may be up to twice as large. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Makes room for `length` bytes: exactly that for the first chunk, then at least twice the room before. */
  #grow(length: number): void {
    const buffer = Buffer.allocUnsafe(Math.max(length, 2 * this.#buffer.length));
    buffer.set(this.bytes);
    this.#buffer = buffer;
  }
}

/** Returns a decoder that collects content and decodes it as a whole. */
export function decodeWhole<Value>(decode: (bytes: Buffer) => Value) {
  const collected = new CollectedBytes();
  return { write: (chunk: Uint8Array) => collected.write(chunk), end: () => decode(collected.bytes) };
}
