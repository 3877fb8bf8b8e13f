import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';
import { createConnection } from 'node:net';
import test from 'node:test';
import { startDouble } from '../../src/double/index.ts';
import { listen } from '../support/net/listen.ts';

/** The status of a GET over a socket. */
function requestStatus(url: string, options: { ca?: string } = {}): Promise<number | undefined> {
  const get = url.startsWith('https:') ? httpsGet : httpGet;
  return new Promise((resolve, reject) => {
    get(url, { ...options, agent: false }, (reply) => {
      reply.resume();
      resolve(reply.statusCode);
    }).on('error', reject);
  });
}

test('a double responds over HTTP and HTTPS once the promise resolves, and clients must trust its CA', async () => {
  await using double = await startDouble();
  assert.match(double.url, /^http:\/\/127\.0\.0\.1:[0-9]+$/);
  assert.match(double.secureUrl, /^https:\/\/127\.0\.0\.1:[0-9]+$/);
  assert.equal(await requestStatus(`${double.url}/articles`), 200);
  const { ca } = double;
  assert.equal(await requestStatus(`${double.secureUrl}/articles`, { ca }), 200);
  const byName = double.secureUrl.replace('127.0.0.1', 'localhost');
  assert.equal(await requestStatus(`${byName}/articles`, { ca }), 200);
  await assert.rejects(requestStatus(`${double.secureUrl}/articles`), {
    code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  });
});

/** Returns two ports that were free a moment ago. */
async function freePorts(): Promise<{ port: number; securePort: number }> {
  await using double = await startDouble();
  return { port: Number(new URL(double.url).port), securePort: Number(new URL(double.secureUrl).port) };
}

test('a double listens on the ports of its options', async () => {
  const { port, securePort } = await freePorts();
  await using double = await startDouble({ port, securePort });
  assert.deepEqual(
    [double.url, double.secureUrl],
    [`http://127.0.0.1:${port}`, `https://127.0.0.1:${securePort}`],
  );
  assert.equal(await requestStatus(`${double.url}/articles`), 200);
});

for (const option of ['port', 'securePort'] as const)
  test(`a ${option} in use is rejected, and the other port is closed again`, async () => {
    await using occupant = await startDouble();
    const taken = Number(new URL(occupant.url).port);
    const ports = { ...(await freePorts()), [option]: taken };
    await assert.rejects(startDouble(ports), {
      name: 'ListenError',
      code: 'EADDRINUSE',
      message: `Port ${taken} on 127.0.0.1 is in use by another process.`,
    });
    const other = option === 'port' ? { securePort: ports.securePort } : { port: ports.port };
    await using double = await startDouble(other);
    assert.equal(await requestStatus(`${double.url}/articles`), 200);
  });

test('two doubles share no URL, CA, secrets, items or clock', async () => {
  await using one = await startDouble({ users: ['ann'] });
  await using other = await startDouble({ users: ['ann'] });
  assert.notEqual(one.url, other.url);
  assert.notEqual(one.ca, other.ca);
  assert.notEqual(one.auth.credentials('ann').secret, other.auth.credentials('ann').secret);
  one.seed({ '/articles': [{ title: 'Tea', price: { value: '3.50', currency: 'EUR' } }] });
  one.clock.advance('1h');
  assert.equal((await one.fetch('/articles/1')).status, 200);
  assert.equal((await other.fetch('/articles/1')).status, 404);
  assert.ok(one.clock.now() - other.clock.now() > 3_000_000);
});

test('close drops idle connections and stops listening', async () => {
  const double = await startDouble();
  const socket = createConnection(Number(new URL(double.url).port), '127.0.0.1');
  socket.write('GET /articles HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await new Promise((resolve) => socket.once('data', resolve));
  const ended = new Promise((resolve) => socket.once('close', resolve));
  await double.close();
  await ended;
  await assert.rejects(requestStatus(double.url), { code: 'ECONNREFUSED' });
});

test('the handler of a double serves requests in another HTTP server', async (t) => {
  await using double = await startDouble({ users: ['ann'], https: false });
  const url = `${await listen(t, createServer(double.handler))}/articles/tea`;
  const body = '<article><title>Tea</title><price currency="EUR">3.50</price></article>';
  const headers = {
    ...(await double.as('ann').signRequest({ method: 'PUT', url, body })),
    'Content-Type': 'application/xml',
  };
  assert.equal((await fetch(url, { method: 'PUT', headers, body })).status, 201);
  assert.equal((await fetch(url, { method: 'HEAD' })).status, 200);
  assert.equal((await double.fetch('/articles/tea')).status, 200);
});

test('the handler closes an HTTP/1.0 connection unless the client requests keep-alive', async (t) => {
  await using double = await startDouble({ https: false });
  const port = Number(new URL(await listen(t, createServer(double.handler))).port);
  for (const [asked, told] of [
    ['', 'close'],
    ['Connection: keep-alive\r\n', 'keep-alive'],
  ]) {
    const socket = createConnection(port, '127.0.0.1');
    socket.write(`GET /articles HTTP/1.0\r\n${asked}\r\n`);
    const [reply] = await once(socket, 'data');
    assert.match(String(reply), new RegExp(`\r\nConnection: ${told}\r\n`));
    if (told === 'close') await once(socket, 'end');
    socket.destroy();
  }
});

test('without HTTPS, secureUrl and ca throw, and OAuth clients are rejected if TLS is required', async () => {
  await using double = await startDouble({ https: false });
  assert.throws(() => double.secureUrl, /HTTPS is disabled/);
  assert.throws(() => double.ca, /HTTPS is disabled/);
  const clients = { app: { secret: 'long enough to be one' } };
  await assert.rejects(startDouble({ https: false, tls: 'required', clients }), RangeError);
  await using plain = await startDouble({ https: false, clients });
  assert.match(plain.url, /^http:/);
});
