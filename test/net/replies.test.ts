import assert from 'node:assert/strict';
import { test } from 'node:test';
import { date, serve } from '../support/net/service.ts';
import { transport } from '../support/net/transport.ts';
import { exchange, open } from '../support/net/wire.ts';

test('a response has its headers in order, the length of its content, and only the Date of the service', async (t) => {
  const { port } = await serve(t);
  const wire = await open(port);
  await wire.send('GET /a?b=c HTTP/1.1\r\nHost: h\r\n\r\n');
  const reply = await wire.reply();
  assert.equal(reply.status, 200);
  assert.equal(reply.reason, 'OK');
  assert.deepEqual(reply.fields.slice(0, 3), [
    ['Date', date],
    ['Content-Type', 'text/plain; charset=utf-8'],
    ['Content-Length', '10'],
  ]);
  assert.equal(reply.text, 'GET /a?b=c');
  assert.notEqual(reply.field('Connection'), 'close');
});

test('the Content-Length of a string is that of its UTF-8 encoding', async (t) => {
  const { port } = await serve(t);
  const [reply] = await exchange(port, 'GET /umlaut HTTP/1.1\r\nHost: h\r\n\r\n');
  assert.equal(reply?.field('Content-Length'), '8');
  assert.equal(reply?.text, 'größer');
});

test('bytes are sent unchanged', async (t) => {
  const { port } = await serve(t);
  for (const connection of ['close', 'keep-alive']) {
    const wire = await open(port);
    await wire.send(`GET /bytes HTTP/1.1\r\nHost: h\r\nConnection: ${connection}\r\n\r\n`);
    assert.deepEqual([...(await wire.reply()).content], [0, 255, 10]);
    await wire.close();
  }
});

test('a response to HEAD has Content-Length but no content, whether or not the connection closes', async (t) => {
  const { port } = await serve(t);
  for (const target of ['/umlaut', '/other']) {
    for (const connection of ['close', 'keep-alive']) {
      const wire = await open(port);
      await wire.send(`HEAD ${target} HTTP/1.1\r\nHost: h\r\nConnection: ${connection}\r\n\r\n`);
      const reply = await wire.reply(true);
      assert.equal(reply.field('Content-Length'), target === '/umlaut' ? '8' : '11');
      if (connection === 'close') assert.equal(await wire.next(), undefined);
      else await wire.send('GET /next HTTP/1.1\r\nHost: h\r\n\r\n');
      if (connection === 'keep-alive') assert.equal((await wire.reply()).text, 'GET /next');
      await wire.close();
    }
  }
});

test('204 and 304 have neither Content-Length nor content; any other status without content has a length of 0', async (t) => {
  const { port } = await serve(t);
  for (const connection of ['close', 'keep-alive']) {
    for (const [target, length] of [
      ['/empty', undefined],
      ['/unchanged', undefined],
      ['/nothing', '0'],
    ] as const) {
      const wire = await open(port);
      await wire.send(`GET ${target} HTTP/1.1\r\nHost: h\r\nConnection: ${connection}\r\n\r\n`);
      assert.equal((await wire.reply()).field('Content-Length'), length);
      if (connection === 'keep-alive') {
        await wire.send('GET /next HTTP/1.1\r\nHost: h\r\n\r\n');
        assert.equal((await wire.reply()).text, 'GET /next');
      }
      await wire.close();
    }
  }
});

test('a connection closes after the response if the client or the service requests it', async (t) => {
  const { port } = await serve(t);
  for (const request of [
    'GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n',
    'GET /close HTTP/1.1\r\nHost: h\r\n\r\n',
  ]) {
    const wire = await open(port);
    await wire.send(request);
    assert.equal((await wire.reply()).field('Connection'), 'close');
    assert.equal(await wire.next(), undefined);
    wire.finish();
    assert.equal(await wire.ending, 'closed');
  }
});

test('an HTTP/1.0 connection stays open only if the client requests it', async (t) => {
  const { port } = await serve(t);
  const brief = await open(port);
  await brief.send('GET / HTTP/1.0\r\n\r\n');
  assert.equal((await brief.reply()).field('Connection'), 'close');
  assert.equal(await brief.next(), undefined);
  await brief.close();
  const lasting = await open(port);
  for (const target of ['/one', '/empty', '/two']) {
    await lasting.send(`GET ${target} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n`);
    assert.equal((await lasting.reply()).field('Connection'), 'keep-alive');
  }
});

test('Keep-Alive reports the timeout for every kind of request, and is absent for a timeout below one second', async (t) => {
  const { port } = await serve(t);
  const wire = await open(port);
  for (const request of [
    'GET / HTTP/1.1\r\nHost: h\r\n\r\n',
    'GET /empty HTTP/1.1\r\nHost: h\r\n\r\n',
    'POST /consume HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\nab',
    'POST /early HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\na',
    'bGET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n',
  ]) {
    await wire.send(request);
    const reply = await wire.reply();
    assert.deepEqual([reply.field('Connection'), reply.field('Keep-Alive')], ['keep-alive', 'timeout=5']);
  }
  const brief = await open((await serve(t, { keepAliveTimeout: 500 })).port);
  await brief.send('GET / HTTP/1.1\r\nHost: h\r\n\r\n');
  const reply = await brief.reply();
  assert.deepEqual([reply.field('Connection'), reply.field('Keep-Alive')], ['keep-alive', undefined]);
});

test('a request has its target and fields byte for byte, its version and its peer', async (t) => {
  const { port, requests } = await serve(t);
  await exchange(
    port,
    'GET /a%2Fb?q=%C3 HTTP/1.1\r\nHost: h\r\nX-A: one\r\nx-a: \xe9\r\n__proto__: p\r\n\r\n',
  );
  const [request] = requests;
  assert.ok(request);
  assert.equal(request.target, '/a%2Fb?q=%C3');
  assert.equal(request.version, '1.1');
  assert.deepEqual(request.headers.getAll('x-a'), ['one', '\xe9']);
  assert.equal(request.headers.get('__proto__'), 'p');
  assert.equal(request.body.present, false);
  const { peer, secure } = request.connection;
  assert.deepEqual({ peer, secure }, { peer: '127.0.0.1', secure: transport.tls !== undefined });
});

test('field lines that node:http would drop are all available', async (t) => {
  const { port, requests } = await serve(t);
  await exchange(
    port,
    'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nAuthorization: x\r\nAuthorization: y\r\n\r\n',
  );
  assert.deepEqual(requests[0]?.headers.getAll('host'), ['a', 'b']);
  assert.deepEqual(requests[0]?.headers.getAll('authorization'), ['x', 'y']);
});

test('a request without Host and an upgrade request are handled like any other request', async (t) => {
  const { port, requests } = await serve(t);
  await exchange(port, 'GET / HTTP/1.1\r\n\r\n');
  const [reply] = await exchange(
    port,
    'GET /up HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
  );
  assert.equal(reply?.text, 'GET /up');
  assert.equal(reply?.field('Connection'), 'close');
  assert.equal(requests.length, 2);
});

test('a failing handler or an invalid header results in internal-error, and later requests are served', async (t) => {
  const { port, refused } = await serve(t);
  for (const target of ['/fault', '/bad-field']) {
    const [reply] = await exchange(port, `GET ${target} HTTP/1.1\r\nHost: h\r\n\r\n`);
    assert.equal(reply?.text, 'internal-error');
  }
  assert.equal(refused.length, 2);
  const [after] = await exchange(port, 'GET /after HTTP/1.1\r\nHost: h\r\n\r\n');
  assert.equal(after?.status, 200);
});

test('an invalid header is detected after a valid one of the same name, and each response has its own values', async (t) => {
  const { port } = await serve(t);
  const ask = async (target: string): Promise<(string | undefined)[]> => {
    const [reply] = await exchange(port, `GET ${target} HTTP/1.1\r\nHost: h\r\n\r\n`);
    return [reply?.text, reply?.field('ETag'), reply?.field('Content-Type')];
  };
  const good = ['good', '"a"', 'text/plain; charset=utf-8'];
  assert.deepEqual(await ask('/good-field'), good);
  assert.equal((await ask('/good-field-gone-bad'))[0], 'internal-error');
  assert.deepEqual(await ask('/good-field'), good);
  assert.deepEqual(await ask('/other'), ['GET /other', undefined, 'text/plain; charset=utf-8']);
});

test('pipelined requests are handled and answered one after the other', async (t) => {
  const { port, requests, waiting, release } = await serve(t);
  const wire = await open(port);
  await wire.send(
    'GET /wait HTTP/1.1\r\nHost: h\r\n\r\nPOST /consume HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc' +
      'HEAD /x HTTP/1.1\r\nHost: h\r\n\r\nGET /last HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n',
  );
  await waiting;
  assert.equal(requests.length, 1);
  release();
  assert.equal((await wire.reply()).text, 'waited');
  assert.equal((await wire.reply()).text, '3 bytes');
  assert.equal((await wire.reply(true)).status, 200);
  assert.equal((await wire.reply()).text, 'GET /last');
  assert.equal(await wire.next(), undefined);
});

test('a client that ends its side after its requests gets every response', async (t) => {
  const { port } = await serve(t);
  const replies = await exchange(
    port,
    'GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\nGET /3 HTTP/1.1\r\nHost: h\r\n\r\n',
  );
  assert.deepEqual(
    replies.map((reply) => reply.text),
    ['GET /1', 'GET /2', 'GET /3'],
  );
});

test('requests after a response that closes the connection are not handled', async (t) => {
  const { port, requests } = await serve(t);
  const replies = await exchange(
    port,
    'GET /close HTTP/1.1\r\nHost: h\r\n\r\nPUT /never HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n',
  );
  assert.deepEqual(
    replies.map((reply) => reply.text),
    ['bye'],
  );
  assert.equal(requests.length, 1);
});

test('requests beyond the limit of a pipeline are refused after the responses to those before them', async (t) => {
  const { port, waiting, release } = await serve(t);
  const wire = await open(port);
  await wire.send(`GET /wait HTTP/1.1\r\nHost: h\r\n\r\n${'GET / HTTP/1.1\r\nHost: h\r\n\r\n'.repeat(400)}`);
  await waiting;
  release();
  const replies = await wire.rest();
  assert.equal(replies.at(-1)?.text, 'full');
  assert.equal(replies.length, 258);
});
