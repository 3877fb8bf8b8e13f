import './recorded-timers.ts'; // before the sources read the timers
import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type Double, type Fault, startDouble } from '../../../src/double/index.ts';
import { get, rawExchange } from '../../support/double/raw-exchange.ts';
import { timersDuring } from './recorded-timers.ts';

const users = { johndoe: { secret: 'a-secret', password: 'a-password' }, ann: { secret: 'another' } };
const seed = { '/articles': [{ title: 'Tea', price: { value: '3.50', currency: 'EUR' } }] };
const bread = '<article><title>Bread</title><price currency="EUR">2.80</price></article>';

async function statuses(double: Double, ...paths: string[]): Promise<number[]> {
  const found: number[] = [];
  for (const path of paths) found.push((await double.fetch(path)).status);
  return found;
}

test('a status fault returns its status, fields and content, the same over a socket and in process', async () => {
  await using double = await startDouble({ seed, now: '2026-03-01T12:00:00Z' });
  double.faults.times(3, {}, { status: 503, body: 'busy', retryAfter: 2, headers: { 'X-Cause': 'load' } });
  const raw = await rawExchange(double.url, get('/articles/1'));
  assert.equal(
    raw.bytes,
    [
      'HTTP/1.1 503 Service Unavailable',
      'Date: Sun, 01 Mar 2026 12:00:00 GMT',
      'X-Cause: load',
      'Content-Type: text/plain; charset=utf-8',
      'Retry-After: 2',
      'Content-Length: 4',
      'Connection: close',
      '',
      'busy',
    ].join('\r\n'),
  );
  for (const ask of [fetch, double.fetch]) {
    const reply = await ask(`${double.url}/articles/1`);
    assert.deepEqual(
      [reply.status, reply.headers.get('retry-after'), await reply.text()],
      [503, '2', 'busy'],
    );
  }
  assert.deepEqual(await statuses(double, '/articles/1'), [200]);
});

test('a status fault prevents the processing of the request', async () => {
  await using double = await startDouble({ users, seed });
  double.faults.next({ method: 'PUT' }, { status: 500 });
  const reply = await double.as('johndoe').fetch('/articles/b', { method: 'PUT', body: bread });
  assert.equal(reply.status, 500);
  assert.deepEqual(await statuses(double, '/articles/b'), [404]);
  const entry = double.journal.last({ method: 'PUT' });
  assert.deepEqual([entry?.step, entry?.fault, entry?.response?.status], [undefined, { status: 500 }, 500]);
});

test('a request is processed before its response is reset, unless the fault has the option before', async () => {
  await using double = await startDouble({ users, seed });
  const put = (path: string): Promise<Response> =>
    double.as('johndoe').fetch(path, { method: 'PUT', body: bread });
  double.faults.next({ method: 'PUT' }, { reset: 'before' });
  await assert.rejects(put('/articles/acted'), TypeError);
  double.faults.next({ method: 'PUT' }, { reset: 'before', before: true });
  await assert.rejects(put('/articles/spared'), TypeError);
  assert.deepEqual(await statuses(double, '/articles/acted', '/articles/spared'), [200, 404]);
  const [acted, spared] = double.journal.all({ method: 'PUT' });
  assert.deepEqual(
    [acted?.step, acted?.response, spared?.step, spared?.response],
    [16, undefined, undefined, undefined],
  );
});

test('a delay fault delays the response once, after the request is processed or before', async () => {
  await using double = await startDouble({ seed });
  for (const before of [false, true]) {
    double.faults.next({}, { delay: 33, before });
    const delays = await timersDuring(33, async () => {
      assert.equal((await fetch(`${double.url}/articles/1`)).status, 200);
    });
    assert.equal(delays, 1);
  }
});

test('a delay fault with the option before also delays the processing of the request', async () => {
  await using double = await startDouble({ users, seed });
  const put = (path: string): Promise<Response> =>
    double.as('johndoe').fetch(path, { method: 'PUT', body: bread });
  double.faults.next({ method: 'PUT' }, { delay: 60_000 });
  double.faults.next({ method: 'PUT' }, { delay: 60_000, before: true });
  const asking = [put('/articles/late'), put('/articles/later')];
  while ((await statuses(double, '/articles/late'))[0] === 404) await setImmediate();
  assert.deepEqual(await statuses(double, '/articles/later'), [404]);
  await double.close();
  const [late, later] = await Promise.all(asking);
  assert.deepEqual([late?.status, later?.status], [201, 503]);
});

// The delay is longer than the test may take.
test('closing the double ends a delay', async () => {
  const double = await startDouble();
  const delayed = double.faults.next({}, { delay: 60_000 });
  const asking = double.fetch('/');
  while (delayed.count === 0) await setImmediate();
  await double.close();
  assert.equal((await asking).status, 200);
});

test('a fault for three requests applies to exactly three of ten concurrent requests', async () => {
  await using double = await startDouble();
  double.faults.times(3, {}, { status: 500 });
  const replies = await Promise.all(Array.from({ length: 10 }, () => fetch(`${double.url}/`)));
  assert.equal(replies.filter(({ status }) => status === 500).length, 3);
});

test('a response without content does not use up a fault that affects content', async () => {
  await using double = await startDouble({ users, seed });
  for (const fault of [
    { truncate: 5 },
    { badChunk: true },
    { malformedXml: true },
    { dribble: 9999 },
    { truncate: 1000 },
  ]) {
    const planned = double.faults.next({}, fault);
    const head = await double.fetch('/articles/1', { method: 'HEAD' });
    const unchanged = await double.fetch('/articles/1', {
      headers: { 'if-none-match': head.headers.get('etag') ?? '' },
    });
    assert.equal(unchanged.status, 304);
    assert.deepEqual([planned.remaining, planned.count], [1, 0]);
    assert.equal(double.journal.last()?.fault, undefined);
    planned.remove();
  }
});

test('a fault is pending until it was applied to all its requests', async () => {
  await using double = await startDouble();
  const next = double.faults.next({ path: '/a' }, { status: 500 });
  double.faults.times(2, { path: '/b' }, { status: 500 });
  double.faults.always({ path: '/c' }, { status: 500 });
  const listed = (): unknown[] =>
    double.faults.pending().map(({ match, remaining, count }) => [Object(match).path, remaining, count]);
  assert.deepEqual(listed(), [
    ['/a', 1, 0],
    ['/b', 2, 0],
    ['/c', Number.POSITIVE_INFINITY, 0],
  ]);
  await statuses(double, '/b', '/c');
  assert.deepEqual(listed(), [
    ['/a', 1, 0],
    ['/b', 1, 1],
  ]);
  next.remove();
  assert.deepEqual(await statuses(double, '/a', '/b'), [404, 500]);
  assert.deepEqual(listed(), []);
});

test('close throws if faults are pending and pendingFaults is error, and closes the double', async () => {
  const double = await startDouble({ users, pendingFaults: 'error' });
  double.faults.times(
    2,
    { method: 'PUT', path: '/articles/{id}', user: 'ann' },
    { status: 503, retryAfter: 1 },
  );
  double.faults.always({}, { delay: 1 });
  await assert.rejects(double.close(), {
    message: `These planned faults were not applied:
  PUT /articles/{id} by ann: status, retryAfter (applied to 0 requests, expected 2 more)
  any method any path: delay (applied to 0 requests, expected any number)`,
  });
  await assert.rejects(fetch(double.url), TypeError);
  const lenient = await startDouble();
  lenient.faults.next({}, { status: 500 });
  await lenient.close();
});

test('a snapshot contains the planned faults, and how often they were applied', async () => {
  await using double = await startDouble();
  const planned = double.faults.times(2, {}, { status: 500 });
  assert.deepEqual(await statuses(double, '/'), [500]);
  const snapshot = double.snapshot();
  for (let times = 0; times < 2; times += 1) {
    double.restore(snapshot);
    assert.deepEqual([planned.remaining, planned.count], [1, 1]);
    assert.deepEqual(await statuses(double, '/', '/'), [500, 200]);
  }
  double.faults.always({}, { status: 500 });
  double.reset();
  assert.deepEqual(double.faults.pending(), []);
  assert.deepEqual(await statuses(double, '/'), [200]);
});

test('an invalid fault is rejected when it is planned', async () => {
  await using double = await startDouble({ https: false });
  const refused: readonly [fault: object, message: RegExp][] = [
    [{}, /a fault must have a member/],
    [{ body: 'x' }, /body of a fault requires a status/],
    [{ retryAfter: 1 }, /retryAfter of a fault requires a status/],
    [{ delay: Number.NaN }, /delay/],
    [{ dribble: 0 }, /dribble/],
    [{ truncate: 1.5 }, /truncate/],
    [{ reset: 'after' }, /reset/],
    [{ wrongLength: 0 }, /wrongLength/],
    [{ truncate: 1, reset: 'amid' }, /truncate and reset exclude each other/],
    [{ status: 500, malformedXml: true }, /malformedXml/],
    [{ status: 500, lostAfterActing: true }, /lostAfterActing and status exclude each other/],
    [{ reset: 'before', lostAfterActing: true }, /reset and lostAfterActing exclude each other/],
    [{ before: true, truncate: 1 }, /before of a fault requires delay/],
    [{ staleCertificate: true, delay: 1 }, /excludes all other faults/],
    [{ status: 503, headers: { 'A B': 'x' } }, /"A B" is not a field name/],
    [{ status: 503, headers: [['A', '1\r\nB: 2']] }, /value of A cannot be sent/],
    [{ status: 503, retryAfter: 'soon\n' }, /value of Retry-After cannot be sent/],
    [{ skewedDate: 400 * 86_400_000 }, /skewedDate/],
  ];
  for (const [fault, message] of refused)
    assert.throws(
      () => double.faults.next({}, fault as Fault),
      { name: 'RangeError', message },
      String(message),
    );
  assert.throws(
    () => double.faults.next({ method: 'GET' }, { staleCertificate: true }),
    /cannot have a match/,
  );
  for (const count of [0, -1, 1.5, Number.NaN])
    assert.throws(() => double.faults.times(count, {}, { status: 500 }), RangeError);
  assert.deepEqual(double.faults.pending(), []);
});
