import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createNonces } from '../../../src/store/nonces/nonces.ts';
import { endOfLost } from '../../../src/store/nonces/time.ts';
import { type Seeded, seeded } from '../../support/seeded.ts';
import {
  clockedWith,
  type Making,
  noncesContract,
  span,
  start,
  window,
} from '../../support/store/nonces-contract.ts';
import { long } from '../../support/store/thoroughness.ts';

const make = async ({ bucketSpan, max, maxPerUser, steady }: Making) =>
  createNonces({ bucketSpan, max, maxPerUser, key: new Uint8Array(16), monotonic: steady });

noncesContract('nonces in memory', (_, making) => make(making));

describe('a set of nonces in memory', () => {
  test('requires a valid limit, span, share and key', () => {
    const good = { bucketSpan: span, max: 1, key: new Uint8Array(16), monotonic: () => 0 };
    assert.equal(createNonces({ ...good, max: 2 ** 31 }).size, 0);
    for (const max of [0, -1, Number.NaN, 2 ** 31 + 1]) {
      assert.throws(() => createNonces({ ...good, max }), RangeError);
    }
    for (const bucketSpan of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.throws(() => createNonces({ ...good, bucketSpan }), RangeError);
    }
    for (const maxPerUser of [0, -1, Number.NaN, 3]) {
      assert.throws(() => createNonces({ ...good, max: 2, maxPerUser }), RangeError);
    }
    assert.throws(() => createNonces({ ...good, key: new Uint8Array(15) }), RangeError);
  });
});

test('the default share of a user is a tenth of the limit, and at least one nonce', () => {
  for (const [max, share] of [
    [100, 10],
    [19, 1],
    [5, 1],
  ] as const) {
    const nonces = createNonces({ bucketSpan: span, max, key: new Uint8Array(16), monotonic: () => 0 });
    for (let number = 0; number < share; number += 1)
      assert.equal(nonces.claim('demo', `n${number}`, start + window, start), 'fresh');
    assert.equal(typeof nonces.claim('demo', 'one more', start + window, start), 'object');
  }
});

test('a date with lost nonces is distinguished from a replay, with the first date that is accepted', () => {
  const nonces = createNonces({ bucketSpan: span, max: 100, key: new Uint8Array(16), monotonic: () => 0 });
  const end = endOfLost(start, window);
  nonces.forget(start - window, end);
  const until = start + 5_000 + window;
  const claimed = nonces.claim('demo', 'n', until, start + 5_000);
  assert.deepEqual(claimed, { knownFrom: end - window });
  const knownFrom = end - window;
  assert.deepEqual(nonces.claim('demo', 'n', knownFrom - 1 + window, knownFrom - 1), { knownFrom });
  assert.equal(nonces.claim('demo', 'n', knownFrom + window, knownFrom), 'fresh');
  assert.equal(nonces.claim('demo', 'n', knownFrom + window, knownFrom), 'seen');
});

test('many nonces are all found, and are removed after they expire', async () => {
  const set = await clockedWith(make);
  const count = long ? 500_000 : 100_000;
  for (let number = 0; number < count; number += 1) {
    if (number % 1000 === 0) set.pass(1000);
    assert.equal(await set.claim(`n${number}`), 'fresh');
  }
  assert.equal(set.nonces.size, count);
  for (let number = 0; number < count; number += 7) assert.equal(await set.claim(`n${number}`), 'seen');
  set.pass(window + span);
  assert.equal(await set.claim('n0'), 'fresh');
  assert.equal(set.nonces.size, 1);
});

function randomKey(random: Seeded): Uint8Array {
  return Uint8Array.from({ length: 16 }, () => random.below(256));
}

test('claims match a Map of exact strings while the clock alternates between three times', () => {
  const random = seeded();
  const bucketSpan = 50;
  const key = randomKey(random);
  let steady = 0;
  let ahead = 0;
  const nonces = createNonces({ bucketSpan, max: 1e6, maxPerUser: 1e6, key, monotonic: () => steady });
  /** When its bucket ends. */
  const kept = new Map<string, number>();
  for (let round = 0; round < 60_000; round += 1) {
    steady += random.below(3);
    // Seen a last time at most 400 ms ago, which is less than the 48 spans of doubt.
    if (round % 100 === 0) ahead = [0, 5_000, 10_000][(round / 100) % 3] ?? 0;
    const now = start + steady + ahead;
    const until = now + random.below(400);
    const [user, nonce] = [random.pick(['u', 'v', 'u1']), random.pick(['', '1', 'x']) + random.below(300)];
    const name = `${user.length} ${user}${nonce}`;
    const outcome = nonces.claim(user, nonce, until, now);
    // What has not passed at the lowest of the three is kept.
    for (const [each, end] of kept) if (end <= start + steady) kept.delete(each);
    assert.equal(outcome, kept.has(name) ? 'seen' : 'fresh', `SEED=${random.seed}, round ${round}`);
    if (outcome === 'fresh') kept.set(name, (Math.floor(until / bucketSpan) + 1) * bucketSpan);
    assert.equal(nonces.size, kept.size, `SEED=${random.seed}, round ${round}`);
  }
});

test('no request is accepted twice under any clock, and no new request is rejected under a steady one', () => {
  const random = seeded();
  let steady = 0;
  const max = 300;
  const nonces = createNonces({
    bucketSpan: 50,
    max,
    maxPerUser: max,
    key: randomKey(random),
    monotonic: () => steady,
  });
  /** Every request that was ever accepted: a nonce and its date. */
  const accepted = new Set<string>();
  const lastUntil = new Map<string, number>();
  let now = 10_000;
  let jumped = false;
  for (let round = 0; round < 60_000; round += 1) {
    const passed = random.below(3);
    steady += passed;
    now += passed;
    if (round > 20_000 && random.below(100) === 0) {
      now += random.below(4_000) - 2_000;
      jumped = true;
    }
    const until = now + random.below(400);
    const name = `n${random.below(1500)}`;
    const outcome = nonces.claim('u', name, until, now);
    const where = `SEED=${random.seed}, round ${round}`;
    const last = lastUntil.get(name);
    if (outcome === 'fresh') {
      assert.ok(!accepted.has(`${name} ${until}`), where);
      assert.ok(jumped || last === undefined || last < now, where);
      accepted.add(`${name} ${until}`);
      lastUntil.set(name, until);
    } else if (outcome === 'full') assert.equal(nonces.size, max, where);
    else if (!jumped) assert.ok(last !== undefined && last + 50 >= now, where);
    assert.ok(nonces.size <= max, where);
  }
});
