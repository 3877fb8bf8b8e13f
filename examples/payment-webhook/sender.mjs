import { createHmac } from 'node:crypto';

/** Delivers payment events to a subscriber. It signs them as Stripe does. */
export class EventSender {
  constructor({ url, secret, fetch = globalThis.fetch, now = Date.now }) {
    Object.assign(this, { url, secret, fetch, now });
  }

  /** Delivers an event, which is JSON as text. Resolves to whether the subscriber accepted it. */
  async deliver(event) {
    const headers = { 'Content-Type': 'application/json', 'Stripe-Signature': this.#sign(event) };
    const response = await this.fetch(this.url, { method: 'POST', headers, body: event });
    return response.ok;
  }

  #sign(event) {
    const seconds = Math.floor(this.now() / 1000);
    const signed = `${seconds}.${event}`;
    return `t=${seconds},v1=${createHmac('sha256', this.secret).update(signed).digest('hex')}`;
  }
}
