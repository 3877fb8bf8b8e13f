import assert from 'node:assert/strict';
import test from 'node:test';
import { sendsEmptyQuery } from '../../src/client/fetch-target.ts';
import { signedFetch, signRequest } from '../../src/client/index.ts';
import { type Double, startDouble } from '../../src/double/index.ts';
import { action, json } from '../../src/index.ts';

const credentials = { user: 'ann', secret: 'the-secret-of-ann' };
const users = { ann: { secret: credentials.secret } };

/** Declares a resource that returns the name of the authenticated user and the method. */
async function openServer(): Promise<Double> {
  const double = await startDouble({ users, https: false });
  const seen = action('anyone', async ({ principal, method }) => json({ user: principal?.name, method }));
  double.resource('/seen', { GET: seen, POST: seen });
  return double;
}

/** Declares a resource at `path` that redirects every request. */
function redirect(double: Double, path: string, status: number, location: string): void {
  const moved = action('anyone', async () => ({ status, headers: [['Location', location]] }));
  double.resource(path, { GET: moved, POST: moved });
}

/** Returns the fields of the last request as sent, by their names in lower case. */
function fieldsSent(double: Double): Record<string, string> {
  const lines = double.journal.last()?.raw().request?.headers ?? [];
  return Object.fromEntries(lines.map(([name, value]) => [name.toLowerCase(), value]));
}

for (const path of ['/articles?', '/articles', '/articles?#part', '/articles?limit=1', '/articles??', '?'])
  test(`signedFetch and signRequest sign what fetch sends for ${path}`, async () => {
    await using double = await openServer();
    const url = double.url + path;
    assert.equal((await signedFetch(url, credentials)).status, 200);
    assert.equal(double.journal.last()?.principal?.name, 'ann');
    const headers = signRequest({ method: 'GET', url, ...credentials });
    assert.equal((await fetch(url, { headers })).status, 200);
    assert.equal(double.journal.last()?.principal?.name, 'ann');
  });

test('a release of undici before 7.23 omits an empty query', () => {
  const omitting = ['5.29.0', '6.24.1', '6.28.1', '7.8.0', '7.22.1'];
  const sending = ['7.23.0', '7.29.1', '8.0.0', '8.10.2', undefined];
  assert.deepEqual(omitting.filter(sendsEmptyQuery), []);
  assert.deepEqual(sending.filter(sendsEmptyQuery), sending);
});

test('signedFetch signs each redirected request within the origin', async () => {
  await using double = await openServer();
  redirect(double, '/once', 303, '/seen?');
  redirect(double, '/twice', 307, '/once');
  const response = await signedFetch(`${double.url}/twice`, {
    ...credentials,
    method: 'POST',
    headers: { 'Content-Type': 'text/plain', 'X-One': '1' },
    body: 'Tea',
  });
  assert.deepEqual(await response.json(), { user: 'ann', method: 'GET' });
  assert.deepEqual(
    [response.url.replace(/\?$/, ''), response.redirected, response.type],
    [`${double.url}/seen`, true, 'basic'],
  );
  const { 'content-type': type, 'content-digest': digest, 'x-one': one } = fieldsSent(double);
  assert.deepEqual([type, digest, one], [undefined, undefined, '1']);
});

test('signedFetch sends the content again if the redirect preserves the method', async () => {
  await using double = await openServer();
  redirect(double, '/moved', 308, '/seen');
  const response = await signedFetch(`${double.url}/moved`, { ...credentials, method: 'POST', body: 'Tea' });
  assert.deepEqual(await response.json(), { user: 'ann', method: 'POST' });
  assert.match(fieldsSent(double)['content-digest'] ?? '', /^sha-256=:/);
});

for (const form of ['full', 'simple'] as const)
  test(`signedFetch sends no credentials to another origin, nor after a redirect back from it, in the ${form} form`, async () => {
    await using double = await openServer();
    await using other = await openServer();
    redirect(double, '/away', 307, `${other.url}/back`);
    redirect(other, '/back', 307, `${double.url}/seen`);
    const headers = {
      Authentication: 'own',
      Cookie: 'a=b',
      'Proxy-Authorization': 'Basic YTpi',
      'X-One': '1',
    };
    const response = await signedFetch(`${double.url}/away`, { ...credentials, form, headers });
    assert.deepEqual([response.status, response.redirected, response.type], [200, true, 'cors']);
    assert.deepEqual(await response.json(), { method: 'GET' });
    for (const server of [other, double]) {
      const sent = fieldsSent(server);
      const secret = ['authentication', 'authorization', 'cookie', 'proxy-authorization', 'date', 'x-date'];
      assert.deepEqual(
        Object.keys(sent).filter((name) => secret.includes(name)),
        [],
      );
      assert.equal(sent['x-one'], '1');
      assert.equal(sent['host'], new URL(server.url).host);
    }
    assert.equal(double.journal.all()[0]?.principal?.name, 'ann');
  });

test('signedFetch does not follow a redirect if the option redirect is manual or error', async () => {
  await using double = await openServer();
  redirect(double, '/away', 303, '/seen');
  const manual = await signedFetch(`${double.url}/away`, { ...credentials, redirect: 'manual' });
  assert.deepEqual([manual.status, manual.headers.get('location')], [303, '/seen']);
  await assert.rejects(signedFetch(`${double.url}/away`, { ...credentials, redirect: 'error' }), TypeError);
});

for (const [name, location, cause] of [
  ['without end', '/away', 'more than 20 redirects'],
  ['to another scheme', 'ftp://example.com/', 'the Location of a redirect is not an HTTP(S) URL'],
  ['to what is not a URL', 'http://[/', 'the Location of a redirect is not a URL'],
  ['with credentials', 'http://ann:pw@127.0.0.1/', 'the Location of a redirect contains credentials'],
] as const)
  test(`signedFetch fails as fetch does on a redirect ${name}`, async () => {
    await using double = await openServer();
    redirect(double, '/away', 302, location);
    const call = signedFetch(`${double.url}/away`, credentials);
    await assert.rejects(call, (error: TypeError) => {
      assert.deepEqual([error.name, error.message], ['TypeError', 'fetch failed']);
      assert.ok(error.cause instanceof Error);
      assert.equal(error.cause.message, cause);
      return true;
    });
    await assert.rejects(fetch(`${double.url}/away`), { name: 'TypeError', message: 'fetch failed' });
  });

test('signedFetch returns a redirect without Location', async () => {
  await using double = await openServer();
  const moved = action('anyone', async () => ({ status: 302, headers: [] }));
  double.resource('/nowhere', { GET: moved });
  const response = await signedFetch(`${double.url}/nowhere`, credentials);
  assert.deepEqual([response.status, response.redirected], [302, false]);
});
