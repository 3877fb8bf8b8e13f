import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import test from 'node:test';
import { action, createService, json, Problem, readBytes } from '../../src/index.ts';

/** Opens a service whose resource returns what it received. */
function openEcho() {
  return createService({
    resources: {
      '/echo': {
        GET: action('anyone', ({ request, query }) =>
          json({
            host: request.headers.get('host'),
            peer: request.peer,
            secure: request.secure,
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

test('service.fetch sends requests in process, without a port', async () => {
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

test('fetch accepts the transport of the request and the address of the peer', async () => {
  await using service = openEcho();
  const response = await service.fetch('/echo', { secure: true, peer: '192.0.2.7' });
  const { secure, peer } = Object(await response.json());
  assert.deepEqual([secure, peer], [true, '192.0.2.7']);
});

test('fetch accepts a URL and a Request of the platform', async () => {
  await using service = openEcho();
  const response = await service.fetch(new URL('https://api.example/echo'));
  const { host, secure } = Object(await response.json());
  assert.deepEqual([host, secure], ['api.example', true]);
  const made = new Request('http://api.example/echo', { method: 'POST', body: 'milk' });
  assert.deepEqual(await (await service.fetch(made)).json(), { body: 'milk' });
});

test('fetch follows a redirect within the service, and returns a redirect to another server', async () => {
  await using service = openEcho();
  const followed = await service.fetch('/there');
  assert.deepEqual([followed.status, followed.redirected], [200, true]);
  const returned = await service.fetch('/away');
  assert.deepEqual([returned.status, returned.headers.get('location')], [302, 'http://other.example/echo']);
});

test('a resource reads the method, target, path, query, headers, peer and transport of a request', async () => {
  const service = createService({
    resources: {
      '/echo/{name}': {
        GET: action('anyone', ({ request: { method, target, path, query, headers, peer, secure } }) =>
          json({ method, target, path, query: [...query], agent: headers.get('user-agent'), peer, secure }),
        ),
      },
    },
  });
  const answer = await service.fetch('http://localhost/echo/%61b?x=1&x=2', {
    headers: { 'User-Agent': 'probe' },
    peer: '192.0.2.7',
  });
  assert.deepEqual(await answer.json(), {
    method: 'GET',
    target: '/echo/%61b?x=1&x=2',
    path: '/echo/ab',
    query: [
      ['x', '1'],
      ['x', '2'],
    ],
    agent: 'probe',
    peer: '192.0.2.7',
    secure: false,
  });
});

test('a node:http server of the caller responds with the handler of a service', async (context) => {
  const missing = action('anyone', () => {
    throw new Problem('not-found', 'There is no such city.', { headers: { 'Retry-After': '60' } });
  });
  const service = createService({ resources: { '/weather': { GET: missing } } });
  const server = createServer(service.handler);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  context.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const answer = await fetch(`http://127.0.0.1:${address.port}/weather`);
  assert.deepEqual([answer.status, answer.headers.get('Retry-After')], [404, '60']);
});

for (const [name, value] of [
  ['X-Note', '1\r\nX-Other: 2'],
  ['Content-Length', '5'],
] as const)
  test(`a problem with the header ${name}: ${JSON.stringify(value)} is reported as an error, and returns 500`, async () => {
    const errors: unknown[] = [];
    const GET = action('anyone', () => {
      throw new Problem('not-found', 'Not here.', { headers: { [name]: value } });
    });
    const service = createService({ resources: { '/a': { GET } }, onError: (error) => errors.push(error) });
    const answer = await service.fetch('/a');
    assert.equal(answer.status, 500);
    assert.equal(answer.headers.has('X-Other'), false);
    assert.ok(errors[0] instanceof RangeError);
  });
