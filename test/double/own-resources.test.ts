import assert from 'node:assert/strict';
import test from 'node:test';
import { startDouble } from '../../src/double/index.ts';
import { action, json, text, xml } from '../../src/index.ts';

test('a resource is available from the next request, with its methods, parameters and access', async () => {
  await using double = await startDouble({ users: ['ann', 'bob'], https: false });
  const path = '/users/ann/weather';
  assert.equal((await double.fetch(path)).status, 404);
  double.resource('/users/{name}/weather', {
    GET: action('anyone', async ({ parameters }) => xml(`<weather of="${parameters['name']}"/>`)),
    DELETE: action('owner:name', async () => ({ status: 204 })),
  });
  assert.equal(await (await fetch(double.url + path)).text(), '<weather of="ann"/>');
  assert.equal((await double.as('ann').fetch(path, { method: 'DELETE' })).status, 204);
  assert.equal((await double.as('bob').fetch(path, { method: 'DELETE' })).status, 403);
  const options = await double.as('ann').fetch(path, { method: 'OPTIONS' });
  assert.equal(options.headers.get('allow'), 'HEAD, GET, DELETE, OPTIONS');
  assert.match(await (await double.fetch('/')).text(), /<href>\/users\/\{name\}\/weather<\/href>/);
});

test('a Response that an action returns has an entity tag and a type, and can be used once', async () => {
  const errors: unknown[] = [];
  await using double = await startDouble({ https: false, onError: (error) => void errors.push(error) });
  const used = new Response('tea', { headers: { 'Content-Type': 'text/plain' } });
  double.resource('/tagged', { GET: action('anyone', () => used.clone()) });
  double.resource('/used', { GET: action('anyone', () => used) });
  double.resource('/error', { GET: action('anyone', () => Response.error()) });
  const etag = (await double.fetch('/tagged')).headers.get('etag') ?? assert.fail();
  assert.equal((await double.fetch('/tagged', { headers: { 'If-None-Match': etag } })).status, 304);
  assert.equal((await double.fetch('/tagged', { headers: { Accept: 'application/xml' } })).status, 406);
  const statuses = [];
  for (const path of ['/used', '/used', '/error']) statuses.push((await double.fetch(path)).status);
  assert.deepEqual(statuses, [200, 500, 500]);
  assert.match(errors.join(), /was read before.*Response\.error\(\) has the status 0/s);
});

test('a resource replaces an earlier one at its path, or a built-in one', async () => {
  await using double = await startDouble({ https: false });
  for (const word of ['one', 'two']) {
    double.resource('/articles', { GET: action('anyone', async () => text(word)) });
    assert.equal(await (await double.fetch('/articles')).text(), word);
  }
  double.resource('/', { GET: action('anyone', async () => json({ own: true })) });
  assert.equal(await (await double.fetch('/')).text(), '{"own":true}');
});

test('resources of the options are there from the start, and after a reset', async () => {
  const weather = { GET: action('anyone', async () => xml('<weather/>')) };
  await using double = await startDouble({ resources: { '/weather': weather }, https: false });
  double.resource('/weather', { GET: action('anyone', async () => xml('<other/>')) });
  double.resource('/more', weather);
  double.reset();
  assert.equal(await (await double.fetch('/weather')).text(), '<weather/>');
  assert.equal((await double.fetch('/more')).status, 404);
});
