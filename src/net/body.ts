import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Body, readAll } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import { setImmediate } from '../timers.ts';
import type { ByteBudget } from './byte-budget.ts';

/** The content of a request that arrives on a socket. */
export class IncomingBody implements Body {
  readonly present: boolean;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  #awaitsContinue: boolean;
  #failure: Problem | undefined;
  #consumed = false;
  #received = 0;
  /** The budget from which the content takes its bytes; undefined if it takes none, or no longer. */
  #budget: ByteBudget | undefined;
  #taken = 0;
  #held: Promise<Uint8Array> | undefined;
  #reject: ((reason: unknown) => void) | undefined;

  /**
   * @param awaitsContinue Whether the client waits for 100 Continue before it sends.
   * @param budget The budget of content that is not authenticated. Default: none.
   */
  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    present: boolean,
    awaitsContinue: boolean,
    budget?: ByteBudget,
  ) {
    this.#request = request;
    this.#response = response;
    this.present = present;
    this.#awaitsContinue = awaitsContinue;
    this.#budget = budget;
  }

  get received(): number {
    return this.#received;
  }

  /** Whether the client still waits for 100 Continue. */
  get awaitsContinue(): boolean {
    return this.#awaitsContinue;
  }

  /** Whether all content was read. With a length, that is known before node:http reports the end of the message. */
  get isWhole(): boolean {
    const { complete, headers, readableLength } = this.#request;
    return readableLength === 0 && (complete || this.#received === Number(headers['content-length']));
  }

  /** The reason why the content will never be complete; undefined if there is none so far. */
  get failure(): Problem | undefined {
    return this.#failure;
  }

  /** Reports that the content will never be complete. Only the first reason counts. */
  fail(problem: Problem): void {
    this.#failure ??= problem;
    this.#reject?.(this.#failure);
  }

  consume(sink: (chunk: Uint8Array) => void): Promise<void> {
    if (this.#consumed) return Promise.reject(new TypeError('the content was already consumed'));
    this.#consumed = true;
    return this.#held === undefined ? this.#receive(sink) : passOn(this.#held, sink);
  }

  hold(limit: number): Promise<Uint8Array> {
    this.#held ??= readAll(limit, (take) => this.#receive(take));
    return this.#held;
  }

  release(): void {
    this.#budget?.giveBack(this.#taken);
    this.#budget = undefined;
  }

  #receive(sink: (chunk: Uint8Array) => void): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (!this.present) return Promise.resolve();
    if (this.#awaitsContinue) this.#sendContinue();
    return this.#flow(sink);
  }

  /** Reads and drops the rest of the content, up to its 'end' event. */
  discard(): void {
    this.#request.resume();
  }

  #sendContinue(): void {
    this.#awaitsContinue = false;
    // After this packet has been parsed, it is known whether the client really waits (RFC 9110 §10.1.1).
    setImmediate(() => {
      if (!this.#request.complete && !this.#response.headersSent) this.#response.writeContinue();
    });
  }

  async #flow(sink: (chunk: Uint8Array) => void): Promise<void> {
    const request = this.#request;
    // Short content is in the packet of the header section, which is parsed to its end before this continues.
    if (!request.complete) await undefined;
    if (this.#failure !== undefined) throw this.#failure;
    this.#readBuffered(sink);
    if (!this.isWhole) await this.#readRest(sink);
  }

  /** Reads what has arrived, which is all of a short content. Using events instead would cost more than everything else. */
  #readBuffered(sink: (chunk: Uint8Array) => void): void {
    const request = this.#request;
    while (request.readableLength > 0) {
      // With a size, `read` does not start the events of the end.
      const chunk: unknown = request.read(request.readableLength);
      if (!(chunk instanceof Uint8Array)) return;
      this.#count(chunk.length);
      sink(chunk);
    }
  }

  #count(bytes: number): void {
    this.#received += bytes;
    if (this.#budget === undefined) return;
    if (!this.#budget.take(bytes)) throw budgetExceeded();
    this.#taken += bytes;
  }

  #readRest(sink: (chunk: Uint8Array) => void): Promise<void> {
    const request = this.#request;
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        request.removeListener('data', take);
        request.removeListener('end', finish);
        this.#reject = undefined;
      };
      const take = (chunk: Uint8Array): void => {
        try {
          this.#count(chunk.length);
          sink(chunk);
        } catch (cause) {
          stop();
          request.pause();
          reject(cause);
        }
      };
      // 'end' is emitted only for a complete message. An incomplete one is destroyed, or failed by `fail`.
      const finish = (): void => {
        stop();
        resolve();
      };
      this.#reject = (reason) => {
        stop();
        reject(reason);
      };
      request.on('data', take);
      request.on('end', finish);
    });
  }
}

function budgetExceeded(): Problem {
  return new Problem('full', 'The server holds too much content of requests that are not authenticated.', {
    headers: [['Retry-After', '1']],
    close: true,
  });
}

async function passOn(held: Promise<Uint8Array>, sink: (chunk: Uint8Array) => void): Promise<void> {
  const content = await held;
  if (content.length > 0) sink(content);
}
