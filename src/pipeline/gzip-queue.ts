import { promisify } from 'node:util';
import { Slots } from './slots.ts';

/**
 * The number of concurrent operations. Node.js has four threads for zlib, scrypt and files together, and passwords use at most two
 * (`auth/hash-queue.ts`). With one for gzip, at least one is always free for files, and neither queue delays the other.
 */
const concurrency = 1;

/** The number of operations that may wait; further responses are sent uncompressed. */
const maxWaiting = 16;

/** Returns zlib, which is loaded on first use. */
const zlib = (): typeof import('node:zlib') => process.getBuiltinModule('node:zlib');

/** Compresses and decompresses outside the event loop, with bounded concurrency. */
export class GzipQueue {
  readonly #slots = new Slots(concurrency);

  /** Compresses content. Returns undefined if too many operations wait; the content is then sent uncompressed. */
  pack(content: string | Uint8Array): Promise<Uint8Array> | undefined {
    return this.#slots.waiting >= maxWaiting
      ? undefined
      : this.#slots.run(() => promisify(zlib().gzip)(content));
  }

  /** Decompresses content. Rejects as zlib does, with ERR_BUFFER_TOO_LARGE if it exceeds `limit` bytes. */
  unpack(content: Uint8Array, limit: number): Promise<Uint8Array> {
    return this.#slots.run(() => promisify(zlib().gunzip)(content, { maxOutputLength: limit }));
  }
}
