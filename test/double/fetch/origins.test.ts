import assert from 'node:assert/strict';
import test from 'node:test';
import { startDouble } from '../../../src/double/index.ts';
import { action, text } from '../../../src/index.ts';

for (const url of ['http://example.com/articles', '//example.com/articles', 'https://127.0.0.1/articles'])
  test(`fetch rejects the URL ${url} of another server`, async () => {
    await using double = await startDouble({ users: ['ann'], aliases: ['http://partner.example'] });
    const { origin } = new URL(url, double.url);
    const message = `${origin} is not an origin of this double, which are ${double.url} and ${double.secureUrl}; add it to the option aliases, or send the request with the platform's fetch`;
    const refusal = { name: 'RangeError', message };
    await assert.rejects(double.fetch(url), refusal);
    await assert.rejects(double.fetch(new URL(url, double.url), { method: 'put' }), refusal);
    await assert.rejects(double.fetch(new Request(new URL(url, double.url))), refusal);
    await assert.rejects(double.as('ann').fetch(url), refusal);
    assert.equal(double.journal.length, 0);
  });

test('a redirect to an alias or the public URL is followed, and gets no credentials', async () => {
  const aliases = ['http://partner.example'];
  await using double = await startDouble({ users: ['ann'], aliases, publicUrl: 'https://public.example/' });
  const host = action('anyone', async ({ request }) => text(String(request.headers.get('host'))));
  double.resource('/host', { GET: host });
  for (const origin of ['http://partner.example', 'https://public.example']) {
    const moved = action('anyone', async () => ({ status: 307, headers: [['Location', `${origin}/host`]] }));
    double.resource('/away', { GET: moved });
    const reply = await double.as('ann').fetch('/away');
    assert.deepEqual([reply.url, await reply.text()], [`${origin}/host`, new URL(origin).host]);
    assert.equal(double.journal.last()?.principal, undefined);
  }
});

test('a request to an alias is signed for its origin, and the OAuth metadata names that origin as issuer', async () => {
  const aliases = ['https://api.example:8443'];
  const consumers = { printer: { secret: 'the-secret-of-printer', scopes: ['read'] } } as const;
  const clients = { app: { secret: 'the-secret-of-app', grants: ['client_credentials'] } } as const;
  await using double = await startDouble({ users: ['ann'], aliases, consumers, clients });
  const url = 'https://api.example:8443/articles?limit=1';
  for (const scheme of ['hmac', 'basic', 'bearer', 'oauth1'] as const) {
    assert.equal((await double.as('ann', { scheme }).fetch(url)).status, 200, scheme);
    assert.equal(double.journal.last()?.principal?.name, 'ann', scheme);
  }
  const metadata = await double.fetch('https://api.example:8443/.well-known/oauth-authorization-server');
  assert.equal(Object(await metadata.json()).issuer, 'https://api.example:8443');
});

test('fetch accepts the port of a double under each name of the loopback interface', async () => {
  await using double = await startDouble({});
  const { port } = new URL(double.url);
  for (const name of ['127.0.0.1', 'localhost', '[::1]'])
    assert.equal((await double.fetch(`http://${name}:${port}/articles`)).status, 200);
});

test('without HTTPS the URL of a response to a secure request can be requested', async () => {
  await using double = await startDouble({ https: false });
  const { url } = await double.fetch('/articles', { secure: true });
  assert.equal((await double.fetch(url)).url, url);
});

test('as signs a path with a query for fetch and for other clients', async () => {
  await using double = await startDouble({ users: ['ann'], https: false, strictQuery: false });
  const ann = double.as('ann');
  for (const path of [
    '/articles?',
    '/articles?limit=1',
    '/articles?a=%20b&c',
    '/articles??',
    '/articles?a#part',
  ]) {
    const url = double.url + path;
    const sent = [
      () => ann.fetch(path),
      async () => double.fetch(path, { headers: await ann.signRequest({ url: path }) }),
      async () => fetch(url, { headers: await ann.signRequest({ url: path }) }),
      async () => fetch(url, { headers: await ann.signRequest({ url: new URL(url) }) }),
    ];
    for (const send of sent) {
      assert.equal((await send()).status, 200);
      assert.equal(double.journal.last()?.principal?.name, 'ann', path);
    }
  }
});
