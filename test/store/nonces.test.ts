import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createNonces } from '../../src/store/nonces.ts';
import { seeded } from '../seeded.ts';

const span = 60_000;
const start = Date.UTC(2013, 3, 20, 12, 59, 24);
const window = 600_000;

describe('a nonce', () => {
  test('is fresh once and seen ever after while it lives', () => {
    const nonces = createNonces({ bucketSpan: span, max: 100 });
    assert.equal(nonces.claim('demo', '123456', start + window, start), 'fresh');
    assert.equal(nonces.claim('demo', '123456', start + window, start), 'seen');
    assert.equal(nonces.claim('demo', '123456', start + window, start + window), 'seen');
    assert.equal(nonces.size, 1);
  });

  test('is seen whatever date it comes with', () => {
    const nonces = createNonces({ bucketSpan: span, max: 100 });
    assert.equal(nonces.claim('demo', 'n', start + window, start), 'fresh');
    for (const until of [start, start + span, start + 2 * window, start + 100 * window]) {
      assert.equal(nonces.claim('demo', 'n', until, start), 'seen');
    }
  });

  test('of one user says nothing about another, however the names are cut', () => {
    const nonces = createNonces({ bucketSpan: span, max: 100 });
    const pairs = [
      ['a', 'bc'],
      ['ab', 'c'],
      ['1:a', 'bc'],
      ['', 'abc'],
      ['a:b', 'c'],
      ['a b', 'c'],
      ['__proto__', 'c'],
      ['\u0000', 'c'],
    ] as const;
    for (const [user, nonce] of pairs) {
      assert.equal(nonces.claim(user, nonce, start + window, start), 'fresh', JSON.stringify([user, nonce]));
    }
    for (const [user, nonce] of pairs) assert.equal(nonces.claim(user, nonce, start + window, start), 'seen');
  });

  test('is kept until its time has passed, and at most one span longer', () => {
    for (const offset of [0, 1, span / 2, span - 1]) {
      const until = Math.ceil(start / span) * span + offset;
      const nonces = createNonces({ bucketSpan: span, max: 100 });
      nonces.claim('demo', 'n', until, start);
      assert.equal(nonces.claim('demo', 'n', until + window, until), 'seen');
      assert.equal(nonces.claim('other', 'n', until + window, until + span), 'fresh');
      assert.equal(nonces.size, 1, 'only the later one is left');
      assert.equal(nonces.claim('demo', 'n', until + window, until + span), 'fresh');
    }
  });
});

describe('a clock that jumps', () => {
  test('back lets no replay in', () => {
    const nonces = createNonces({ bucketSpan: span, max: 100 });
    nonces.claim('demo', 'n', start + window, start);
    assert.equal(nonces.claim('demo', 'other', start + 3_600_000 + window, start + 3_600_000), 'fresh');
    assert.equal(nonces.size, 1);
    assert.equal(nonces.claim('demo', 'n', start + window, start), 'seen');
    assert.equal(nonces.claim('demo', 'never had', start + window, start), 'seen');
  });

  test('back keeps out nothing whose time is still to come', () => {
    const nonces = createNonces({ bucketSpan: span, max: 100 });
    nonces.claim('demo', 'a', start + window, start);
    assert.equal(nonces.claim('demo', 'b', start - span + window, start - span), 'fresh');
  });

  test('to what is no time at all lets nothing in and drops nothing', () => {
    const nonces = createNonces({ bucketSpan: span, max: 100 });
    nonces.claim('demo', 'n', start + window, start);
    assert.equal(nonces.claim('demo', 'n', start + window, Number.NaN), 'seen');
    assert.equal(nonces.claim('demo', 'm', Number.NaN, start), 'seen');
    assert.equal(nonces.size, 1);
  });
});

describe('a full set', () => {
  test('takes nothing, drops nothing, and still tells what it has seen', () => {
    const nonces = createNonces({ bucketSpan: span, max: 2 });
    nonces.claim('demo', 'a', start + window, start);
    nonces.claim('demo', 'b', start + window, start);
    assert.equal(nonces.claim('demo', 'c', start + window, start), 'full');
    assert.equal(nonces.claim('demo', 'a', start + window, start), 'seen');
    assert.equal(nonces.size, 2);
    const later = start + window + span;
    assert.equal(nonces.claim('demo', 'c', later + window, later), 'fresh');
    assert.equal(nonces.size, 1);
  });

  test('is made only with a limit and a span that can be', () => {
    for (const max of [0, -1, Number.NaN, 1e9]) {
      assert.throws(() => createNonces({ bucketSpan: span, max }), RangeError);
    }
    for (const bucketSpan of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.throws(() => createNonces({ bucketSpan, max: 1 }), RangeError);
    }
  });
});

test('no request is accepted twice under any clock, and nothing is refused under a steady one', () => {
  const random = seeded();
  const nonces = createNonces({ bucketSpan: 50, max: 300 });
  const taken = new Map<string, number>();
  let now = 10_000;
  let highest = now;
  for (let round = 0; round < 20_000; round += 1) {
    now += random.below(100) === 0 ? random.below(4_000) - 2_000 : random.below(3);
    highest = Math.max(highest, now);
    const until = now + random.below(400);
    const key = `${random.pick(['u', 'v'])} ${random.below(400)}`;
    const [user = '', nonce = ''] = key.split(' ');
    const outcome = nonces.claim(user, nonce, until, now);
    const last = taken.get(key);
    const where = `SEED=${random.seed}, round ${round}`;
    // As long as a request with the first one's date could pass, no second may.
    if (last !== undefined && last >= highest) assert.notEqual(outcome, 'fresh', where);
    if (outcome === 'full') assert.equal(nonces.size, 300, where);
    if (outcome === 'seen' && now === highest) assert.ok(last !== undefined && last + 50 > now, where);
    if (outcome === 'fresh') taken.set(key, until);
    assert.ok(nonces.size <= 300, where);
  }
});
