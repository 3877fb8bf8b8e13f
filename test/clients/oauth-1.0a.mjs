import { createHmac } from 'node:crypto';
import OAuth from 'oauth-1.0a';
import { approve, step, user } from './approve.mjs';

const { BASE, CONSUMER_KEY, CONSUMER_SECRET, CALLBACK } = process.env;

for (const [signature_method, algorithm] of [
  ['HMAC-SHA1', 'sha1'],
  ['HMAC-SHA256', 'sha256'],
]) {
  const oauth = OAuth({
    consumer: { key: CONSUMER_KEY, secret: CONSUMER_SECRET },
    signature_method,
    hash_function: (base, key) => createHmac(algorithm, key).update(base).digest('base64'),
  });
  const send = async (url, method, { data, token } = {}) => {
    const { Authorization } = oauth.toHeader(oauth.authorize({ url, method, data }, token));
    const signed = Object.keys(data ?? {}).filter((name) => name.startsWith('oauth_'));
    // What it puts into `data` under names of the protocol is signed, and sent in the header.
    const extra = signed.map((name) => `, ${name}="${encodeURIComponent(data[name])}"`).join('');
    const form = Object.entries(data ?? {}).filter(([name]) => !signed.includes(name));
    return fetch(url, {
      method,
      headers: { Authorization: Authorization + (Authorization.includes(signed[0]) ? '' : extra) },
      ...(form.length === 0 ? {} : { body: new URLSearchParams(form) }),
    });
  };
  const tokenIn = async (response) => {
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    const reply = new URLSearchParams(await response.text());
    return { key: reply.get('oauth_token'), secret: reply.get('oauth_token_secret') };
  };
  const request = await tokenIn(
    await send(`${BASE}/oauth1/request_token`, 'POST', { data: { oauth_callback: CALLBACK } }),
  );
  const back = await approve(`${BASE}/oauth1/authorize?oauth_token=${request.key}`);
  const token = await tokenIn(
    await send(`${BASE}/oauth1/access_token`, 'POST', {
      data: { oauth_verifier: back.searchParams.get('oauth_verifier') },
      token: request,
    }),
  );
  step(`three legs with ${signature_method}`, token.key !== request.key);
  const records = `${BASE}/users/${user}/financialrecords`;
  step('resource', (await send(records, 'GET', { token })).status, 200);
  step('query', (await send(`${records}?limit=1&q=a%20b&q=c`, 'GET', { token })).status, 200);
}
