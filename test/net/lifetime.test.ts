import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Problem } from '../../src/http/problem.ts';
import { ListenError } from '../../src/net/listen-error.ts';
import { listen, type ServerSocket } from '../../src/net/listener.ts';
import { replyTo, serve } from '../support/net/service.ts';
import { exchange, open, type Wire, WireError, type WireReply } from '../support/net/wire.ts';
import { until } from '../support/until.ts';

const get = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n';

/** Resolves when no connection is left. */
function deserted(listener: ServerSocket): Promise<void> {
  return until(() => listener.connections === 0);
}

test('a connection beyond the limit gets 503 at its first request and closes if all others are handling requests', async (t) => {
  const { port, listener, waiting, release } = await serve(t, { connections: 1 });
  const busy = await open(port);
  await busy.send('GET /wait HTTP/1.1\r\nHost: h\r\n\r\n');
  await waiting;
  const beyond = await open(port);
  await beyond.send(get);
  const reply = await beyond.reply();
  assert.equal(reply.status, 503);
  assert.equal(reply.text, 'full');
  assert.equal(reply.field('Retry-After'), '1');
  assert.equal(reply.field('Connection'), 'close');
  assert.equal(await beyond.next(), undefined);
  await beyond.close();
  release();
  assert.equal((await busy.reply()).text, 'waited');
  await busy.close();
  await deserted(listener);
  assert.equal((await exchange(port, get))[0]?.status, 200);
});

test('beyond the limit, the connection that has gone longest without a complete header section is closed', async (t) => {
  const { port, listener } = await serve(t, { connections: 4 });
  const served = await open(port);
  const half = await open(port);
  const silent = await open(port);
  const idle = await open(port);
  await half.send('GET / HTTP/1.1\r\nX-A: ');
  for (const wire of [idle, served]) {
    await wire.send(get);
    assert.equal((await wire.reply()).status, 200);
  }
  const asked: Wire[] = [];
  for (const gone of [half, silent, idle]) {
    const fresh = await open(port);
    await fresh.send(get);
    assert.equal((await fresh.reply()).status, 200);
    assert.equal(await gone.next(), undefined);
    await gone.close();
    asked.push(fresh);
  }
  for (const wire of [served, ...asked]) {
    await wire.send(get);
    assert.equal((await wire.reply()).status, 200);
  }
  assert.equal(listener.connections, 4);
  for (const wire of [served, ...asked]) await wire.close();
});

test('beyond the limit, a connection with an unread response is closed like one that sends nothing', async (t) => {
  const { port, requests } = await serve(t, { connections: 1 });
  const slow = await open(port);
  slow.socket.pause();
  await slow.send('GET /large HTTP/1.1\r\nHost: h\r\n\r\n'.repeat(3));
  await until(() => requests.length > 0);
  await new Promise((resolve) => setImmediate(resolve)); // by then the reply is made
  assert.equal((await exchange(port, get))[0]?.status, 200);
  slow.socket.resume();
  await assert.rejects(async () => {
    for (;;) await slow.reply();
  }, WireError);
});

test('beyond the limit, a connection with incomplete content is closed like one that sends nothing', async (t) => {
  const { port, requests, consumed } = await serve(t, { connections: 1 });
  const sending = await open(port);
  await sending.send('PUT /consume HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nab');
  await until(() => requests.length > 0);
  assert.equal((await exchange(port, get))[0]?.status, 200);
  assert.equal(await sending.next(), undefined);
  assert.ok(consumed[0] instanceof Problem);
});

test('beyond the limit, a connection left open after its last response is closed like one that sends nothing', async (t) => {
  const { port } = await serve(t, { connections: 1 });
  const answered = await open(port);
  await answered.send('GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n');
  assert.equal((await answered.reply()).status, 200);
  assert.equal((await exchange(port, get))[0]?.status, 200);
  await answered.close();
});

test('of many silent connections, as many as the limit stay open, and the last one is served', async (t) => {
  const { port, listener } = await serve(t, { connections: 5 });
  const wires: Wire[] = [];
  for (let opened = 0; opened < 200; opened += 1) wires.push(await open(port));
  const last = wires.at(-1);
  await last?.send(get);
  assert.equal((await last?.reply())?.status, 200);
  for (const wire of wires.slice(0, -5)) assert.equal(await wire.next(), undefined);
  assert.equal(listener.connections, 5);
  for (const wire of wires) await wire.close();
});

test('closing ends idle connections at once, and rejects new ones', async (t) => {
  const { port, listener } = await serve(t);
  const used = await open(port);
  await used.send(get);
  await used.reply();
  const fresh = await open(port);
  await listener.close(60_000);
  assert.equal(await used.next(), undefined);
  assert.equal(await fresh.next(), undefined);
  await assert.rejects(open(port));
  assert.equal(listener.connections, 0);
});

test('closing waits for requests in flight, and answers requests that arrive meanwhile with 503', async (t) => {
  const { port, listener, waiting, release } = await serve(t);
  const inFlight = await open(port);
  const halfHere = await open(port);
  await halfHere.send('GET / HT');
  await exchange(port, get);
  await inFlight.send('GET /wait HTTP/1.1\r\nHost: h\r\n\r\n');
  await waiting;
  const closed = listener.close(60_000);
  await halfHere.send('TP/1.1\r\nHost: h\r\n\r\n');
  const refused = await halfHere.reply();
  assert.equal(refused.text, 'stopping');
  assert.equal(refused.field('Retry-After'), '1');
  assert.equal(await halfHere.next(), undefined);
  release();
  const reply = await inFlight.reply();
  assert.equal(reply.text, 'waited');
  assert.equal(reply.field('Connection'), 'close');
  inFlight.finish();
  halfHere.finish();
  await closed;
  assert.equal(listener.close(0), closed);
});

test('closing does not truncate a response that the client is still reading', async (t) => {
  const { port, listener } = await serve(t);
  const wire = await open(port);
  wire.socket.pause();
  await wire.send(
    'GET /large HTTP/1.1\r\nHost: h\r\n\r\nGET /never HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n',
  );
  await exchange(port, get);
  const closed = listener.close(60_000);
  wire.socket.resume();
  assert.equal((await wire.reply()).content.length, 16 * 1024 * 1024);
  wire.finish();
  await closed;
});

test('closing drops unfinished requests at the end of the grace period', async (t) => {
  const { port, listener, waiting } = await serve(t);
  const wire = await open(port);
  await wire.send('GET /wait HTTP/1.1\r\nHost: h\r\n\r\n');
  await waiting;
  await listener.close(10);
  assert.equal(await wire.next(), undefined);
  assert.equal(listener.connections, 0);
});

/**
 * Sends bytes and gives the first reply, on one connection after the other: what a host that is slow for a moment sends when
 * the timeout is over does not count.
 */
async function sentInTime(
  port: number,
  bytes: string,
  counts: (reply: WireReply | undefined) => boolean,
): Promise<{ wire: Wire; reply: WireReply | undefined }> {
  for (let tries = 0; tries < 100; tries += 1) {
    const wire = await open(port);
    await wire.send(bytes);
    const reply = await wire.next();
    if (counts(reply)) return { wire, reply };
  }
  throw new Error('none came in time');
}

test('a client that does not complete its header section in time gets 408 and is disconnected', async (t) => {
  const { port } = await serve(t, { headerTimeout: 40, requestTimeout: 5000 });
  const begun = 'GET / HTTP/1.1\r\nHost';
  const { wire, reply } = await sentInTime(port, begun, (found) => found !== undefined);
  assert.equal(reply?.status, 408);
  assert.equal(reply.field('Connection'), 'close');
  assert.equal(await wire.next(), undefined);
});

test('a client that never sends is disconnected without a response', async (t) => {
  const { port } = await serve(t, { headerTimeout: 40, requestTimeout: 5000 });
  const wire = await open(port);
  assert.equal(await wire.next(), undefined);
});

test('a request gets request-timeout as its response if its content does not arrive in time', async (t) => {
  const { port, consumed, refused, requests } = await serve(t, { headerTimeout: 40, requestTimeout: 60 });
  const slow = 'POST /consume HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nslow';
  let before = 0;
  const { wire, reply } = await sentInTime(port, slow, () => {
    if (requests.length === 0) before = refused.length;
    return requests.length > 0;
  });
  assert.equal(reply?.text, 'request-timeout');
  assert.equal(await wire.next(), undefined);
  assert.ok(consumed[0] instanceof Problem);
  assert.equal(refused.length, before);
});

test('a client that never sends the content after an early response is disconnected without a second response', async (t) => {
  const { port, requests } = await serve(t, { headerTimeout: 40, requestTimeout: 60 });
  const slow = 'POST /early HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nslow';
  const { wire, reply } = await sentInTime(port, slow, () => requests.length > 0);
  assert.equal(reply?.text, 'POST /early');
  assert.equal(await wire.next(), undefined);
});

test('a client that never reads is disconnected', async (t) => {
  const { port, listener } = await serve(t, { headerTimeout: 100, requestTimeout: 100 });
  const wire = await open(port);
  wire.socket.pause();
  await wire.send('GET /large HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n');
  const other = await open(port);
  other.socket.pause();
  await other.send('GET /large HTTP/1.1\r\nHost: h\r\n\r\n');
  await deserted(listener);
});

/** Sends the same bytes again and again until the server has closed the connection. */
async function drip(wire: Wire, bytes: string): Promise<void> {
  while (!wire.socket.destroyed) {
    await wire.send(bytes);
    await setTimeout(5);
  }
}

for (const [name = '', fields = ''] of [
  ['a response', ''],
  ['the last response', 'Connection: close\r\n'],
])
  test(`a client that does not read ${name} is disconnected in time, whatever it sends meanwhile`, async (t) => {
    const { port, listener } = await serve(t, { headerTimeout: 100, requestTimeout: 100 });
    const wire = await open(port);
    wire.socket.pause();
    await wire.send(`GET /large HTTP/1.1\r\nHost: h\r\n${fields}\r\n`);
    const dripping = drip(wire, 'GET');
    await deserted(listener);
    wire.socket.resume();
    await dripping;
  });

test('a new connection that sends only line ends is closed in time', async (t) => {
  const { port, listener } = await serve(t, { headerTimeout: 100, requestTimeout: 100 });
  const wire = await open(port);
  const dripping = drip(wire, '\r\n');
  await deserted(listener);
  await dripping;
});

for (const [name = '', bytes = ''] of [
  ['line ends', '\r\n'],
  ['bytes of a field that does not end', 'a'],
])
  test(`an idle connection that receives only ${name} is closed in time`, async (t) => {
    const { port, listener } = await serve(t, { keepAliveTimeout: 50, headerTimeout: 100 });
    const wire = await open(port);
    await wire.send(get);
    await wire.reply();
    if (bytes === 'a') await wire.send('GET / HTTP/1.1\r\nX: ');
    const dripping = drip(wire, bytes);
    await deserted(listener);
    await dripping;
  });

test('an idle connection is closed after the keep-alive timeout', async (t) => {
  const { port } = await serve(t, { keepAliveTimeout: 1 });
  const wire = await open(port);
  await wire.send(get);
  await wire.reply();
  assert.equal(await wire.next(), undefined);
});

/** Resolves when some connections, one after the other, have rested until they were let go. */
async function rested(port: number, rounds = 3): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const wire = await open(port);
    await wire.send(get);
    await wire.reply();
    assert.equal(await wire.next(), undefined);
    await wire.close();
  }
}

test('a connection that receives one request after another is not closed as idle', async (t) => {
  // So long that a busy machine does not hold this process up for the whole of it.
  const { port } = await serve(t, { keepAliveTimeout: 500 });
  const wire = await open(port);
  let over = false;
  const resting = rested(port, 1).finally(() => {
    over = true;
  });
  while (!over) {
    await wire.send(get);
    assert.equal((await wire.reply()).status, 200);
  }
  await resting;
});

test('a connection is not idle while a request is handled, and is idle afterwards', async (t) => {
  const { port, waiting, release } = await serve(t, { keepAliveTimeout: 1 });
  const wire = await open(port);
  await wire.send('GET /wait HTTP/1.1\r\nHost: h\r\n\r\n');
  await waiting;
  await rested(port);
  release();
  assert.equal((await wire.reply()).text, 'waited');
  assert.equal(await wire.next(), undefined);
});

test('a connection is not idle while content is outstanding, even after the response', async (t) => {
  const { port } = await serve(t, { keepAliveTimeout: 1 });
  const wire = await open(port);
  await wire.send('POST /early HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\na');
  assert.equal((await wire.reply()).text, 'POST /early');
  await rested(port);
  await wire.send('bcGET /next HTTP/1.1\r\nHost: h\r\n\r\n');
  assert.equal((await wire.reply()).text, 'GET /next');
  assert.equal(await wire.next(), undefined);
});

test('a connection is not idle before the client has read the response', async (t) => {
  const { port } = await serve(t, { keepAliveTimeout: 1 });
  const wire = await open(port);
  wire.socket.pause();
  await wire.send('GET /large HTTP/1.1\r\nHost: h\r\n\r\n');
  await rested(port);
  wire.socket.resume();
  assert.equal((await wire.reply()).content.length, 16 * 1024 * 1024);
  assert.equal(await wire.next(), undefined);
});

test('a pipelined request is not handled before the client has read the previous response', async (t) => {
  const { port, requests } = await serve(t);
  const wire = await open(port);
  wire.socket.pause();
  await wire.send('GET /large HTTP/1.1\r\nHost: h\r\n\r\n'.repeat(3));
  for (let round = 0; round < 10; round += 1) await exchange(port, get);
  assert.equal(requests.filter((request) => request.target === '/large').length, 1);
  wire.socket.resume();
  for (let round = 0; round < 3; round += 1)
    assert.equal((await wire.reply()).content.length, 16 * 1024 * 1024);
});

test('a request that the server handles slowly does not time out', async (t) => {
  const { port, waiting, release } = await serve(t, { headerTimeout: 40, requestTimeout: 40 });
  let reply: Promise<WireReply | undefined>;
  let arrived: boolean;
  do {
    const wire = await open(port);
    await wire.send('GET /wait HTTP/1.1\r\nHost: h\r\n\r\n');
    reply = wire.next();
    // What a host that is slow for a moment does not send in time is refused; then another one is sent.
    arrived = await Promise.race([waiting.then(() => true), reply.then(() => false)]);
  } while (!arrived);
  const silent = await open(port);
  assert.equal(await silent.next(), undefined);
  const second = await open(port);
  assert.equal(await second.next(), undefined);
  release();
  assert.equal((await reply)?.text, 'waited');
});

test('a client that disconnects while its request is handled leaves no connection behind', async (t) => {
  const { port, listener, waiting, release } = await serve(t);
  const wire = await open(port);
  await wire.send(get);
  await wire.reply();
  await wire.send('GET /wait HTTP/1.1\r\nHost: h\r\n\r\n');
  await waiting;
  wire.reset();
  release();
  await deserted(listener);
});

test('listening on an unavailable address throws a ListenError with the code of the system', async (t) => {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  t.after(() => holder.close());
  const address = holder.address();
  assert.ok(address !== null && typeof address === 'object');
  const limits = { headers: 1, target: 1, connections: 1, headerTimeout: 1000, requestTimeout: 1000 };
  const attempt = (host: string, port: number): Promise<unknown> =>
    listen({ host, port, limits, respond: () => Promise.reject(new Error('unused')), refuse: replyTo });
  await assert.rejects(attempt('127.0.0.1', address.port), (error) => {
    assert.ok(error instanceof ListenError);
    assert.equal(error.code, 'EADDRINUSE');
    assert.equal(error.message, `Port ${address.port} on 127.0.0.1 is in use by another process.`);
    return true;
  });
  await assert.rejects(attempt('192.0.2.1', 0), { name: 'ListenError', code: 'EADDRNOTAVAIL' });
});
