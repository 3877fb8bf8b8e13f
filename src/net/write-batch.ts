import { setImmediate } from '../timers.ts';

/** A connection with a response that is ready to be written. */
interface Sender {
  /** Writes the response. */
  send(): void;
}

/**
 * Collects the responses that become ready in one turn of the event loop, and writes them at its end. A write wakes the client's
 * process; between two requests, that costs more than the write itself.
 */
export class WriteBatch {
  #senders: Sender[] = [];
  readonly #sendAll = (): void => {
    const senders = this.#senders;
    this.#senders = [];
    for (const sender of senders) sender.send();
  };

  /** Calls `send` before the event loop polls for input again. */
  add(sender: Sender): void {
    if (this.#senders.length === 0) setImmediate(this.#sendAll);
    this.#senders.push(sender);
  }
}
