import { createHash, createHmac } from 'node:crypto';

/** A client of an exchange that signs as Kraken documents: a hash of nonce and content is inside the signed message. */
export class ExchangeClient {
  #nonce = 0;

  constructor({ url, key, secret, fetch = globalThis.fetch, now = Date.now }) {
    Object.assign(this, { url, key, secret, fetch, now });
  }

  /** Resolves to the balance of each currency. */
  balance() {
    return this.#send('/0/private/Balance', {});
  }

  /** Buys at the market price. Resolves to the ids of the order. */
  async buy(pair, volume) {
    const order = { pair, volume, type: 'buy', ordertype: 'market' };
    return (await this.#send('/0/private/AddOrder', order)).txid;
  }

  async #send(path, parameters) {
    this.#nonce = Math.max(this.#nonce + 1, this.now());
    const body = String(new URLSearchParams({ nonce: this.#nonce, ...parameters }));
    const response = await this.fetch(this.url + path, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        'API-Key': this.key,
        'API-Sign': this.#sign(path, String(this.#nonce), body),
      },
      body,
    });
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    const { error, result } = await response.json();
    if (error.length > 0) throw new Error(`${path}: ${error.join(', ')}`);
    return result;
  }

  #sign(path, nonce, body) {
    const digest = createHash('sha256')
      .update(nonce + body)
      .digest();
    const key = Buffer.from(this.secret, 'base64');
    return createHmac('sha512', key).update(path).update(digest).digest('base64');
  }
}
