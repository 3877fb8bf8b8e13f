import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDouble } from '../../src/double/index.ts';

const users = { ann: { secret: 'a' }, bob: { secret: 'b', quota: '1/1m' } };

test('a double limits requests by its own clock, and its journal explains how to continue', async () => {
  await using double = await startDouble({
    users,
    quota: { requests: 1, window: '1h' },
    now: '2026-03-01T12:00:00Z',
    https: false,
  });
  assert.equal((await double.as('ann').fetch('/articles')).status, 200);
  const refused = await double.as('ann').fetch('/articles');
  assert.equal(refused.status, 429);
  const entry = double.journal.last();
  assert.equal(entry?.problem?.type, 'quota-exceeded');
  assert.match(entry?.problem?.detail ?? '', /The quota of this user is 1 requests in 3600 s/);
  assert.match(String(entry), /double\.clock\.advance\('3600s'\) ends the window/);
  assert.match(String(entry), /POST \/clock\/advance with \{"by":"3600s"\} on the control interface/);
  assert.equal(entry?.step, 7);
  double.clock.advance(`${refused.headers.get('Retry-After')}s`);
  assert.equal((await double.as('ann').fetch('/articles')).status, 200);
  assert.equal((await double.as('bob').fetch('/articles')).headers.get('RateLimit'), '"1m";r=0;t=60');
});

test('a snapshot contains the counts of the quota, and a reset clears them', async () => {
  await using double = await startDouble({ users, quota: '2/1h', now: '2026-03-01T12:00:00Z', https: false });
  const left = async (): Promise<string | null> =>
    (await double.as('ann').fetch('/articles')).headers.get('RateLimit');
  assert.equal(await left(), '"1h";r=1;t=3600');
  double.clock.advance('10m');
  const snapshot = double.snapshot();
  assert.equal(await left(), '"1h";r=0;t=3000');
  double.restore(snapshot);
  assert.equal(await left(), '"1h";r=0;t=3000');
  double.reset();
  assert.equal(await left(), '"1h";r=1;t=3600');
});

test('a window ends when a clock that stands is advanced by its length', async () => {
  // The host's steady clock has fractions of a millisecond, other ones at each start.
  for (let started = 0; started < 40; started += 1) {
    await using double = await startDouble({
      users,
      quota: '1/1h',
      now: '2026-03-01T12:00:00Z',
      https: false,
    });
    const ann = double.as('ann');
    assert.equal((await ann.fetch('/articles')).status, 200);
    double.clock.advance('1h');
    const next = await ann.fetch('/articles');
    assert.deepEqual([next.status, next.headers.get('RateLimit')], [200, '"1h";r=0;t=3600']);
  }
});
