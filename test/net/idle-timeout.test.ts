import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeadlineSweep, IdleTimeout } from '../../src/net/idle-timeout.ts';
import { seeded } from '../support/seeded.ts';

/** A sweep that is moved by hand. */
function handSweep(): DeadlineSweep {
  const sweep = new DeadlineSweep([1000], () => []);
  sweep.stop();
  return sweep;
}

const timeouts = { keepAlive: 1000, header: 2000 };

/** Sweeps every 10 ms until the connection expires; `bytesAt` is how much had been received by then. Returns the time. */
function expiry(bytesAt: (now: number) => number, limits = timeouts): number {
  const sweep = handSweep();
  const idle = new IdleTimeout();
  for (; sweep.now < 100_000; sweep.now += 10)
    if (idle.expired(sweep, limits, 1, bytesAt(sweep.now))) return sweep.now;
  return Number.POSITIVE_INFINITY;
}

test('a connection that receives nothing expires shortly after the keep-alive timeout', () => {
  const time = expiry(() => 50);
  assert.ok(time >= 1000 && time <= 1250, `${time}`);
});

test('bytes postpone the end of an idle connection once, however many follow', () => {
  const random = seeded();
  for (let round = 0; round < 200; round += 1) {
    const [first, pace] = [10 + random.below(900), 1 + random.below(900)];
    const drip = (now: number): number => (now < first ? 0 : 1 + Math.floor((now - first) / pace));
    const time = expiry(drip);
    assert.ok(
      time > first + 2000 && time <= first + 3000,
      `seed ${random.seed}: ${first}, ${pace}: expired at ${time}`,
    );
  }
});

test('each request restarts the keep-alive timeout, and a timeout of 0 never expires', () => {
  const sweep = handSweep();
  const idle = new IdleTimeout();
  for (let request = 0; request < 100; request += 1) {
    assert.equal(idle.expired(sweep, timeouts, request, request), false);
    sweep.now += 900;
  }
  assert.equal(
    expiry(() => 0, { keepAlive: 0, header: 2000 }),
    Number.POSITIVE_INFINITY,
  );
});

test('the sweep checks each connection several times within the shortest timeout, until it is stopped', async () => {
  let checks = 0;
  await new Promise<void>((resolve) => {
    const sweep = new DeadlineSweep([0, 80, 5000], () => [
      {
        check(now) {
          checks += 1;
          assert.equal(now, 10 * checks);
          if (checks < 5) return;
          sweep.stop();
          resolve();
        },
      },
    ]);
    setImmediate(function wait() {
      if (checks < 5) setImmediate(wait);
    });
  });
  assert.equal(checks, 5);
});
