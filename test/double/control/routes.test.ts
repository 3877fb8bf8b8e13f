import assert from 'node:assert/strict';
import test from 'node:test';
import { type Double, startDouble } from '../../../src/double/index.ts';
import { createConsole } from '../../support/double/control-client.ts';

async function opened(double: Double) {
  return createConsole(await double.openControl());
}

test('a stub of the control interface returns its response, and permits only the declared users', async () => {
  await using double = await startDouble({ users: ['ann', 'bob'], https: false });
  const control = await opened(double);
  const path = '/weather/{user}';
  const add = (method: string, access: unknown, response: object) =>
    control.send('POST', '/stubs', { match: { method, path }, access, response });
  await add('GET', 'owner:user', {
    body: '<weather/>',
    headers: { 'Content-Type': 'application/xml', 'Cache-Control': 'no-cache', 'X-Wind': 'west' },
  });
  await add('PUT', ['bob'], { status: 202 });
  await add('POST', 'anyone', {
    status: 201,
    base64: '/wA=',
    headers: { 'Content-Type': 'image/png', Location: '/weather/1' },
  });
  const [ann, bob] = [double.as('ann'), double.as('bob')];
  const shown = await ann.fetch('/weather/ann');
  assert.deepEqual([shown.status, await shown.text()], [200, '<weather/>']);
  assert.equal(shown.headers.get('content-type'), 'application/xml');
  assert.equal(shown.headers.get('x-wind'), 'west');
  assert.equal((await bob.fetch('/weather/ann')).status, 403);
  assert.equal((await double.fetch('/weather/ann')).status, 401);
  assert.equal((await bob.fetch('/weather/x', { method: 'PUT', body: 'rain' })).status, 202);
  assert.equal((await ann.fetch('/weather/x', { method: 'PUT', body: 'rain' })).status, 403);
  const made = await double.fetch('/weather/x', { method: 'POST', body: 'rain' });
  assert.equal(made.headers.get('location'), '/weather/1');
  assert.deepEqual([...new Uint8Array(await made.arrayBuffer())], [255, 0]);
  assert.equal((await bob.fetch('/weather/x', { method: 'DELETE' })).status, 405);
  assert.equal((await ann.fetch('/weather/ann', { method: 'HEAD' })).status, 200);
  await control.send('POST', '/reset');
  assert.equal((await ann.fetch('/weather/ann')).status, 404);
});

test('an invalid stub of the control interface is rejected with 422, and nothing is changed', async () => {
  await using double = await startDouble({ https: false });
  const control = await opened(double);
  const match = { method: 'GET', path: '/x' };
  const access = 'anyone';
  const cases: readonly [content: object, told: RegExp][] = [
    [{ response: {}, access }, /match is missing/],
    [{ match: { path: 'x' }, response: {}, access }, /match\.path must begin with a slash/],
    [{ match, access }, /response is missing/],
    [{ match, response: {}, access: 'everyone' }, /access must be one of anyone/],
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

test('a collection that is declared at run time is served like one of the configuration', async () => {
  await using double = await startDouble({ users: ['ann'], https: false });
  const control = await opened(double);
  const declaration = {
    element: 'notes',
    item: 'note',
    fields: { text: { type: 'text', required: true } },
    access: { read: 'anyone', write: 'authenticated' },
  };
  await control.send('POST', '/collections', { path: '/notes', declaration });
  await control.send('POST', '/seed', { '/notes': [{ text: 'one' }] });
  assert.match(
    await (await double.fetch('/notes')).text(),
    /<note href="\/notes\/1"><text>one<\/text><\/note>/,
  );
  const put = await double
    .as('ann')
    .fetch('/notes/two', { method: 'PUT', body: '<note><text>2</text></note>' });
  assert.equal(put.status, 201);
  const bad = [
    {},
    'x',
    null,
    { ...declaration, fields: { text: { type: 'txt' } } },
    { ...declaration, more: 1 },
  ];
  for (const each of bad)
    await control.refused(422, 'POST', '/collections', { path: '/x', declaration: each });
  await control.refused(422, 'POST', '/collections', { path: 'x', declaration });
  assert.equal((await double.fetch('/x')).status, 404);
});
