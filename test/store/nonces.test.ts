import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createNonces, type Nonces } from '../../src/store/nonces.ts';
import { type Seeded, seeded } from '../seeded.ts';

const span = 150_000;
const window = 600_000;
const hour = 3_600_000;
const start = Date.UTC(2013, 3, 20, 12, 59, 24);

/** A set on two clocks: time passes on both, and only the first one jumps. */
interface Clocked {
  readonly nonces: Nonces;
  now(): number;
  pass(ms: number): void;
  jump(ms: number): void;
  /** Claims with a date that is `ahead` ms ahead of the clock. */
  claim(nonce: string, ahead?: number): 'fresh' | 'seen' | 'full';
  /** Sends again what was dated so. */
  claimDated(nonce: string, date: number): 'fresh' | 'seen' | 'full';
}

function clocked({ bucketSpan = span, max = 1_000_000, key = new Uint8Array(16) } = {}): Clocked {
  let now = start;
  let steady = 5;
  const nonces = createNonces({ bucketSpan, max, key, monotonic: () => steady });
  const claimDated = (nonce: string, date: number) => nonces.claim('demo', nonce, date + window, now);
  return {
    nonces,
    now: () => now,
    pass(ms) {
      now += ms;
      steady += ms;
    },
    jump(ms) {
      now += ms;
    },
    claim: (nonce, ahead = 0) => claimDated(nonce, now + ahead),
    claimDated,
  };
}

/** A day's work: a nonce a minute, whose dates it gives. */
function work(set: Clocked, name: string, minutes: number): number[] {
  return Array.from({ length: minutes }, (_, minute) => {
    set.pass(60_000);
    assert.equal(set.claim(`${name}${minute}`), 'fresh', `${name}${minute}`);
    return set.now();
  });
}

/** Sends all of them again, for as long as their dates may be in the window. */
function replay(set: Clocked, name: string, dates: readonly number[]): void {
  for (const [minute, date] of dates.entries()) {
    if (Math.abs(date - set.now()) > window) continue;
    assert.equal(set.claimDated(`${name}${minute}`, date), 'seen', `${name}${minute} again`);
  }
}

describe('a nonce', () => {
  test('is fresh once and seen ever after while it lives', () => {
    const { nonces } = clocked();
    assert.equal(nonces.claim('demo', '123456', start + window, start), 'fresh');
    assert.equal(nonces.claim('demo', '123456', start + window, start), 'seen');
    assert.equal(nonces.claim('demo', '123456', start + window, start + window), 'seen');
    assert.equal(nonces.size, 1);
  });

  test('is seen whatever date it comes with', () => {
    const { nonces } = clocked();
    assert.equal(nonces.claim('demo', 'n', start + window, start), 'fresh');
    for (const until of [start, start + span, start + 2 * window, start + 100 * window]) {
      assert.equal(nonces.claim('demo', 'n', until, start), 'seen');
    }
  });

  test('of one user says nothing about another, however the names are cut', () => {
    const { nonces } = clocked();
    const pairs = [
      ['a', 'bc'],
      ['ab', 'c'],
      ['abc', ''],
      ['', 'abc'],
      ['1:a', 'bc'],
      ['a:b', 'c'],
      ['a', 'b:c'],
      ['a b', 'c'],
      ['__proto__', 'c'],
      ['\0', 'c'],
      ['\0\0', 'c'],
      ['', '\0\0c'],
      ['', ''],
      ['\u0100', 'c'],
      ['\0\u0001', 'c'],
      ['\ud800', 'c'],
      ['\udfff', 'c'],
      ['a'.repeat(300), 'c'],
      ['a'.repeat(299), 'ac'],
    ] as const;
    for (const [user, nonce] of pairs) {
      assert.equal(nonces.claim(user, nonce, start + window, start), 'fresh', JSON.stringify([user, nonce]));
    }
    for (const [user, nonce] of pairs) assert.equal(nonces.claim(user, nonce, start + window, start), 'seen');
  });

  test('is kept until its time has passed, and at most one span longer', () => {
    for (const offset of [0, 1, span / 2, span - 1]) {
      const set = clocked();
      const until = Math.ceil(start / span) * span + offset;
      set.nonces.claim('demo', 'n', until, start);
      set.pass(until - start);
      assert.equal(set.nonces.claim('demo', 'n', until + window, until), 'seen');
      set.pass(span);
      assert.equal(set.nonces.claim('other', 'n', until + window, set.now()), 'fresh');
      assert.equal(set.nonces.size, 1, 'only the later one is left');
      assert.equal(set.nonces.claim('demo', 'n', until + window, set.now()), 'fresh');
    }
  });

  test('cannot be claimed for what is no time', () => {
    const { nonces } = clocked();
    assert.equal(nonces.claim('demo', 'n', start + window, start), 'fresh');
    for (const no of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      assert.equal(nonces.claim('demo', 'm', start + window, no), 'seen');
      assert.equal(nonces.claim('demo', 'm', no, start), 'seen');
    }
    assert.equal(nonces.size, 1);
    assert.equal(nonces.claim('demo', 'm', start + window, start), 'fresh');
  });
});

describe('a clock that jumps', () => {
  test('an hour ahead and back at once lets no replay in and locks nobody out', () => {
    const set = clocked();
    const before = work(set, 'before', 30);
    set.jump(hour);
    assert.equal(set.claim('while ahead'), 'fresh');
    set.jump(-hour);
    replay(set, 'before', before);
    work(set, 'after', 120);
  });

  for (const minutes of [5, 59, 115]) {
    test(`an hour ahead, and back after ${minutes} minutes, lets no replay in and locks nobody out`, () => {
      const set = clocked();
      const before = work(set, 'before', 180);
      set.jump(hour);
      const ahead = work(set, 'ahead', minutes);
      set.jump(-hour);
      for (let minute = 0; minute < 180; minute += 1) {
        replay(set, 'before', before);
        // The dates of the time when the clock was ahead come again.
        replay(set, 'ahead', ahead);
        set.pass(60_000);
        assert.equal(set.claim(`after${minute}`), 'fresh', `after${minute}`);
      }
    });
  }

  for (const minutes of [5, 59]) {
    test(`an hour back, and ahead after ${minutes} minutes, lets no replay in and then locks nobody out`, () => {
      const set = clocked();
      const before = work(set, 'before', 180);
      set.jump(-hour);
      for (let minute = 0; minute < minutes; minute += 1) {
        replay(set, 'before', before);
        set.pass(60_000);
        set.claim(`back${minute}`);
      }
      set.jump(hour);
      replay(set, 'before', before);
      work(set, 'after', 120);
    });
  }

  test('back by up to two windows refuses new dates for less than one, and replays for ever', () => {
    for (const jump of [1, span, window, window + span, 2 * window]) {
      const set = clocked();
      const before = work(set, 'before', 60);
      set.jump(-jump);
      let locked = 0;
      for (let minute = 0; minute < 60; minute += 1) {
        set.pass(60_000);
        replay(set, 'before', before);
        if (set.claim(`after${minute}`) !== 'fresh') locked = (minute + 1) * 60_000;
      }
      assert.ok(locked <= window, `locked out for ${locked} ms by a jump of ${jump} ms`);
    }
  });

  test('to a time it never had before locks nobody out', () => {
    const set = clocked();
    for (const jump of [50 * 365 * 24 * hour, -80 * 365 * 24 * hour, 3 * hour, -900 * hour]) {
      work(set, `before ${jump} `, 30);
      set.jump(jump);
    }
    work(set, 'after', 300);
  });

  test('ahead keeps no more than the time of doubt is worth, when it does not come back', () => {
    const set = clocked();
    work(set, 'before', 30);
    set.jump(40 * 365 * 24 * hour);
    work(set, 'after', 8 * 60);
    // Of a window and a span, and the one that is asked about.
    assert.ok(set.nonces.size <= 14, `${set.nonces.size} are kept`);
  });

  test('more often than there are tags still lets no replay in', () => {
    const set = clocked({ bucketSpan: 1000 });
    const dates: number[] = [];
    for (let round = 0; round < 600; round += 1) {
      set.jump(round % 2 === 0 ? 7_000 * (round + 1) : -7_000 * round);
      set.pass(1);
      set.claim(`n${round}`);
      dates.push(set.now());
    }
    replay(set, 'n', dates);
    for (const [round, date] of dates.entries()) assert.equal(set.claimDated(`n${round}`, date), 'seen');
  });
});

describe('a full set', () => {
  test('takes nothing, drops nothing early, and still tells what it has seen', () => {
    const set = clocked({ max: 2 });
    set.claim('a');
    set.claim('b');
    assert.equal(set.claim('c'), 'full');
    assert.equal(set.claim('a'), 'seen');
    set.pass(window);
    assert.equal(set.claim('c'), 'full');
    assert.equal(set.nonces.size, 2);
    set.pass(span);
    assert.equal(set.claim('c'), 'fresh');
    assert.equal(set.nonces.size, 1);
  });

  test('lets go of what was only kept in case that the clock comes back, and refuses it if it does', () => {
    const set = clocked({ max: 2 });
    set.claim('a');
    set.claim('b');
    const date = set.now();
    set.jump(hour);
    assert.equal(set.claim('c'), 'fresh');
    assert.equal(set.nonces.size, 1);
    set.jump(-hour);
    assert.equal(set.claimDated('a', date), 'seen');
    set.pass(span);
    assert.equal(set.claim('d'), 'fresh');
  });

  test('is made only with a limit, a span and a key that can be', () => {
    const good = { bucketSpan: span, max: 1, key: new Uint8Array(16), monotonic: () => 0 };
    assert.equal(createNonces({ ...good, max: 2 ** 31 }).size, 0);
    for (const max of [0, -1, Number.NaN, 2 ** 31 + 1]) {
      assert.throws(() => createNonces({ ...good, max }), RangeError);
    }
    for (const bucketSpan of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.throws(() => createNonces({ ...good, bucketSpan }), RangeError);
    }
    assert.throws(() => createNonces({ ...good, key: new Uint8Array(15) }), RangeError);
  });
});

test('half a million nonces grow over many segments, are all told again, and are dropped', () => {
  const set = clocked();
  const count = 500_000;
  for (let number = 0; number < count; number += 1) {
    if (number % 1000 === 0) set.pass(1000);
    assert.equal(set.claim(`n${number}`), 'fresh');
  }
  assert.equal(set.nonces.size, count);
  for (let number = 0; number < count; number += 7) assert.equal(set.claim(`n${number}`), 'seen');
  set.pass(window + span);
  assert.equal(set.claim('n0'), 'fresh');
  assert.equal(set.nonces.size, 1);
});

function randomKey(random: Seeded): Uint8Array {
  return Uint8Array.from({ length: 16 }, () => random.below(256));
}

test('answers as a Map of exact strings does, while the clock keeps returning to one of three times', () => {
  const random = seeded();
  const bucketSpan = 50;
  const key = randomKey(random);
  let steady = 0;
  let ahead = 0;
  const nonces = createNonces({ bucketSpan, max: 1e6, key, monotonic: () => steady });
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

test('accepts no request twice under any clock, and refuses nothing new under a steady one', () => {
  const random = seeded();
  let steady = 0;
  const max = 300;
  const nonces = createNonces({ bucketSpan: 50, max, key: randomKey(random), monotonic: () => steady });
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
