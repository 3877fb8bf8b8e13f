/** Something with a reply that is ready to be written. */
interface Sender {
  send(): void;
}

/**
 * Gathers the replies that become ready in one turn of the event loop and has them written together at its end. Each
 * write to a socket wakes who waits for it: written one by one between the requests, that costs more than the write.
 */
export class Outbox {
  #senders: Sender[] = [];
  readonly #sendAll = (): void => {
    const senders = this.#senders;
    this.#senders = [];
    for (const sender of senders) sender.send();
  };

  /** Has the sender asked to send before anything else arrives. */
  add(sender: Sender): void {
    if (this.#senders.length === 0) setImmediate(this.#sendAll);
    this.#senders.push(sender);
  }
}
