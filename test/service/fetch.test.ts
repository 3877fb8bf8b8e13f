import assert from 'node:assert/strict';
import test from 'node:test';
import { action, createService, json, readBytes } from '../../src/index.ts';

/** Opens a service whose resource returns what it received. */
function openEcho() {
  return createService({
    resources: {
      '/echo': {
        GET: action('anyone', ({ request, query }) =>
          json({
            host: request.headers.get('host'),
            peer: request.connection.peer,
            secure: request.connection.secure,
            query: Object.fromEntries(query),
          }),
        ),
        POST: action('anyone', ({ body }) => json({ body: String(body) }), { reads: [readBytes] }),
      },
      '/there': { GET: action('anyone', () => ({ status: 302, headers: { Location: '/echo' } })) },
      '/away': {
        GET: action('anyone', () => ({ status: 302, headers: [['Location', 'http://other.example/echo']] })),
      },
    },
  });
}

test('a service is called with fetch, without a port', async () => {
  await using service = openEcho();
  assert.deepEqual(await (await service.fetch('/echo?a=1')).json(), {
    host: 'localhost',
    peer: '127.0.0.1',
    secure: false,
    query: { a: '1' },
  });
  const posted = await service.fetch('/echo', { method: 'POST', body: 'tea' });
  assert.deepEqual([posted.status, await posted.json()], [200, { body: 'tea' }]);
});

test('fetch takes whether the request is secure, and the address of its sender', async () => {
  await using service = openEcho();
  const response = await service.fetch('/echo', { secure: true, peer: '192.0.2.7' });
  const { secure, peer } = Object(await response.json());
  assert.deepEqual([secure, peer], [true, '192.0.2.7']);
});

test('fetch takes a URL and a Request of the platform', async () => {
  await using service = openEcho();
  const response = await service.fetch(new URL('https://api.example/echo'));
  const { host, secure } = Object(await response.json());
  assert.deepEqual([host, secure], ['api.example', true]);
  const made = new Request('http://api.example/echo', { method: 'POST', body: 'milk' });
  assert.deepEqual(await (await service.fetch(made)).json(), { body: 'milk' });
});

test('fetch follows a redirect within the service, and returns one to another server', async () => {
  await using service = openEcho();
  const followed = await service.fetch('/there');
  assert.deepEqual([followed.status, followed.redirected], [200, true]);
  const returned = await service.fetch('/away');
  assert.deepEqual([returned.status, returned.headers.get('location')], [302, 'http://other.example/echo']);
});

test('a service that is closed answers 503 in process, too', async () => {
  const service = openEcho();
  await service.close({ grace: '0' });
  assert.equal((await service.fetch('/echo')).status, 503);
  await assert.rejects(openEcho().close({ grace: 'soon' }), RangeError);
});
