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

test('an action can return a Response of the platform', async () => {
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  await using double = await startDouble({ users: ['ann'], https: false, onError });
  const used = new Response('tea');
  const responses: Readonly<Record<string, () => Response>> = {
    '/json': () => Response.json({ degrees: 21 }, { status: 201, headers: { 'X-Station': '7' } }),
    '/none': () => new Response(null, { status: 204 }),
    '/moved': () => Response.redirect('http://127.0.0.1/x', 303),
    '/used': () => used,
    '/error': () => Response.error(),
    '/tagged': () => new Response('tea', { headers: { 'Content-Type': 'text/plain' } }),
  };
  for (const [path, create] of Object.entries(responses))
    double.resource(path, { GET: action('anyone', create), POST: action('anyone', async () => create()) });
  const created = await fetch(`${double.url}/json`, { method: 'POST' });
  assert.deepEqual([created.status, await created.json()], [201, { degrees: 21 }]);
  assert.deepEqual(
    ['content-type', 'x-station'].map((name) => created.headers.get(name)),
    ['application/json', '7'],
  );
  assert.equal((await double.fetch('/none')).status, 204);
  const moved = await double.fetch('/moved', { redirect: 'manual' });
  assert.deepEqual([moved.status, moved.headers.get('location')], [303, 'http://127.0.0.1/x']);
  const etag = (await double.fetch('/tagged')).headers.get('etag') ?? assert.fail();
  assert.equal((await double.fetch('/tagged', { headers: { 'If-None-Match': etag } })).status, 304);
  assert.equal((await double.fetch('/tagged', { headers: { Accept: 'application/xml' } })).status, 406);
  for (const [path, status, told] of [
    ['/used', 200, undefined],
    ['/used', 500, /was read before/],
    ['/error', 500, /Response\.error\(\) has the status 0/],
  ] as const) {
    assert.equal((await double.fetch(path)).status, status);
    if (told !== undefined) assert.match(String(errors.pop()), told);
  }
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
