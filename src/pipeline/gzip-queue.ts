import { promisify } from 'node:util';

/**
 * How many are coded at a time. Node.js has four threads for zlib, scrypt and files together, and passwords take at most two
 * (`auth/hash-queue.ts`): with one more for gzip, at least one is always free for files, and neither queue delays the other.
 */
const atOnce = 1;

/** Replies that wait to be compressed; further ones are sent as they are. */
const room = 16;

/** Returns zlib, which is loaded when something is compressed first. */
const zlib = (): typeof import('node:zlib') => process.getBuiltinModule('node:zlib');

/** Compresses and decompresses off the event loop, a few at a time. */
export class GzipQueue {
  readonly #waiting: (() => void)[] = [];
  #underway = 0;

  /** Compresses content; undefined where too many others wait, and the content is to be sent as it is. */
  pack(content: string | Uint8Array): Promise<Uint8Array> | undefined {
    return this.#waiting.length >= room ? undefined : this.#run(() => promisify(zlib().gzip)(content));
  }

  /** Decompresses content. Rejects as zlib does, with ERR_BUFFER_TOO_LARGE where it has more than `limit` bytes. */
  unpack(content: Uint8Array, limit: number): Promise<Uint8Array> {
    return this.#run(() => promisify(zlib().gunzip)(content, { maxOutputLength: limit }));
  }

  async #run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#underway >= atOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#underway += 1;
    try {
      return await work();
    } finally {
      // The next one takes over the place of this one.
      const next = this.#waiting.shift();
      if (next === undefined) this.#underway -= 1;
      else next();
    }
  }
}
