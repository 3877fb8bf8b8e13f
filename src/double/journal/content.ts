import type { Body } from '../../http/message.ts';

/** The content of a request, of which the first bytes that are read are kept for the journal. */
export class RecordedContent implements Body {
  readonly #body: Body;
  readonly #limit: number;
  readonly #chunks: Uint8Array[] = [];
  #kept = 0;
  #passed = 0;
  #held = false;

  /** Keeps at most `limit` bytes of what is read of the content. */
  constructor(body: Body, limit: number) {
    this.#body = body;
    this.#limit = limit;
  }

  get present(): boolean {
    return this.#body.present;
  }

  /** How many bytes the server has read. */
  get length(): number {
    return this.#passed;
  }

  /** What was kept. */
  get bytes(): Uint8Array {
    return Buffer.concat(this.#chunks);
  }

  consume(sink: (chunk: Uint8Array) => void): Promise<void> {
    if (this.#held) return this.#body.consume(sink);
    return this.#body.consume((chunk) => {
      this.#keep(chunk);
      sink(chunk);
    });
  }

  async hold(limit: number): Promise<Uint8Array> {
    const whole = await this.#body.hold(limit);
    if (!this.#held) this.#keep(whole);
    this.#held = true;
    return whole;
  }

  #keep(chunk: Uint8Array): void {
    this.#passed += chunk.length;
    const room = this.#limit - this.#kept;
    if (room <= 0) return;
    // The memory of a chunk may be reused, so it is copied.
    const copy = Uint8Array.prototype.slice.call(chunk, 0, room);
    this.#chunks.push(copy);
    this.#kept += copy.length;
  }
}
