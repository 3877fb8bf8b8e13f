import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createService } from '../../src/index.ts';
import { exchange, open } from '../support/net/wire.ts';
import { seeded } from '../support/seeded.ts';
import { article } from '../support/service/open-service.ts';
import { formatRequest, simpleSignature } from '../support/service/test-server.ts';

const faults: unknown[] = [];

const service = createService({
  users: { ann: { secret: 'ann-secret' } },
  hmacSimple: 'all',
  maxAuthFailures: 0,
  seed: { '/articles': [{ title: 'Tea', price: { value: '9.99', currency: 'EUR' } }] },
  onError: (error) => faults.push(error),
});
const { port } = await service.listen({});

after(async () => {
  await service.close({ grace: 0 });
  assert.deepEqual(faults, []);
});

/** Returns the bytes of a signed request with content. */
function signedBytes(verb: string, target: string, content: string, ...fields: string[]): string {
  const signature = simpleSignature({ verb, target, secret: 'ann-secret' });
  return formatRequest({
    verb,
    target,
    content,
    lines: [`Authentication: hmac ann:${signature}`, ...fields],
  });
}

/** 1xx to 4xx, 501, 503, 505: what a client may be answered, whatever it sends. */
function isFit(status: number): boolean {
  return status < 500 || status === 501 || status === 503 || status === 505;
}

async function stillAnswers(): Promise<void> {
  const [reply] = await exchange(
    port,
    'GET /articles/1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
  );
  assert.equal(reply?.status, 200);
  assert.equal(reply?.text, article('Tea'));
}

const get = (target: string): string => `GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const withLines = (...lines: string[]): string => `GET /articles HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
const host = 'Host: localhost';

const requests: readonly (readonly [name: string, bytes: string, status: number])[] = [
  ['nothing that is HTTP', 'hello\r\n\r\n', 400],
  ['bad framing', 'GET /articles HTTP/1.1\r\nHost localhost\r\n\r\n', 400],
  ['two lengths', withLines(host, 'Content-Length: 1', 'Content-Length: 2'), 400],
  ['chunked and a length', withLines(host, 'Content-Length: 5', 'Transfer-Encoding: chunked'), 400],
  ['a negative length', withLines(host, 'Content-Length: -1'), 400],
  ['an obs-fold', withLines(host, 'X-A: 1', ' 2'), 400],
  ['NUL in a field', withLines(host, 'X-A: 1\u00002'), 400],
  ['a lone CR in a field', withLines(host, 'X-A: 1\r2'), 400],
  ['a lone LF in a field', withLines(host, 'X-A: 1\n2'), 400],
  ['a space before the colon', withLines(host, 'X-A : 1'), 400],
  ['an empty field name', withLines(host, ': 1'), 400],
  ['a huge header', withLines(host, `X-A: ${'a'.repeat(200_000)}`), 431],
  ['a header just over the limit', withLines(host, `X-A: ${'a'.repeat(16_384)}`), 431],
  ['10,000 fields', withLines(host, ...Array.from({ length: 10_000 }, (_, at) => `X-${at}: 1`)), 431],
  ['a target over 8 KiB', get(`/articles?${'a'.repeat(8_200)}`), 414],
  ['no Host', 'GET /articles HTTP/1.1\r\n\r\n', 400],
  ['two Hosts', withLines(host, host), 400],
  ['a bad Host', withLines('Host: a b'), 400],
  ['an empty Host', withLines('Host:'), 400],
  ['a Host with user information', withLines('Host: a@b'), 400],
  ['a Content-Type twice', withLines(host, 'Content-Type: a/b', 'Content-Type: a/b'), 400],
  ['HTTP/2.0', 'GET /articles HTTP/2.0\r\nHost: localhost\r\n\r\n', 505],
  ['HTTP/0.9', 'GET /articles\r\n\r\n', 505],
  ['an unknown method', 'BREW /articles HTTP/1.1\r\nHost: localhost\r\n\r\n', 501],
  ['a method in lower case', 'get /articles HTTP/1.1\r\nHost: localhost\r\n\r\n', 501],
  ['CONNECT', 'CONNECT localhost:80 HTTP/1.1\r\nHost: localhost:80\r\n\r\n', 501],
  ['TRACE', 'TRACE /articles HTTP/1.1\r\nHost: localhost\r\n\r\n', 501],
  ['an unknown transfer coding', withLines(host, 'Transfer-Encoding: gzip, chunked'), 501],
  ['an unknown expectation', withLines(host, 'Expect: tea'), 417],
  ['absolute form', get('http://localhost/articles/1'), 200],
  ['absolute form of another scheme', get('ftp://localhost/articles/1'), 400],
  ['an asterisk with GET', get('*'), 400],
  ['a bad percent-encoding', get('/articles/%zz'), 400],
  ['a percent sign at the end', get('/articles/%'), 400],
  ['overlong UTF-8', get('/articles/%C0%AF'), 400],
  ['a surrogate in UTF-8', get('/articles/%ED%A0%80'), 400],
  ['a raw octet over 127', get('/articles/\u00fc'), 400],
  ['an encoded slash', get('/articles%2F1'), 404],
  ['an encoded slash in an id', get('/articles/a%2Fb'), 404],
  ['dot segments', get('/articles/../articles/1'), 404],
  ['encoded dot segments', get('/articles/%2e%2e/articles/1'), 404],
  ['a trailing slash', get('/articles/1/'), 404],
  ['a double slash', get('//articles/1'), 404],
  ['an encoded NUL', get('/articles/%00'), 404],
  ['__proto__ as a path', get('/__proto__'), 404],
  ['__proto__ as an id', get('/articles/__proto__'), 404],
  ['__proto__ as a query parameter', get('/articles?__proto__=1&constructor=2'), 200],
  ['__proto__ as a field', withLines(host, '__proto__: x', 'constructor: y'), 200],
  [
    '__proto__ as an element',
    signedBytes('POST', '/articles', '<article><__proto__>x</__proto__></article>'),
    422,
  ],
  ['__proto__ as the root', signedBytes('POST', '/articles', '<__proto__/>'), 422],
  [
    '__proto__ as an attribute',
    signedBytes('POST', '/articles', '<article __proto__="1" constructor="2"/>'),
    422,
  ],
  ['an empty document', signedBytes('POST', '/articles', ''), 400],
  ['a document of NUL', signedBytes('POST', '/articles', '\0\0\0'), 400],
  ['invalid UTF-8', signedBytes('POST', '/articles', '<article>\xff\xfe</article>'), 400],
  [
    'an entity bomb',
    signedBytes('POST', '/articles', '<!DOCTYPE a [<!ENTITY b "bb">]><article>&b;</article>'),
    400,
  ],
  ['an unknown entity', signedBytes('POST', '/articles', '<article><title>&b;</title></article>'), 400],
  ['a deep document', signedBytes('POST', '/articles', '<a>'.repeat(100_000)), 400],
  ['a thousand attributes', signedBytes('POST', '/articles', `<article ${'a="" '.repeat(1000)}/>`), 400],
  ['an invalid If-Match', withLines(host, 'If-Match: x'), 400],
  ['an invalid Accept', withLines(host, 'Accept: ;;;,,,///'), 406],
  ['a Range', withLines(host, 'Range: bytes=0-1'), 200],
  ['a bad date', withLines(host, 'If-Modified-Since: yesterday'), 200],
  ['a signature of control characters', withLines(host, 'Authentication: hmac \u007f:\u0001'), 400],
  ['a huge signature', withLines(host, `Authentication: hmac ${'a:'.repeat(4000)}`), 400],
];

for (const [name, bytes, status] of requests) {
  test(`the server responds to ${name} with ${status}`, async () => {
    const [reply] = await exchange(port, bytes);
    assert.equal(reply?.status, status, reply?.text);
    assert.ok(reply?.field('Date') !== undefined);
    await stillAnswers();
  });
}

test('JSON with __proto__ is rejected with 422, and does not pollute Object.prototype', async () => {
  const content =
    '{"__proto__":{"admin":true},"title":"x","price":{"value":"1.00","currency":"EUR","constructor":1}}';
  const bytes = signedBytes('POST', '/articles', content).replace('application/xml', 'application/json');
  const [reply] = await exchange(port, bytes);
  assert.equal(reply?.status, 422);
  assert.equal(Object.hasOwn(Object.prototype, 'admin'), false);
});

test('content of 1 MiB is accepted, and one more byte returns 413 and closes the connection', async () => {
  const padded = (length: number): string => article('Big').padEnd(length, ' ');
  const [fits] = await exchange(port, signedBytes('PUT', '/articles/big', padded(1_048_576)));
  assert.equal(fits?.status, 201);
  const wire = await open(port);
  const head = signedBytes('PUT', '/articles/big', padded(1_048_577)).split('\r\n\r\n', 1)[0] ?? '';
  await wire.send(`${head}\r\n\r\n`);
  const reply = await wire.reply();
  assert.equal(`${reply.status} ${reply.field('Connection')}`, '413 close');
  assert.equal(await wire.next(), undefined);
  await wire.close();
});

test('chunked content beyond the limit returns 413 before its end is sent', async () => {
  const wire = await open(port);
  const head = signedBytes('PUT', '/articles/big', '').replace(
    'Content-Length: 0',
    'Transfer-Encoding: chunked',
  );
  await wire.send(head);
  const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
  for (let sent = 0; sent < 20; sent += 1) void wire.send(chunk);
  const reply = await wire.reply();
  assert.equal(`${reply.status} ${reply.field('Connection')}`, '413 close');
  await wire.close();
});

test('content is parsed while it arrives, and an early error returns 400 before its end is sent', async () => {
  const wire = await open(port);
  const bytes = signedBytes('PUT', '/articles/early', '<article></wrong>'.padEnd(1_000_000, ' '));
  await wire.send(bytes.slice(0, bytes.indexOf('</wrong>') + 20));
  const reply = await wire.reply();
  assert.equal(`${reply.status} ${reply.field('Connection')}`, '400 close');
  assert.match(reply.text, /xml-malformed/);
  await wire.close();
});

test('incomplete content creates nothing', async () => {
  for (const ending of ['finish', 'reset'] as const) {
    const wire = await open(port);
    await wire.send(signedBytes('PUT', '/articles/half', article('Half')).slice(0, -10));
    wire[ending]();
    await wire.ending;
    const [reply] = await exchange(port, get('/articles/half'));
    assert.equal(reply?.status, 404, ending);
  }
});

test('100 Continue is sent only if a request passes every check before its content', async () => {
  const refused = await open(port);
  await refused.send(
    'PUT /articles/c HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/xml\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n',
  );
  assert.equal((await refused.reply()).status, 401);
  await refused.close();
  const taken = await open(port);
  const [head = '', content = ''] = signedBytes(
    'PUT',
    '/articles/c',
    article('Tea'),
    'Expect: 100-continue',
  ).split('\r\n\r\n');
  await taken.send(`${head}\r\n\r\n`);
  assert.equal((await taken.reply()).status, 100);
  await taken.send(content);
  assert.equal((await taken.reply()).status, 201);
  await taken.close();
});

test('a randomly changed request never gets 500, and the server continues to respond', async () => {
  const random = seeded();
  const good = [
    get('/articles/1'),
    signedBytes('PUT', '/articles/fuzz', article('Fuzz')),
    signedBytes('POST', '/articles', article('Fuzz')),
    withLines(host, 'If-None-Match: "x"', 'Accept: application/json;q=0.5, */*', 'Prefer: return=minimal'),
  ];
  const pieces = [...'\n\0%: "<,\t0', ...['\r\n', '\xff', 'Host: x\r\n', 'Content-Length: 3\r\n']];
  for (let round = 0; round < 300; round += 1) {
    let bytes = random.pick(good);
    for (let changes = random.below(3) + 1; changes > 0; changes -= 1) {
      const at = random.below(bytes.length);
      bytes = bytes.slice(0, at) + random.pick(pieces) + bytes.slice(at + random.below(4));
    }
    for (const reply of await exchange(port, bytes)) {
      assert.ok(isFit(reply.status), `seed ${random.seed}: ${reply.status} to ${JSON.stringify(bytes)}`);
    }
  }
  await stillAnswers();
});
