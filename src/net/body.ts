import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Body, readAll } from '../http/message.ts';
import type { Problem } from '../http/problem.ts';
import { setImmediate } from '../timers.ts';

/** The content of a request that a socket is still bringing. */
export class IncomingBody implements Body {
  readonly present: boolean;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  #awaited: boolean;
  #failure: Problem | undefined;
  #consumed = false;
  #held: Promise<Uint8Array> | undefined;
  #reject: ((reason: unknown) => void) | undefined;

  /** `awaited` says that the client waits for 100 Continue before it sends. */
  constructor(request: IncomingMessage, response: ServerResponse, present: boolean, awaited: boolean) {
    this.#request = request;
    this.#response = response;
    this.present = present;
    this.#awaited = awaited;
  }

  /** Whether the client still waits for 100 Continue. */
  get awaited(): boolean {
    return this.#awaited;
  }

  /** Why the content will never be whole, once that is known. */
  get failure(): Problem | undefined {
    return this.#failure;
  }

  /** Tells that the content will never be whole. Only the first reason counts. */
  fail(problem: Problem): void {
    this.#failure ??= problem;
    this.#reject?.(this.#failure);
  }

  consume(sink: (chunk: Uint8Array) => void): Promise<void> {
    if (this.#consumed) return Promise.reject(new TypeError('the content was consumed before'));
    this.#consumed = true;
    return this.#held === undefined ? this.#receive(sink) : handOver(this.#held, sink);
  }

  hold(limit: number): Promise<Uint8Array> {
    this.#held ??= readAll(limit, (take) => this.#receive(take));
    return this.#held;
  }

  #receive(sink: (chunk: Uint8Array) => void): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (!this.present) return Promise.resolve();
    if (this.#awaited) this.#proceed();
    return this.#flow(sink);
  }

  /** Lets what is left of the content pass unseen. */
  discard(): void {
    this.#request.resume();
  }

  #proceed(): void {
    this.#awaited = false;
    // When this packet is parsed it is known whether the client has waited at all (RFC 9110 §10.1.1).
    setImmediate(() => {
      if (!this.#request.complete && !this.#response.headersSent) this.#response.writeContinue();
    });
  }

  #flow(sink: (chunk: Uint8Array) => void): Promise<void> {
    try {
      this.#takeArrived(sink);
    } catch (cause) {
      return Promise.reject(cause);
    }
    const request = this.#request;
    return request.complete && request.readableLength === 0 ? Promise.resolve() : this.#takeComing(sink);
  }

  /** Passes on what is here already, which is all of a short content: its events would cost more than all else. */
  #takeArrived(sink: (chunk: Uint8Array) => void): void {
    for (;;) {
      const chunk: unknown = this.#request.read();
      if (!(chunk instanceof Uint8Array)) return;
      sink(chunk);
    }
  }

  #takeComing(sink: (chunk: Uint8Array) => void): Promise<void> {
    const request = this.#request;
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        request.removeListener('data', take);
        request.removeListener('end', whole);
        this.#reject = undefined;
      };
      const take = (chunk: Uint8Array): void => {
        try {
          sink(chunk);
        } catch (cause) {
          stop();
          request.pause();
          reject(cause);
        }
      };
      // The end comes only after a whole message: one that is cut off is destroyed, or failed above.
      const whole = (): void => {
        stop();
        resolve();
      };
      this.#reject = (reason) => {
        stop();
        reject(reason);
      };
      request.on('data', take);
      request.on('end', whole);
    });
  }
}

async function handOver(held: Promise<Uint8Array>, sink: (chunk: Uint8Array) => void): Promise<void> {
  const content = await held;
  if (content.length > 0) sink(content);
}
