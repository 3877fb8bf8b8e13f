import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { NonceResult, NonceStore } from '../../../src/store/nonces/nonces.ts';
import type { NoncesLost } from '../../../src/store/nonces/time.ts';

export const span = 150_000;
export const window = 600_000;
const hour = 3_600_000;
export const start = Date.UTC(2013, 3, 20, 12, 59, 24);

/** What a set is made with. */
export interface Making {
  readonly bucketSpan: number;
  readonly max: number;
  readonly maxPerUser: number;
  readonly now: () => number;
  readonly steady: () => number;
}

/** A set on two clocks: time passes on both, and only the first one jumps. */
interface Clocked {
  readonly nonces: NonceStore;
  now(): number;
  pass(ms: number): void;
  jump(ms: number): void;
  /** Claims with a date that is `ahead` ms ahead of the clock. */
  claim(nonce: string, ahead?: number): Promise<SeenOrNot>;
  /** Sends again what was dated so. */
  claimDated(nonce: string, date: number): Promise<SeenOrNot>;
}

/** The result of a claim, in which `seen` includes the times whose nonces are not known any more. */
export type SeenOrNot = Exclude<NonceResult, NoncesLost>;

/** Returns `seen` also for a time whose nonces are not known any more: the user has, or may have, used the nonce. */
export function seenOrLost(claimed: NonceResult): SeenOrNot {
  return typeof claimed === 'object' && 'knownFrom' in claimed ? 'seen' : claimed;
}

/** Makes one; `make` opens the set. */
export async function clockedWith(
  make: (making: Making) => Promise<NonceStore>,
  { bucketSpan = span, max = 1_000_000, maxPerUser = max }: Partial<Making> = {},
): Promise<Clocked> {
  let now = start;
  let steady = 5;
  const nonces = await make({ bucketSpan, max, maxPerUser, now: () => now, steady: () => steady });
  const claimDated = async (nonce: string, date: number): Promise<SeenOrNot> =>
    seenOrLost(await nonces.claim('demo', nonce, date + window, now));
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
async function work(set: Clocked, name: string, minutes: number): Promise<number[]> {
  const dates: number[] = [];
  for (let minute = 0; minute < minutes; minute += 1) {
    set.pass(60_000);
    assert.equal(await set.claim(`${name}${minute}`), 'fresh', `${name}${minute}`);
    dates.push(set.now());
  }
  return dates;
}

/** Sends all of them again, for as long as their dates may be in the window. */
async function replay(set: Clocked, name: string, dates: readonly number[]): Promise<void> {
  for (const [minute, date] of dates.entries()) {
    if (Math.abs(date - set.now()) > window) continue;
    assert.equal(await set.claimDated(`${name}${minute}`, date), 'seen', `${name}${minute} again`);
  }
}

/** Runs what every set of nonces must hold; `make` opens one that is let go of when the test ends. */
export function noncesContract(
  name: string,
  make: (context: TestContext, making: Making) => Promise<NonceStore>,
): void {
  const clocked = (context: TestContext, given?: Partial<Making>): Promise<Clocked> =>
    clockedWith((making) => make(context, making), given);

  describe(name, () => {
    describe('a nonce', () => {
      test('is stored until it expires, and at most one span longer', async (context) => {
        for (const offset of [0, 1, span / 2, span - 1]) {
          const set = await clocked(context);
          const until = Math.ceil(start / span) * span + offset;
          await set.nonces.claim('demo', 'n', until, start);
          set.pass(until - start);
          assert.equal(await set.nonces.claim('demo', 'n', until + window, until), 'seen');
          set.pass(span);
          assert.equal(await set.nonces.claim('other', 'n', until + window, set.now()), 'fresh');
          assert.equal(set.nonces.size, 1, 'only the later one is left');
          assert.equal(await set.nonces.claim('demo', 'n', until + window, set.now()), 'fresh');
        }
      });
    });

    describe('a clock that jumps', () => {
      test('an hour ahead and back at once allows no replays and rejects no new nonces', async (context) => {
        const set = await clocked(context);
        const before = await work(set, 'before', 30);
        set.jump(hour);
        assert.equal(await set.claim('while ahead'), 'fresh');
        set.jump(-hour);
        await replay(set, 'before', before);
        await work(set, 'after', 120);
      });

      for (const minutes of [5, 59, 115]) {
        test(`an hour ahead, and back after ${minutes} minutes, allows no replays and rejects no new nonces`, async (context) => {
          const set = await clocked(context);
          const before = await work(set, 'before', 180);
          set.jump(hour);
          const ahead = await work(set, 'ahead', minutes);
          set.jump(-hour);
          for (let minute = 0; minute < 180; minute += 1) {
            await replay(set, 'before', before);
            // The dates of the time when the clock was ahead come again.
            await replay(set, 'ahead', ahead);
            set.pass(60_000);
            assert.equal(await set.claim(`after${minute}`), 'fresh', `after${minute}`);
          }
        });
      }

      for (const minutes of [5, 59]) {
        test(`an hour back, and ahead after ${minutes} minutes, allows no replays and then rejects no new nonces`, async (context) => {
          const set = await clocked(context);
          const before = await work(set, 'before', 180);
          set.jump(-hour);
          for (let minute = 0; minute < minutes; minute += 1) {
            await replay(set, 'before', before);
            set.pass(60_000);
            await set.claim(`back${minute}`);
          }
          set.jump(hour);
          await replay(set, 'before', before);
          await work(set, 'after', 120);
        });
      }

      test('back by up to two windows rejects new dates for at most one window, and rejects all replays', async (context) => {
        for (const jump of [1, span, window, window + span, 2 * window]) {
          const set = await clocked(context);
          const before = await work(set, 'before', 60);
          set.jump(-jump);
          let locked = 0;
          for (let minute = 0; minute < 60; minute += 1) {
            set.pass(60_000);
            await replay(set, 'before', before);
            if ((await set.claim(`after${minute}`)) !== 'fresh') locked = (minute + 1) * 60_000;
          }
          assert.ok(locked <= window, `locked out for ${locked} ms by a jump of ${jump} ms`);
        }
      });

      test('to a time that it never had before rejects no new nonces', async (context) => {
        const set = await clocked(context);
        for (const jump of [50 * 365 * 24 * hour, -80 * 365 * 24 * hour, 3 * hour, -900 * hour]) {
          await work(set, `before ${jump} `, 30);
          set.jump(jump);
        }
        await work(set, 'after', 300);
      });

      test('ahead and not back finally retains only the nonces of a window and a span', async (context) => {
        const set = await clocked(context);
        await work(set, 'before', 30);
        set.jump(40 * 365 * 24 * hour);
        await work(set, 'after', 8 * 60);
        // Of a window and a span, and the one that is asked about.
        assert.ok(Number(set.nonces.size) <= 14, `${set.nonces.size} are kept`);
      });

      test('more often than there are tags still allows no replays', async (context) => {
        const set = await clocked(context, { bucketSpan: 1000 });
        const dates: number[] = [];
        for (let round = 0; round < 600; round += 1) {
          set.jump(round % 2 === 0 ? 7_000 * (round + 1) : -7_000 * round);
          set.pass(1);
          await set.claim(`n${round}`);
          dates.push(set.now());
        }
        await replay(set, 'n', dates);
        for (const [round, date] of dates.entries())
          assert.equal(await set.claimDated(`n${round}`, date), 'seen');
      });
    });

    describe('a user at the limit of nonces', () => {
      test('cannot claim another before the first expire, and the result has that time', async (context) => {
        const set = await clocked(context, { maxPerUser: 2 });
        const first = start + window - (start % span);
        assert.equal(await set.nonces.claim('demo', 'a', first, start), 'fresh');
        assert.equal(await set.nonces.claim('demo', 'b', first + span, start), 'fresh');
        const claimed = await set.claim('c');
        assert.deepEqual(claimed, { freeAt: first + span });
        assert.equal(set.nonces.size, 2);
        set.pass(first + span - start - 1);
        assert.deepEqual(await set.claim('c'), { freeAt: first + span });
        set.pass(1);
        assert.equal(await set.claim('c'), 'fresh');
        assert.equal(typeof (await set.claim('d')), 'object');
      });

      test('still has replays reported as seen', async (context) => {
        const set = await clocked(context, { maxPerUser: 1 });
        await set.claim('a');
        assert.equal(await set.claim('a'), 'seen');
        assert.equal(typeof (await set.claim('b')), 'object');
        assert.equal(await set.claim('a'), 'seen');
      });

      test('does not reduce the share of other users', async (context) => {
        const set = await clocked(context, { max: 3, maxPerUser: 2 });
        const claim = async (user: string, nonce: string): Promise<NonceResult> =>
          set.nonces.claim(user, nonce, set.now() + window, set.now());
        assert.deepEqual([await claim('one', 'a'), await claim('one', 'b')], ['fresh', 'fresh']);
        for (let time = 0; time < 10; time += 1)
          assert.equal(typeof (await claim('one', `c${time}`)), 'object');
        assert.equal(await claim('other', 'a'), 'fresh');
        assert.equal(await claim('third', 'a'), 'full');
      });

      test('can claim again as nonces in many spans of time expire', async (context) => {
        const most = 50;
        const set = await clocked(context, { maxPerUser: most });
        const expiries: number[] = [];
        for (let round = 0; round < 2000; round += 1) {
          set.pass(round % 7 === 0 ? span : 1000);
          const until = set.now() + (round % 5) * span;
          const live = expiries.filter((expiry) => expiry > set.now());
          const claimed = await set.nonces.claim('demo', `n${round}`, until, set.now());
          if (live.length < most) assert.equal(claimed, 'fresh', `round ${round}`);
          else assert.deepEqual(claimed, { freeAt: Math.min(...live) }, `round ${round}`);
          if (claimed === 'fresh') expiries.push((Math.floor(until / span) + 1) * span);
        }
      });

      test('can claim another at once after the clock jumps ahead', async (context) => {
        const set = await clocked(context, { maxPerUser: 1 });
        await set.claim('a');
        const date = set.now();
        set.jump(hour);
        assert.equal(await set.claim('b'), 'fresh');
        set.jump(-hour);
        assert.equal(await set.claimDated('a', date), 'seen');
      });
    });

    describe('a full set', () => {
      test('rejects new nonces, removes none early, and still reports replays as seen', async (context) => {
        const set = await clocked(context, { max: 2 });
        await set.claim('a');
        await set.claim('b');
        assert.equal(await set.claim('c'), 'full');
        assert.equal(await set.claim('a'), 'seen');
        set.pass(window);
        assert.equal(await set.claim('c'), 'full');
        assert.equal(set.nonces.size, 2);
        set.pass(span);
        assert.equal(await set.claim('c'), 'fresh');
        assert.equal(set.nonces.size, 1);
      });

      test('removes nonces that are only stored in case the clock jumps back, and rejects them if it does', async (context) => {
        const set = await clocked(context, { max: 2 });
        await set.claim('a');
        await set.claim('b');
        const date = set.now();
        set.jump(hour);
        assert.equal(await set.claim('c'), 'fresh');
        assert.equal(set.nonces.size, 1);
        set.jump(-hour);
        assert.equal(await set.claimDated('a', date), 'seen');
        set.pass(span);
        assert.equal(await set.claim('d'), 'fresh');
      });
    });
  });
}
