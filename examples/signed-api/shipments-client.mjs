import { createHash, createHmac } from 'node:crypto';

const service = 'execute-api';

/** A client of the API that partner.json describes. It signs with AWS Signature Version 4. */
export class ShipmentsClient {
  constructor({ url, region, accessKeyId, secret, fetch = globalThis.fetch, now = Date.now }) {
    Object.assign(this, { url, region, accessKeyId, secret, fetch, now });
  }

  list(status) {
    return this.#send('GET', `/shipments?status=${encodeURIComponent(status)}`);
  }

  create(address) {
    return this.#send('POST', '/shipments', JSON.stringify({ address }));
  }

  async cancel(id) {
    await this.#send('DELETE', `/shipments/${encodeURIComponent(id)}`);
  }

  async #send(method, target, body = '') {
    const url = new URL(this.url + target);
    const headers = body === '' ? {} : { 'content-type': 'application/json' };
    Object.assign(headers, this.#sign(method, url, headers, body));
    const response = await this.fetch(url, { method, headers, ...(body !== '' && { body }) });
    if (!response.ok) throw new Error(`${method} ${target}: ${response.status}`);
    return response.status === 204 ? undefined : response.json();
  }

  /** Returns the fields that sign a request. The signature covers all fields that it has, and these. */
  #sign(method, url, headers, body) {
    const time = new Date(this.now()).toISOString().replace(/[-:]|\.\d+/g, '');
    const digest = sha256(body);
    const fields = { ...headers, host: url.host, 'x-amz-content-sha256': digest, 'x-amz-date': time };
    const names = Object.keys(fields).sort();
    const canonical = [
      method,
      url.pathname.split('/').map(encodeURIComponent).join('/'),
      [...url.searchParams]
        .map((pair) => pair.map(encodeURIComponent).join('='))
        .sort()
        .join('&'),
      ...names.map((name) => `${name}:${fields[name]}`),
      '',
      names.join(';'),
      digest,
    ].join('\n');
    const scope = [time.slice(0, 8), this.region, service, 'aws4_request'];
    const key = scope.reduce(hmac, `AWS4${this.secret}`);
    const signature = hmac(key, ['AWS4-HMAC-SHA256', time, scope.join('/'), sha256(canonical)].join('\n'));
    const credential = `Credential=${this.accessKeyId}/${scope.join('/')}`;
    return {
      'x-amz-content-sha256': digest,
      'x-amz-date': time,
      authorization: `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names.join(';')}, Signature=${signature.toString('hex')}`,
    };
  }
}

function hmac(key, text) {
  return createHmac('sha256', key).update(text).digest();
}

function sha256(text) {
  return createHash('sha256').update(text).digest('hex');
}
