import { createHmac } from 'node:crypto';

/** The options of a client. */
export interface OrdersClientOptions {
  readonly url: string;
  readonly user: string;
  readonly secret: string;
}

/** Orders from a partner, which requires a signature in header fields of its own. */
export class OrdersClient {
  readonly #options: OrdersClientOptions;
  /** How far the partner's clock is ahead, in ms. */
  #offset = 0;

  constructor(options: OrdersClientOptions) {
    this.#options = options;
  }

  /** Orders an item at the current rate. Resolves to the id of the order. */
  async order(item: string): Promise<string> {
    const { rate } = await this.#send('GET', '/rates/EUR');
    const { id } = await this.#send('POST', '/orders', JSON.stringify({ item, rate }));
    return String(id);
  }

  async #send(method: string, target: string, body = '', attempts = 2): Promise<Record<string, unknown>> {
    const { url, user, secret } = this.#options;
    const time = Date.now() + this.#offset;
    const signature = createHmac('sha256', secret).update(`${time}${method}${target}${body}`).digest('hex');
    const headers = {
      Accept: 'application/json',
      ...(body !== '' && { 'Content-Type': 'application/json' }),
      'X-Key': user,
      'X-Time': `${time}`,
      'X-Sig': signature,
    };
    const response = await fetch(url + target, { method, headers, ...(body !== '' && { body }) });
    const content: unknown = await response.json().catch(() => ({}));
    const members: Record<string, unknown> = { ...Object(content) };
    if (response.ok) return members;
    const isStale = members['type'] === '/problems/date-out-of-window';
    if (isStale) this.#offset = Date.parse(response.headers.get('Date') ?? '') - Date.now();
    if (attempts > 1 && (isStale || response.status === 503))
      return this.#send(method, target, body, attempts - 1);
    throw new Error(`${method} ${target}: ${response.status}`);
  }
}
