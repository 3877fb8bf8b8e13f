import assert from 'node:assert/strict';
import test from 'node:test';
import { startDouble } from '../../../src/double/index.ts';
import { openConsole } from '../../support/double/control-client.ts';

test('a stub of the control interface sends bytes with its fields, to the users of its access rule', async () => {
  await using double = await startDouble({ users: ['ann', 'bob'], https: false });
  const control = await openConsole(double);
  const headers = { 'Content-Type': 'image/png', 'X-Wind': 'west' };
  const match = { method: 'GET', path: '/weather/{user}' };
  await control.send('POST', '/stubs', {
    match,
    access: 'owner:user',
    response: { base64: '/wA=', headers },
  });
  const shown = await double.as('ann').fetch('/weather/ann');
  assert.deepEqual([...new Uint8Array(await shown.arrayBuffer())], [255, 0]);
  assert.deepEqual([shown.headers.get('content-type'), shown.headers.get('x-wind')], ['image/png', 'west']);
  assert.equal((await double.as('bob').fetch('/weather/ann')).status, 403);
});

test('an invalid stub of the control interface is rejected with 422, and nothing is changed', async () => {
  await using double = await startDouble({ https: false });
  const control = await openConsole(double);
  const match = { method: 'GET', path: '/x' };
  const access = 'anyone';
  const cases: readonly [content: object, told: RegExp][] = [
    [{ response: {}, access }, /match of the content must be an object, is missing/],
    [{ match: { path: 'x' }, response: {}, access }, /match\.path of the content must begin with a slash/],
    [{ match, access }, /response of the content must be an object, is missing/],
    [{ match, response: {}, access: 'everyone' }, /access of the content must be one of anyone/],
    [{ match: { path: '/x/{a}' }, response: {}, access: 'owner:b' }, /owner:b/],
    [{ match, access, response: { status: 100 } }, /from 200 to 599/],
    [{ match, access, response: { body: 'a', base64: 'YQ==' } }, /body and base64 exclude each other/],
    [{ match, access, response: { base64: 'YQ' } }, /canonical base64/],
    [{ match, access, response: { status: 204, body: 'a' } }, /status 204 cannot have content/],
    [{ match, access, response: { status: 205, base64: 'YQ==' } }, /status 205 cannot have content/],
    [{ match, access, response: { status: 304, body: '' } }, /status 304 cannot have content/],
    [{ match, access, response: { headers: { 'A B': '1' } } }, /not a field name/],
    [{ match, access, response: { headers: { A: '1\r\nB: 2' } } }, /cannot be sent/],
    [{ match, access, response: { headers: { A: 'ā' } } }, /cannot be sent/],
    [{ match, access, response: { headers: { 'content-length': '1' } } }, /set by the server/],
  ];
  for (const [content, told] of cases) {
    const { detail } = await control.refused(422, 'POST', '/stubs', content);
    assert.match(String(detail), told, JSON.stringify(content));
  }
  assert.equal((await double.fetch('/x')).status, 404);
});

test('a stub with a collection keeps what is posted, and returns, replaces, changes and removes it', async () => {
  await using double = await startDouble({ https: false });
  const control = await openConsole(double);
  const added = await control.send('POST', '/stubs', { collection: '/orders', access: 'anyone' });
  assert.equal(added.collection, '/orders');
  const send = async (method: string, path: string, body?: object): Promise<[number, unknown, string?]> => {
    const response = await double.fetch(path, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
    });
    const text = await response.text();
    const location = response.headers.get('Location');
    const value = text === '' ? undefined : JSON.parse(text);
    return location === null ? [response.status, value] : [response.status, value, location];
  };
  const first = { id: '1', item: 'tea', notes: { gift: true, text: 'hello' } };
  assert.deepEqual(await send('GET', '/orders'), [200, []]);
  assert.deepEqual(await send('POST', '/orders', { item: 'tea', notes: first.notes }), [
    201,
    first,
    '/orders/1',
  ]);
  assert.deepEqual(await send('POST', '/orders', { id: 7 }), [201, { id: 7 }, '/orders/7']);
  assert.equal((await send('POST', '/orders', { id: '7' }))[0], 422);
  assert.equal((await send('POST', '/orders', []))[0], 422);
  assert.deepEqual(await send('GET', '/orders/1'), [200, first]);
  assert.deepEqual(await send('PATCH', '/orders/1', { id: '9', item: null, notes: { text: null } }), [
    200,
    { id: '1', notes: { gift: true } },
  ]);
  assert.deepEqual(await send('PUT', '/orders/7', { item: 'milk' }), [200, { id: '7', item: 'milk' }]);
  const { snapshot } = await control.send('POST', '/snapshot');
  assert.equal((await send('PUT', '/orders/a%20b', { item: 'rice' }))[2], '/orders/a%20b');
  assert.deepEqual(await send('DELETE', '/orders/1'), [204, undefined]);
  for (const method of ['GET', 'DELETE', 'PATCH'])
    assert.equal((await send(method, '/orders/1', method === 'PATCH' ? {} : undefined))[0], 404);
  assert.deepEqual(await send('GET', '/orders'), [
    200,
    [
      { id: '7', item: 'milk' },
      { id: 'a b', item: 'rice' },
    ],
  ]);
  await control.send('POST', '/restore', { snapshot });
  assert.deepEqual(
    [(await send('GET', '/orders/1'))[0], (await send('GET', '/orders/a%20b'))[0]],
    [200, 404],
  );
  const refused = await double.fetch('/orders', { method: 'DELETE' });
  assert.deepEqual([refused.status, refused.headers.get('Allow')], [405, 'HEAD, GET, POST, OPTIONS']);
  const { stubs } = await control.send('GET', '/stubs');
  assert.deepEqual(
    stubs.map(({ match }: { match: { path: string } }) => match.path),
    ['/orders', '/orders/{item}'],
  );
  await control.send('DELETE', `/stubs/${added.number}`);
  assert.deepEqual(await control.send('GET', '/stubs'), { stubs: [] });
  assert.equal((await double.fetch('/orders/1')).status, 404);
});

test('collections of stubs at a template have their own items, and their access rule', async () => {
  await using double = await startDouble({ users: ['ann', 'bob'], https: false });
  const control = await openConsole(double);
  await control.send('POST', '/stubs', { collection: '/users/{name}/orders', access: 'owner:name' });
  const init = { method: 'POST', body: new URLSearchParams({ item: 'tea' }) };
  const posted = await double.as('ann').fetch('/users/ann/orders', init);
  assert.equal(posted.headers.get('Location'), '/users/ann/orders/1');
  assert.deepEqual(await posted.json(), { id: '1', item: 'tea' });
  assert.equal((await double.as('bob').fetch('/users/ann/orders/1')).status, 403);
  assert.deepEqual(await (await double.as('bob').fetch('/users/bob/orders')).json(), []);
  for (const [content, field] of [
    [{ collection: '/x', match: {} }, /collection of the content excludes match/],
    [{ collection: '/x', times: 1 }, /collection of the content excludes match/],
    [{ collection: 'x' }, /collection of the content must begin with a slash/],
    [{ collection: '/x/{item}' }, /parameter item twice/],
  ] as const)
    assert.match(String((await control.refused(422, 'POST', '/stubs', content))['detail']), field);
});

test('an invalid collection is rejected, and nothing is changed', async () => {
  await using double = await startDouble({ https: false });
  const control = await openConsole(double);
  const declaration = { element: 'notes', item: 'note', fields: { text: { type: 'text' } } };
  const wrong = [
    {},
    'x',
    null,
    { ...declaration, fields: { text: { type: 'txt' } } },
    { ...declaration, more: 1 },
  ];
  for (const each of wrong)
    await control.refused(422, 'POST', '/collections', { path: '/x', declaration: each });
  await control.refused(422, 'POST', '/collections', { path: 'x', declaration });
  assert.equal((await double.fetch('/x')).status, 404);
});
