import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../support/net/service.ts';
import { transport } from '../support/net/transport.ts';
import { exchange, open } from '../support/net/wire.ts';

const post = 'POST /consume HTTP/1.1\r\nHost: h\r\n';

/** What is refused unread, and with which problem. */
const refused: readonly (readonly [name: string, bytes: string, problem: string])[] = [
  ['two lengths', `${post}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`, 'malformed-request'],
  ['the same length twice', `${post}Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc`, 'malformed-request'],
  ['a list of lengths', `${post}Content-Length: 3, 3\r\n\r\nabc`, 'malformed-request'],
  ['a signed length', `${post}Content-Length: +3\r\n\r\nabc`, 'malformed-request'],
  ['a length beyond numbers', `${post}Content-Length: ${'9'.repeat(30)}\r\n\r\nabc`, 'malformed-request'],
  [
    'chunked and a length',
    `${post}Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n`,
    'malformed-request',
  ],
  [
    'a length and chunked',
    `${post}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'malformed-request',
  ],
  ['chunked not last', `${post}Transfer-Encoding: chunked, gzip\r\n\r\n`, 'malformed-request'],
  [
    'chunked in HTTP/1.0',
    'POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'malformed-request',
  ],
  ['a folded field', 'GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n', 'malformed-request'],
  ['white space before the colon', 'GET / HTTP/1.1\r\nHost : h\r\n\r\n', 'malformed-request'],
  ['white space before the first field', 'GET / HTTP/1.1\r\n Host: h\r\n\r\n', 'malformed-request'],
  ['a nameless field', 'GET / HTTP/1.1\r\n: h\r\n\r\n', 'malformed-request'],
  ['a NUL in a field', 'GET / HTTP/1.1\r\nA: b\0c\r\n\r\n', 'malformed-request'],
  ['a NUL in the target', 'GET /\0 HTTP/1.1\r\n\r\n', 'malformed-request'],
  ['a tab in the target', 'GET /a\tb HTTP/1.1\r\n\r\n', 'malformed-request'],
  ['a lone CR in a field', 'GET / HTTP/1.1\r\nA: b\rc\r\n\r\n', 'malformed-request'],
  ['a lone LF in a field', 'GET / HTTP/1.1\r\nA: b\nc\r\n\r\n', 'malformed-request'],
  ['bare LF after the request line', 'GET / HTTP/1.1\nHost: h\n\n', 'malformed-request'],
  ['bare LF after a field', 'GET / HTTP/1.1\r\nHost: h\n\r\n', 'malformed-request'],
  ['a target without a slash', 'GET foo HTTP/1.1\r\n\r\n', 'malformed-request'],
  ['binary', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 'malformed-request'],
  ['half a request line', 'GET /a', 'malformed-request'],
  ['half a header section', 'GET /a HTTP/1.1\r\nHost: h\r\n', 'malformed-request'],
  ['an unknown method', 'BREW /pot HTTP/1.1\r\nHost: h\r\n\r\n', 'method-not-implemented'],
  ['a method in lower case', 'get / HTTP/1.1\r\nHost: h\r\n\r\n', 'method-not-implemented'],
  ['a method that starts like one', 'GETS / HTTP/1.1\r\nHost: h\r\n\r\n', 'method-not-implemented'],
  ['a method of RTSP', 'SETUP / HTTP/1.1\r\nHost: h\r\n\r\n', 'method-not-implemented'],
  ['CONNECT', 'CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\nabc', 'method-not-implemented'],
  ['a word and nothing that makes it a method', 'HELO mail.example\r\n', 'malformed-request'],
  ['HTTP/0.9', 'GET /\r\n\r\n', 'version-not-supported'],
  ['HTTP/0.9 by name', 'GET / HTTP/0.9\r\n\r\n', 'version-not-supported'],
  ['HTTP/1.2', 'GET / HTTP/1.2\r\n\r\n', 'version-not-supported'],
  ['HTTP/2.0', 'GET / HTTP/2.0\r\n\r\n', 'version-not-supported'],
  ['HTTP/3.0', 'GET / HTTP/3.0\r\n\r\n', 'version-not-supported'],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'version-not-supported'],
  ['a version with a tail', 'GET / HTTP/1.1x\r\n\r\n', 'malformed-request'],
  ['another protocol', 'GET / HTTQ/1.1\r\n\r\n', 'malformed-request'],
];

const statuses: Record<string, number> = {
  'malformed-request': 400,
  'method-not-implemented': 501,
  'version-not-supported': 505,
};

for (const [name, bytes, problem] of refused) {
  test(`a request with ${name} is rejected as ${problem} before it is handled, and the connection closes`, async (t) => {
    const { port, requests } = await serve(t);
    const replies = await exchange(port, bytes);
    assert.deepEqual(
      replies.map((reply) => [reply.status, reply.text, reply.field('Connection')]),
      [[statuses[problem], problem, 'close']],
    );
    assert.equal(requests.length, 0);
  });
}

test('a request line may come byte by byte, after an empty line or two', async (t) => {
  const { port } = await serve(t);
  const wire = await open(port);
  for (const byte of '\r\n\r\nGET /slow HTTP/1.1\r\nHost: h\r\n\r\n') await wire.send(byte);
  assert.equal((await wire.reply()).text, 'GET /slow');
});

test('an unsupported version is rejected also if it arrives byte by byte', async (t) => {
  const { port } = await serve(t);
  const wire = await open(port);
  for (const byte of 'GET / HTTP/3.0\r\n') await wire.send(byte);
  assert.equal((await wire.reply()).text, 'version-not-supported');
});

test('a target at its limit is accepted, and one byte more is rejected with 414', async (t) => {
  const { port } = await serve(t, { target: 100 });
  const request = (length: number): string => `HEAD /${'a'.repeat(length - 1)} HTTP/1.1\r\nHost: h\r\n\r\n`;
  assert.equal((await exchange(port, request(100), true))[0]?.status, 200);
  assert.equal((await exchange(port, request(101), true))[0]?.status, 414);
});

test('a header section at its limit is accepted, and one byte more is rejected as too large', async (t) => {
  const { port } = await serve(t, { headers: 100 });
  const host = 'Host: h\r\n';
  const request = (size: number): string =>
    `GET / HTTP/1.1\r\n${host}A: ${'a'.repeat(size - host.length - 'A: \r\n'.length)}\r\n\r\n`;
  assert.equal((await exchange(port, request(100)))[0]?.status, 200);
  assert.equal((await exchange(port, request(101)))[0]?.text, 'header-too-large');
});

test('a target that is too long and a header section that is too large are distinguished at any size', async (t) => {
  const { port, requests } = await serve(t);
  // A record of TLS has 16 KiB at most, so that no packet has both the method and a target that is much longer.
  for (const length of transport.tls === undefined ? [9000, 20_000, 40_000, 60_000] : [9000, 20_000]) {
    const long = 'a'.repeat(length);
    const [target] = await exchange(port, `GET /${long} HTTP/1.1\r\nHost: h\r\n\r\n`);
    assert.equal(target?.text, 'target-too-long', `${length}`);
    const [field] = await exchange(port, `GET / HTTP/1.1\r\nHost: h\r\nA: ${long}${long}\r\n\r\n`);
    assert.equal(field?.text, 'header-too-large', `${length}`);
  }
  assert.equal(requests.length, 0);
});

test('an endless header section is rejected while the client is still sending it', async (t) => {
  const { port } = await serve(t);
  const wire = await open(port);
  await wire.send('GET / HTTP/1.1\r\nHost: h\r\nA: ');
  const flood = wire.send('a b '.repeat(200_000));
  assert.equal((await wire.reply()).text, 'header-too-large');
  await wire.close();
  await flood;
});

test('10,000 short fields are rejected as header-too-large, and 2,500 fields are all received', async (t) => {
  const { port, requests } = await serve(t);
  const [many] = await exchange(port, `GET / HTTP/1.1\r\n${'a: b\r\n'.repeat(10_000)}\r\n`);
  assert.equal(many?.text, 'header-too-large');
  await exchange(port, `GET / HTTP/1.1\r\n${'a: b\r\n'.repeat(2500)}\r\n`);
  assert.equal(requests[0]?.headers.getAll('a').length, 2500);
});

test('garbage after a valid request in one packet is rejected after the response to the request', async (t) => {
  const { port, consumed } = await serve(t);
  for (const garbage of ['GARBAGE', '\0\0\0', '\r\nX: y\r\n\r\n']) {
    const wire = await open(port);
    await wire.send(`${post}Content-Length: 3\r\n\r\nabc${garbage}`);
    const replies = await wire.rest();
    assert.deepEqual(
      replies.map((reply) => [reply.status, reply.text]),
      [
        [200, '3 bytes'],
        [400, 'malformed-request'],
      ],
    );
    assert.notEqual(replies[0]?.field('Connection'), 'close');
    await wire.close();
  }
  assert.deepEqual(consumed, [3, 3, 3]);
});

test('garbage after a request that is still being handled is rejected after its response', async (t) => {
  const { port, waiting, release } = await serve(t);
  const wire = await open(port);
  await wire.send('GET /wait HTTP/1.1\r\nHost: h\r\n\r\n');
  await waiting;
  await wire.send('\0');
  release();
  assert.equal((await wire.reply()).text, 'waited');
  assert.equal((await wire.reply()).text, 'malformed-request');
  assert.equal(await wire.next(), undefined);
});

test('CONNECT after other requests is rejected after their responses', async (t) => {
  const { port } = await serve(t);
  const wire = await open(port);
  await wire.send('GET /1 HTTP/1.1\r\nHost: h\r\n\r\nCONNECT h:1 HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc');
  assert.deepEqual(
    (await wire.rest()).map((reply) => reply.text),
    ['GET /1', 'method-not-implemented'],
  );
});
