import assert from 'node:assert/strict';
import test from 'node:test';
import { createManualClock } from '../../src/clock.ts';
import { startDouble } from '../../src/double/index.ts';
import { createDoubleTime } from '../../src/double/state/clock.ts';

const start = '2026-03-01T12:00:00Z';
const users = { ann: { secret: 'a secret' } };

test('a clock with the option now stays at that time until it is moved', async () => {
  await using double = await startDouble({ now: start, https: false });
  assert.equal(double.clock.now(), Date.UTC(2026, 2, 1, 12));
  double.clock.advance('11m');
  double.clock.advance(500);
  assert.equal(double.clock.now(), Date.UTC(2026, 2, 1, 12, 11, 0, 500));
  double.clock.advance('-1h');
  assert.equal((await double.fetch('/')).headers.get('date'), 'Sun, 01 Mar 2026 11:11:00 GMT');
  double.clock.set(new Date(0));
  assert.equal(double.clock.now(), 0);
});

test('a clock without the option now follows the host, also after it was moved', async () => {
  await using double = await startDouble({ https: false });
  const near = (expected: number): void => assert.ok(Math.abs(double.clock.now() - expected) < 5000);
  near(Date.now());
  double.clock.advance('2d');
  near(Date.now() + 172_800_000);
  double.clock.set(start);
  near(Date.UTC(2026, 2, 1, 12));
  double.clock.freeze('2030-01-01T00:00:00Z');
  assert.equal(double.clock.now(), Date.UTC(2030, 0, 1));
  double.clock.follow();
  near(Date.now());
});

test('a frozen clock ignores the clock of the host, and follow synchronizes it again', () => {
  const host = createManualClock(Date.UTC(2026, 2, 1, 12));
  const { control: face } = createDoubleTime(host, undefined, () => {});
  host.advance(1000);
  assert.equal(face.now(), Date.UTC(2026, 2, 1, 12, 0, 1));
  face.freeze();
  host.advance(1000);
  assert.equal(face.now(), Date.UTC(2026, 2, 1, 12, 0, 1));
  face.advance('1m');
  host.advance(1000);
  assert.equal(face.now(), Date.UTC(2026, 2, 1, 12, 1, 1));
  face.follow();
  assert.equal(face.now(), host.now());
  host.advance(1000);
  assert.equal(face.now(), host.now());
});

test('an invalid time or duration is rejected, and the clock does not change', async () => {
  await using double = await startDouble({ now: start, https: false });
  for (const bad of ['', '11', '11 m', 'x', '1w', '--1s', Number.NaN, Infinity])
    assert.throws(() => double.clock.advance(bad), RangeError, String(bad));
  for (const bad of ['yesterday', '1 March 2026', '2026-13-01', '2026-03-01T12:00', Number.NaN])
    assert.throws(() => double.clock.set(bad), RangeError, String(bad));
  assert.equal(double.clock.now(), Date.UTC(2026, 2, 1, 12));
  await assert.rejects(startDouble({ now: 'soon' }), RangeError);
});

test('the clock rejects times and skews outside the range of HTTP dates', async () => {
  await using double = await startDouble({ now: start, https: false });
  const [first, last] = ['0002-01-01T00:00:00Z', '9997-12-31T23:59:59.999Z'].map(Date.parse);
  assert.ok(first !== undefined && last !== undefined);
  for (const bad of [first - 1, last + 1]) {
    assert.throws(() => double.clock.set(bad), RangeError);
    assert.throws(() => double.clock.freeze(bad), RangeError);
    assert.throws(() => double.clock.advance(bad - double.clock.now()), RangeError);
    await assert.rejects(startDouble({ now: bad }), RangeError);
  }
  for (const bad of ['367d', '-367d']) assert.throws(() => double.clock.skewServerDate(bad), RangeError);
  assert.equal(double.clock.now(), Date.UTC(2026, 2, 1, 12));
  for (const [edge, skew] of [
    [first, '-366d'],
    [last, '366d'],
  ] as const) {
    double.clock.set(edge);
    double.clock.skewServerDate(skew);
    double.faults.next({}, { skewedDate: Number.parseInt(skew, 10) * 86_400_000 });
    for (let round = 0; round < 2; round += 1) assert.equal((await double.fetch('/problems')).status, 200);
    double.clock.skewServerDate(0);
  }
});

test('a nonce is remembered when the clock is set back, and a new one is accepted', async () => {
  await using double = await startDouble({ users, now: start, https: false });
  const headers = await double.as('ann').signRequest({ url: `${double.url}/articles` });
  assert.equal((await double.fetch('/articles', { headers })).status, 200);
  double.clock.advance('3d');
  assert.equal((await double.as('ann').fetch('/articles')).status, 200);
  double.clock.set(start);
  const replayed = await double.fetch('/articles', { headers });
  assert.match(await replayed.text(), /nonce-replayed/);
  assert.equal((await double.as('ann').fetch('/articles')).status, 200);
});

test('a skewed server date appears in every response, and does not affect verification', async () => {
  await using double = await startDouble({ users, now: start, https: false });
  double.clock.skewServerDate('-5m');
  const skewed = 'Sun, 01 Mar 2026 11:55:00 GMT';
  assert.equal((await double.as('ann').fetch('/articles')).headers.get('date'), skewed);
  assert.equal((await fetch(`${double.url}/nothing`)).headers.get('date'), skewed);
  const stale = await double.as('ann', { date: '2026-03-01T11:49:59Z' }).fetch('/articles');
  assert.equal(stale.status, 401);
  assert.equal(stale.headers.get('date'), skewed);
  assert.equal((await double.as('ann', { date: '2026-03-01T12:09:59Z' }).fetch('/articles')).status, 200);
  double.clock.skewServerDate(0);
  assert.equal((await double.fetch('/')).headers.get('date'), 'Sun, 01 Mar 2026 12:00:00 GMT');
});

test('faults, waits and the end of a double accept durations as text', async () => {
  await using double = await startDouble({ https: false, now: start });
  double.faults.next({}, { delay: '1ms', skewedDate: '-5m' });
  assert.equal((await double.fetch('/')).headers.get('date'), 'Sun, 01 Mar 2026 11:55:00 GMT');
  await assert.rejects(double.journal.waitFor({ method: 'PUT' }, { timeout: '5ms' }), { code: 'timeout' });
  for (const wrong of [{ delay: '60' }, { skewedDate: '367d' }])
    assert.throws(() => double.faults.next({}, wrong), /^RangeError: (delay|skewedDate) of a fault must/);
  await assert.rejects(double.close({ grace: 'long' }), RangeError);
  await (await double.openControl()).close({ grace: '1s' });
  await double.close({ grace: '1s' });
});
