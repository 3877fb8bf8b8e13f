import assert from 'node:assert/strict';
import { connect } from 'node:net';
import test from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import { type Double, type EntryMatch, type JournalEntry, startDouble } from '../../../src/double/index.ts';
import { get, rawExchange } from '../../support/double/raw-exchange.ts';

const users = { johndoe: { secret: 'a-secret', password: 'a-password' } };
const seed = { '/articles': [{ title: 'Tea', price: { value: '3.50', currency: 'EUR' } }] };
const article = '<article><title>Bread</title><price currency="EUR">2.80</price></article>';

function latest(double: Double): JournalEntry {
  const entry = double.journal.last();
  assert.ok(entry !== undefined, 'the journal is empty');
  return entry;
}

test('an entry has the request as sent, the response, the principal and the step that responded', async () => {
  await using double = await startDouble({ users, seed, now: '2026-03-01T12:00:00Z' });
  await double.as('johndoe').fetch('/articles/t%65a?note=a+b&note=%C3%A4', {
    method: 'PUT',
    body: article,
  });
  const { number, time, request, response: reply, principal, step, problem, aborted } = latest(double);
  assert.deepEqual(
    [number, time, step, problem, aborted],
    [1, Date.UTC(2026, 2, 1, 12), 16, undefined, false],
  );
  assert.deepEqual(principal, { name: 'johndoe', scheme: 'hmac' });
  assert.equal(request?.method, 'PUT');
  assert.equal(request.target, '/articles/t%65a?note=a+b&note=%C3%A4');
  assert.equal(request.path, '/articles/tea');
  assert.deepEqual(request.query, [
    ['note', 'a b'],
    ['note', 'ä'],
  ]);
  assert.equal(request.body, article);
  assert.equal(request.length, article.length);
  assert.equal(reply?.status, 201);
  assert.ok(reply.headers.some(([name, value]) => name === 'Location' && value === '/articles/tea'));
});

test('an entry names the user of refused credentials, by HMAC and by Basic', async () => {
  await using double = await startDouble({ users });
  const attempts = [
    { scheme: 'hmac', secret: 'wrong' },
    { scheme: 'basic', password: 'wrong' },
  ] as const;
  for (const attempt of attempts) {
    await double.as('johndoe', attempt).fetch('/articles');
    const { user, principal, response: reply } = latest(double);
    assert.deepEqual([user, principal, reply?.status], ['johndoe', undefined, 401], attempt.scheme);
  }
});

test('an entry lists header fields in the order received over a socket', async () => {
  await using double = await startDouble({ seed });
  const lines = ['Host: localhost', 'X-B: 2', 'X-A: 1', 'x-b:  3', 'Connection: close'];
  await rawExchange(double.url, `GET /articles/1 HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  assert.deepEqual(
    latest(double).request?.headers.map((line) => line.join(': ')),
    lines.map((line) => line.replace(/ {2}/, ' ')),
  );
});

test('an entry shows the content of a compressed response decompressed', async () => {
  await using double = await startDouble({ seed });
  double.seed({
    '/articles': Array.from({ length: 40 }, () => ({
      title: 'x',
      price: { value: '1.00', currency: 'EUR' },
    })),
  });
  await double.fetch('/articles', { headers: { 'accept-encoding': 'gzip' } });
  const { response: reply } = latest(double);
  assert.ok(reply?.headers.some(([name, value]) => name === 'Content-Encoding' && value === 'gzip'));
  assert.match(reply?.body ?? '', /^<articles>.*<\/articles>$/s);
});

test('an entry shows content with a false Content-Encoding as sent', async () => {
  await using double = await startDouble({ users, https: false });
  double.faults.next({}, { status: 200, body: 'Tea', headers: { 'Content-Encoding': 'gzip' } });
  const reply = await fetch(`${double.url}/articles`);
  await assert.rejects(reply.text());
  assert.equal(latest(double).response?.body, 'Tea');
});

const host = 'Host: localhost\r\n';
const steps: readonly [step: number, status: number, bytes: string][] = [
  [0, 400, 'what is this\r\n\r\n'],
  [0, 414, `GET /${'a'.repeat(9000)} HTTP/1.1\r\n${host}\r\n`],
  [0, 431, `GET / HTTP/1.1\r\n${host}X: ${'a'.repeat(17_000)}\r\n\r\n`],
  [2, 400, 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'],
  [3, 501, `PATCH /articles HTTP/1.1\r\n${host}Connection: close\r\n\r\n`],
  [4, 400, `GET /% HTTP/1.1\r\n${host}Connection: close\r\n\r\n`],
  [
    5,
    417,
    `PUT /articles/1 HTTP/1.1\r\n${host}Expect: more\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
  ],
  [6, 404, get('/nowhere')],
  [7, 400, `GET / HTTP/1.1\r\n${host}Authorization: hmac\r\nConnection: close\r\n\r\n`],
  [8, 200, `OPTIONS * HTTP/1.1\r\n${host}Connection: close\r\n\r\n`],
  [9, 405, `PUT / HTTP/1.1\r\n${host}Content-Length: 0\r\nConnection: close\r\n\r\n`],
  [10, 401, `DELETE /articles/1 HTTP/1.1\r\n${host}Connection: close\r\n\r\n`],
  [12, 404, get('/articles/2')],
  [13, 406, `GET /articles/1 HTTP/1.1\r\n${host}Accept: image/png\r\nConnection: close\r\n\r\n`],
  [14, 412, `GET /articles/1 HTTP/1.1\r\n${host}If-Match: "other"\r\nConnection: close\r\n\r\n`],
  [14, 304, `GET /articles/1 HTTP/1.1\r\n${host}If-None-Match: *\r\nConnection: close\r\n\r\n`],
  [16, 200, get('/articles/1')],
];

for (const [step, status, bytes] of steps) {
  test(`an entry has step ${step} for a response with ${status}`, async () => {
    await using double = await startDouble({ seed });
    const { head } = await rawExchange(double.url, bytes);
    assert.match(head, new RegExp(`^HTTP/1.1 ${status} `));
    const entry = latest(double);
    assert.deepEqual([entry.step, entry.response?.status], [step, status]);
  });
}

test('an entry also has the steps after the credentials', async () => {
  await using double = await startDouble({ users, seed });
  const john = double.as('johndoe');
  const put = (type: string, body: string): Promise<Response> =>
    john.fetch('/articles/1', { method: 'PUT', headers: { 'content-type': type }, body });
  await put('image/png', 'no picture');
  assert.deepEqual([latest(double).step, latest(double).problem?.type], [11, 'unsupported-media-type']);
  await put('application/xml', '<article>');
  assert.equal(latest(double).step, 15);
});

test('the entry of a request that cannot be parsed has the received bytes, and a request with empty members', async () => {
  await using double = await startDouble();
  await rawExchange(double.url, 'GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Basic abc\r\nno colon\r\n\r\n');
  const entry = latest(double);
  assert.deepEqual([entry.request.method, entry.request.target, entry.request.headers], ['', '', []]);
  assert.match(
    entry.received ?? '',
    /^GET \/ HTTP\/1\.1\r\nHost: a\r\nAuthorization: \[redacted\]\r\nno colon/,
  );
  assert.match(entry.raw().received ?? '', /Basic abc/);
  assert.deepEqual([entry.problem?.type, entry.status], ['malformed-request', 400]);
});

test('the entry of a request with incomplete content is aborted and has the received content', async () => {
  await using double = await startDouble({ users });
  const socket = connect(Number(new URL(double.url).port), '127.0.0.1');
  const fields = await double.as('johndoe').signRequest({ method: 'POST', url: `${double.url}/articles` });
  const lines = Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  const head = `POST /articles HTTP/1.1\r\n${host}${lines}Content-Type: application/xml\r\nContent-Length: 100\r\n\r\n`;
  socket.end(`${head}<article>`);
  const entry = await double.journal.waitFor({ method: 'POST' });
  assert.deepEqual([entry.aborted, entry.step, entry.problem?.type], [true, 15, 'content-incomplete']);
  assert.equal(entry.request?.body, '<article>');
});

test('the entry is aborted if the client disconnects before the response, over a socket and in process', async () => {
  await using double = await startDouble({ seed });
  for (const ask of [fetch, double.fetch]) {
    await ask(`${double.url}/`); // the platform loads its fetch when it is first asked for
    const delayed = double.faults.next({}, { delay: 400 });
    const client = new AbortController();
    const asked = ask(`${double.url}/articles/1`, { signal: client.signal });
    asked.catch(() => {}); // judged below
    while (delayed.count === 0) await setImmediate();
    client.abort();
    await assert.rejects(asked, { name: 'AbortError' });
    const entry = await double.journal.waitFor({ path: '/articles/1' });
    await setImmediate(); // the reply is given to the socket after it is written down
    assert.equal(entry.aborted, true);
    double.journal.clear();
  }
});

test('the journal removes the oldest entries above its maximum of entries or bytes', async () => {
  await using few = await startDouble({ journal: { entries: 2 } });
  for (const path of ['/a', '/b', '/c']) await few.fetch(path);
  assert.deepEqual(
    few.journal.all().map(({ request }) => request?.path),
    ['/b', '/c'],
  );
  assert.equal(few.journal.length, 2);
  await using small = await startDouble({ users, journal: { bytes: 20_000 } });
  const body = `<article>${' '.repeat(8000)}`;
  for (const path of ['/articles/a', '/articles/b', '/articles/c'])
    await small.as('johndoe').fetch(path, { method: 'PUT', body });
  assert.deepEqual(
    small.journal.all().map(({ request }) => request?.path),
    ['/articles/b', '/articles/c'],
  );
});

test('an entry stores the beginning of long content, and its full length', async () => {
  await using double = await startDouble({ users, journal: { body: 10 } });
  await double.as('johndoe').fetch('/articles/a', { method: 'PUT', body: article });
  const { request } = latest(double);
  assert.deepEqual([request?.body, request?.length], [article.slice(0, 10), article.length]);
});

test('entries are found by the members of a request and of its response, and by a function', async () => {
  await using double = await startDouble({ users, seed });
  await double.fetch('/articles/1?page=1', { headers: { 'X-Trace': 'a' } });
  await double.as('johndoe').fetch('/articles/b', { method: 'PUT', body: article });
  await double.fetch('/nowhere');
  const type = 'application/json';
  const body = '{"order":{"id":7}}';
  await double.as('johndoe').fetch('/articles', { method: 'POST', headers: { 'Content-Type': type }, body });
  const rows: readonly [match: EntryMatch, numbers: readonly number[]][] = [
    [{ method: 'GET' }, [1, 3]],
    [{ method: ['PUT', 'DELETE'] }, [2]],
    [{ path: '/articles/1' }, [1]],
    [{ path: '/articles/{id}' }, [1, 2]],
    [{ path: '/{id}' }, [3, 4]],
    [{ path: /^\/articles/g }, [1, 2, 4]],
    [{ query: { page: null }, headers: { 'x-trace': null }, method: 'GET' }, [3]],
    [{ query: { page: '1' }, headers: { 'x-trace': /./ } }, [1]],
    [{ user: 'johndoe', scheme: 'hmac', path: '/articles/{id}' }, [2]],
    [{ status: 404, step: 6 }, [3]],
    [{ problem: 'not-found', method: 'GET' }, [3]],
    [{ text: 'Bread' }, [2]],
    [{ body: { order: { id: 7 } } }, [4]],
    [({ duration }) => duration >= 0, [1, 2, 3, 4]],
  ];
  for (const [match, numbers] of rows)
    assert.deepEqual(
      double.journal.all(match).map(({ number }) => number),
      numbers,
      inspect(match),
    );
  assert.equal(double.journal.last({ method: 'GET', status: 200 })?.number, 1);
  assert.throws(() => double.journal.last({ query: { page: '2' } }), {
    message: /any method any path, query page=2\.[\s\S]*parameter page is not 2[\s\S]*page is missing/,
  });
});

test('entries are selected by former users, and by unknown users that requests name', async () => {
  await using double = await startDouble({ users, https: false });
  const { journal } = double;
  await double.as('johndoe').fetch('/articles');
  double.auth.removeUser('johndoe');
  assert.equal(journal.all({ user: 'johndoe' }).length, 1);
  assert.throws(() => journal.all({ user: 'stranger' }), /^RangeError: the double has no user stranger/);
  await double.fetch('/articles', { headers: { Authentication: `hmac stranger:${'A'.repeat(43)}=` } });
  assert.equal(journal.all({ user: 'stranger' }).length, 1);
});

test('the journal can be iterated, listened to and cleared, and continues its numbering', async () => {
  await using double = await startDouble();
  const told: number[] = [];
  const end = double.on('request', ({ number }) => told.push(number));
  await double.fetch('/');
  await double.fetch('/');
  end();
  double.journal.clear();
  assert.throws(() => double.journal.last(), { code: 'no-match', message: /there were no requests/ });
  await double.fetch('/');
  assert.deepEqual(told, [1, 2]);
  assert.deepEqual(
    [...double.journal].map(({ number }) => number),
    [3],
  );
});

test('a snapshot has the journal, and a reset empties it', async () => {
  await using double = await startDouble();
  await double.fetch('/a');
  const snapshot = double.snapshot();
  await double.fetch('/b');
  for (let times = 0; times < 2; times += 1) {
    double.restore(snapshot);
    assert.deepEqual(
      double.journal.all().map(({ request }) => request?.path),
      ['/a'],
    );
    await double.fetch('/c');
    assert.equal(latest(double).number, 2);
  }
  double.reset();
  assert.equal(double.journal.length, 0);
});
