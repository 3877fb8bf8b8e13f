import type { Body, IncomingRequest } from '../../http/message.ts';
import { clearTimeout, setTimeout } from '../../timers.ts';

/** The longest content, in bytes, that is read for an explanation, and how long (ms) it is waited for. */
const maxExplained = 64 * 1024;
const maxWait = 100;

/**
 * Reads the content of a request that was refused without reading it. Resolves to undefined if the content is long, if
 * the client waits for 100 Continue, or if it does not arrive at once. Never rejects.
 */
export function readArrivedContent({
  body,
  headers: fields,
}: IncomingRequest): Promise<Uint8Array | undefined> {
  const length = Number(fields.get('content-length') ?? 0);
  if (!body.present || length > maxExplained || fields.has('expect')) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), maxWait);
    const stop = (content?: Uint8Array): void => {
      clearTimeout(timer);
      resolve(content);
    };
    body.hold(maxExplained).then(stop, () => stop());
  });
}

/** The content of a request. Its first bytes are recorded for the journal when the server reads them. */
export class RecordedContent implements Body {
  readonly #body: Body;
  readonly #limit: number;
  readonly #chunks: Uint8Array[] = [];
  #recorded = 0;
  #length = 0;
  #held = false;

  /** Records at most `limit` bytes. */
  constructor(body: Body, limit: number) {
    this.#body = body;
    this.#limit = limit;
  }

  get present(): boolean {
    return this.#body.present;
  }

  get received(): number {
    return this.#body.received ?? this.#length;
  }

  /** The number of bytes that the server has read. */
  get length(): number {
    return this.#length;
  }

  /** The recorded bytes. */
  get bytes(): Uint8Array {
    return Buffer.concat(this.#chunks);
  }

  consume(sink: (chunk: Uint8Array) => void): Promise<void> {
    if (this.#held) return this.#body.consume(sink);
    return this.#body.consume((chunk) => {
      this.#record(chunk);
      sink(chunk);
    });
  }

  async hold(limit: number): Promise<Uint8Array> {
    const whole = await this.#body.hold(limit);
    if (!this.#held) this.#record(whole);
    this.#held = true;
    return whole;
  }

  release(): void {
    this.#body.release?.();
  }

  #record(chunk: Uint8Array): void {
    this.#length += chunk.length;
    const room = this.#limit - this.#recorded;
    if (room <= 0) return;
    // The memory of a chunk may be reused, so it is copied.
    const copy = Uint8Array.prototype.slice.call(chunk, 0, room);
    this.#chunks.push(copy);
    this.#recorded += copy.length;
  }
}
