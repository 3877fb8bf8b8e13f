import assert from 'node:assert/strict';
import test from 'node:test';
import { createRateLimiter, rateLimitKey } from '../../src/auth/rate-limit.ts';
import { manualClock } from '../../src/clock.ts';

const start = Date.UTC(2024, 1, 29, 12, 0, 30);

test('a peer is blocked after as many failures as the limit, until the minute is over', () => {
  const clock = manualClock(start);
  const throttle = createRateLimiter(2, clock);
  throttle.fail('192.0.2.1', 'ann');
  assert.ok(!throttle.blocksPeer('192.0.2.1'));
  throttle.fail('192.0.2.1', 'bob');
  assert.ok(throttle.blocksPeer('192.0.2.1'));
  assert.ok(!throttle.blocksPeer('192.0.2.2'));
  assert.ok(!throttle.blocksUser('ann'));
  clock.advance(59_999);
  assert.ok(throttle.blocksPeer('192.0.2.1'));
  assert.equal(throttle.retryAfter(), 1);
  clock.advance(1);
  assert.ok(!throttle.blocksPeer('192.0.2.1'));
  assert.equal(throttle.retryAfter(), 60);
});

test('a user is blocked by the failures of all peers', () => {
  const throttle = createRateLimiter(2, manualClock(start));
  throttle.fail('192.0.2.1', 'ann');
  throttle.fail('192.0.2.2', 'ann');
  assert.ok(throttle.blocksUser('ann'));
  assert.ok(!throttle.blocksUser('bob'));
  assert.ok(!throttle.blocksPeer('192.0.2.2'));
});

test('setting the time of day forgives nothing', () => {
  const clock = manualClock(start);
  const throttle = createRateLimiter(1, clock);
  throttle.fail('192.0.2.1', undefined);
  for (const time of [start - 3_600_000, start + 3_600_000]) {
    clock.set(time);
    assert.ok(throttle.blocksPeer('192.0.2.1'));
  }
});

test('a peer of IPv6 is the network of its subscriber, however its address is written', () => {
  const throttle = createRateLimiter(1, manualClock(start));
  throttle.fail('2001:db8:1:2::1', undefined);
  assert.ok(throttle.blocksPeer('2001:DB8:1:2:ffff:ffff:ffff:ffff'));
  assert.ok(!throttle.blocksPeer('2001:db8:1:3::1'));
});

test('a peer of IPv4 is the same behind a socket of IPv6', () => {
  const throttle = createRateLimiter(1, manualClock(start));
  throttle.fail('::ffff:192.0.2.1', undefined);
  assert.ok(throttle.blocksPeer('192.0.2.1'));
  assert.ok(!throttle.blocksPeer('::ffff:192.0.2.2'));
  assert.equal(rateLimitKey('::ffff:c000:201'), '192.0.2.1');
});

test('a peer without an address is counted by its name', () => {
  const throttle = createRateLimiter(1, manualClock(start));
  throttle.fail('', undefined);
  assert.ok(throttle.blocksPeer(''));
  assert.equal(rateLimitKey('no:address'), 'no:address');
});

test('attempts under way count as if they failed', () => {
  const throttle = createRateLimiter(3, manualClock(start));
  assert.ok(!throttle.blocksPeer('192.0.2.1', 2));
  assert.ok(throttle.blocksPeer('192.0.2.1', 3));
  throttle.fail('192.0.2.1', undefined);
  assert.ok(throttle.blocksPeer('192.0.2.1', 2));
});

test('a limit of 0 blocks nobody', () => {
  const throttle = createRateLimiter(0, manualClock(start));
  for (let count = 0; count < 1000; count += 1) throttle.fail('192.0.2.1', 'ann');
  assert.ok(!throttle.blocksPeer('192.0.2.1', 1000) && !throttle.blocksUser('ann'));
});

test('a limit that would never be reached by mistake is refused', () => {
  for (const limit of [Number.NaN, -1, 0.5, Number.POSITIVE_INFINITY]) {
    assert.throws(() => createRateLimiter(limit, manualClock(start)), RangeError, String(limit));
  }
});

test('peers that are counted already stay blocked however many others fail', () => {
  const throttle = createRateLimiter(1, manualClock(start));
  throttle.fail('192.0.2.1', 'ann');
  for (let peer = 0; peer < 100_000; peer += 1)
    throttle.fail(`2001:db8:0:${peer.toString(16)}::`, `u${peer}`);
  for (let peer = 0; peer < 65_536; peer += 1) throttle.fail(`2001:db8:1:${peer.toString(16)}::`, `v${peer}`);
  assert.ok(throttle.blocksPeer('192.0.2.1') && throttle.blocksUser('ann'));
});
