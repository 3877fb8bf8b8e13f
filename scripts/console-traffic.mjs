// Sends the traffic of the console's demonstration: good requests, each usual mistake, replays and faults.
import { createHash, createHmac } from 'node:crypto';

const secret = 'the-secret-of-johndoe';

/** The options of the server of the demonstration. */
export const demonstration = {
  users: {
    johndoe: { secret, password: 'correct horse battery' },
    ann: { secret: 'the-secret-of-ann-smith' },
  },
  clients: { app: { redirectUris: ['https://client.example/callback'] } },
  consumers: { printer: { secret: 'the-secret-of-the-printer', callbacks: ['oob'] } },
  seed: {
    '/articles': [
      { title: 'Assam, second flush', price: { value: '12.50', currency: 'EUR' } },
      { title: 'Sencha', price: { value: '9.80', currency: 'EUR' } },
      { title: 'Lapsang Souchong', price: { value: '14.00', currency: 'EUR' } },
    ],
  },
};

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Formats a time (ms) as a signed date. */
function dateOf(time) {
  const date = new Date(time);
  const day = `${date.getUTCDate()} ${months[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
  return `${day} ${date.toISOString().slice(11, 19)}`;
}

/** Returns the fields of a request signed with `hmac`. A replaced part of the message makes the signature wrong. */
function signed({ method, target, time, nonce, digest, user = 'johndoe', key = secret }, replaced = {}) {
  const date = dateOf(time);
  const parts = { method, target, date: date.replaceAll(' ', ''), nonce, digest, ...replaced };
  const message = Object.values(parts).filter((part) => part !== undefined);
  const proof = createHmac('sha256', key).update(message.join('+')).digest('base64');
  return {
    'X-Date': date,
    Authorization: `hmac ${user}:${nonce}:${proof}`,
    ...(digest !== undefined && { 'Content-Digest': digest }),
  };
}

/** Sends the traffic to a double, and moves nothing else of it but its faults. */
export async function sendTraffic(double) {
  const now = () => double.clock.now();
  let nonces = 0;
  const nonce = () => {
    nonces += 1;
    return `n${String(nonces).padStart(4, '0')}-${createHash('sha256').update(String(nonces)).digest('hex').slice(0, 12)}`;
  };
  const send = async (method, target, fields = {}, body = undefined) => {
    try {
      const response = await fetch(double.url + target, { method, headers: fields, body });
      return { status: response.status, fields: response.headers, text: await response.text() };
    } catch {
      return { status: 0, fields: new Headers(), text: '' };
    }
  };
  const sign = (method, target, others = {}, replaced = {}) =>
    signed({ method, target, time: now(), nonce: nonce(), ...others }, replaced);
  const json = { 'Content-Type': 'application/json', Accept: 'application/json' };
  const article = (title, value = '7.20') => JSON.stringify({ title, price: { value, currency: 'EUR' } });
  const digestOf = (content) => `sha-256=:${createHash('sha256').update(content).digest('base64')}:`;

  // Good requests
  const list = await send('GET', '/articles', { Accept: 'application/json' });
  await send('GET', '/articles', {
    Accept: 'application/json',
    'If-None-Match': list.fields.get('etag') ?? '',
  });
  await send('GET', '/articles?limit=2', sign('GET', '/articles?limit=2'));
  const tea = article('Darjeeling, first flush', '18.00');
  const created = await send(
    'POST',
    '/articles',
    { ...json, ...sign('POST', '/articles', { digest: digestOf(tea) }) },
    tea,
  );
  const place = created.fields.get('location')?.replace(/^https?:\/\/[^/]*/, '') ?? '/articles/1';
  const item = await send('GET', place, { Accept: 'application/json' });
  const tag = item.fields.get('etag') ?? '*';
  const cheaper = article('Darjeeling, first flush', '16.50');
  await send('PUT', place, { ...json, 'If-Match': tag, ...sign('PUT', place) }, cheaper);
  await send('OPTIONS', '/articles');
  await send('HEAD', '/articles');

  // What a client gets wrong in a signature
  await send(
    'GET',
    '/articles?limit=5&offset=1',
    sign('GET', '/articles?limit=5&offset=1', {}, { target: '/articles' }),
  );
  await send('PUT', place, { ...json, ...sign('PUT', place, {}, { method: 'POST' }) }, cheaper);
  await send('GET', '/articles/1', sign('GET', '/articles/1', {}, { date: dateOf(now()) }));
  await send('GET', '/articles/1', sign('GET', '/articles/1', { key: 'another-secret-entirely' }));
  await send('GET', '/articles/1', sign('GET', '/articles/1', { time: now() - 2 * 3_600_000 }));
  await send('GET', '/articles/1', sign('GET', '/articles/1', { time: now() + 720_000 }));
  await send('GET', '/articles/1', sign('GET', '/articles/1', { user: 'jonhdoe' }));
  await send(
    'GET',
    '/articles?title=T%C3%A9',
    sign('GET', '/articles?title=T%C3%A9', {}, { target: '/articles?title=T%c3%a9' }),
  );
  const once = sign('GET', '/articles/2');
  await send('GET', '/articles/2', once);
  await send('GET', '/articles/2', once);
  await send(
    'POST',
    '/articles',
    { ...json, ...sign('POST', '/articles', { digest: digestOf('something else') }) },
    tea,
  );
  await send('GET', '/articles', { Authorization: `hmac johndoe,${nonce()}` });
  await send('GET', '/articles', {
    Authorization: `Basic ${Buffer.from('johndoe:wrong').toString('base64')}`,
  });
  await send('GET', '/articles', { Authorization: 'Bearer not-a-token-of-this-server' });

  // What it gets wrong elsewhere
  await send('GET', '/artcles');
  await send('GET', '/articles/999', { Accept: 'application/json' });
  await send('DELETE', '/articles');
  await send('POST', '/articles', json, tea);
  await send('GET', '/articles/1', { Accept: 'image/png' });
  await send('PUT', place, { ...json, 'If-Match': tag, ...sign('PUT', place) }, article('Late', '1.00'));
  await send('POST', '/articles', { 'Content-Type': 'text/csv', ...sign('POST', '/articles') }, 'a,b');
  await send('POST', '/articles', { ...json, ...sign('POST', '/articles') }, '{"title": "Tea",,}');
  await send('POST', '/articles', { ...json, ...sign('POST', '/articles') }, article('Free', 'nothing'));
  const entity =
    '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><article><title>&x;</title></article>';
  await send(
    'POST',
    '/articles',
    { 'Content-Type': 'application/xml', ...sign('POST', '/articles') },
    entity,
  );
  await send('GET', '/users/ann/financialrecords', sign('GET', '/users/ann/financialrecords'));
  await send('GET', '/articles?limit=many');

  // Faults
  double.faults.next({ path: '/articles' }, { status: 503, retryAfter: 2 });
  await send('GET', '/articles');
  double.faults.next({ path: '/articles/1' }, { reset: 'before' });
  await send('GET', '/articles/1');
  await send('GET', '/articles?limit=2', { ...sign('GET', '/articles?limit=2'), Accept: 'application/json' });
}
