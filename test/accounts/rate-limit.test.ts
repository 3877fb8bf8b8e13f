import assert from 'node:assert/strict';
import test from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createRateLimiter, rateLimitKey, tooManyFailures } from '../../src/accounts/rate-limit.ts';
import { createManualClock } from '../../src/clock.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const start = Date.UTC(2024, 1, 29, 12, 0, 30);

test('a peer that reaches the limit of failures for different users is blocked until the minute is over', () => {
  const clock = createManualClock(start);
  const rateLimiter = createRateLimiter(2, clock);
  rateLimiter.fail('192.0.2.1', 'ann');
  assert.ok(!rateLimiter.blocksPeer('192.0.2.1'));
  rateLimiter.fail('192.0.2.1', 'bob');
  assert.ok(rateLimiter.blocksPeer('192.0.2.1'));
  assert.ok(!rateLimiter.blocksPeer('192.0.2.2'));
  assert.ok(!rateLimiter.blocksUser('ann'));
  clock.advance(59_999);
  assert.ok(rateLimiter.blocksPeer('192.0.2.1'));
  assert.equal(rateLimiter.retryAfter(), 1);
  clock.advance(1);
  assert.ok(!rateLimiter.blocksPeer('192.0.2.1'));
  assert.equal(rateLimiter.retryAfter(), 60);
});

test('failures for one user block this user at this peer, and not the peer', () => {
  const clock = createManualClock(start);
  const rateLimiter = createRateLimiter(2, clock);
  rateLimiter.fail('192.0.2.1', 'ann');
  assert.ok(!rateLimiter.blocksPair('192.0.2.1', 'ann'));
  for (let count = 0; count < 50; count += 1) rateLimiter.fail('192.0.2.1', 'ann');
  assert.ok(rateLimiter.blocksPair('192.0.2.1', 'ann'));
  assert.ok(!rateLimiter.blocksPair('192.0.2.1', 'bob'));
  assert.ok(!rateLimiter.blocksPair('192.0.2.1', undefined));
  assert.ok(!rateLimiter.blocksPair('192.0.2.2', 'ann'));
  assert.ok(!rateLimiter.blocksPeer('192.0.2.1'));
  rateLimiter.fail('192.0.2.1', undefined);
  rateLimiter.fail('192.0.2.1', undefined);
  assert.ok(rateLimiter.blocksPeer('192.0.2.1'));
  clock.advance(60_000);
  assert.ok(!rateLimiter.blocksPair('192.0.2.1', 'ann'));
});

test('attempts in progress for a user count as failures for this user', () => {
  const rateLimiter = createRateLimiter(3, createManualClock(start));
  assert.ok(!rateLimiter.blocksPair('192.0.2.1', 'ann', 2));
  assert.ok(rateLimiter.blocksPair('192.0.2.1', 'ann', 3));
  rateLimiter.fail('192.0.2.1', 'ann');
  assert.ok(rateLimiter.blocksPair('192.0.2.1', 'ann', 2));
  assert.ok(!rateLimiter.blocksPair('192.0.2.1', 'bob', 2));
});

test('the problem states whether failures of the peer, the user or both were counted', () => {
  const rateLimiter = createRateLimiter(1, createManualClock(start));
  const details = (['peer-and-user', 'peer', 'user'] as const).map((subject) => {
    const { status, detail, members } = tooManyFailures(rateLimiter, subject);
    return [status, detail, members];
  });
  assert.deepEqual(details, [
    [
      429,
      'Too many failed authentications within one minute for this user or client from this address.',
      { counted: 'peer-and-user' },
    ],
    [
      429,
      'Too many failed authentications within one minute from this address, for several users or with malformed credentials.',
      { counted: 'peer' },
    ],
    [
      429,
      'Too many failed authentications within one minute for this user or client, from several addresses.',
      { counted: 'user' },
    ],
  ]);
});

test('a user is blocked by the failures of all peers', () => {
  const rateLimiter = createRateLimiter(2, createManualClock(start));
  rateLimiter.fail('192.0.2.1', 'ann');
  rateLimiter.fail('192.0.2.2', 'ann');
  assert.ok(rateLimiter.blocksUser('ann'));
  assert.ok(!rateLimiter.blocksUser('bob'));
  assert.ok(!rateLimiter.blocksPeer('192.0.2.2'));
});

test('setting the clock does not unblock a peer', () => {
  const clock = createManualClock(start);
  const rateLimiter = createRateLimiter(1, clock);
  rateLimiter.fail('192.0.2.1', undefined);
  for (const time of [start - 3_600_000, start + 3_600_000]) {
    clock.set(time);
    assert.ok(rateLimiter.blocksPeer('192.0.2.1'));
  }
});

test('IPv6 addresses of one /64 network are one peer, in any notation', () => {
  const rateLimiter = createRateLimiter(1, createManualClock(start));
  rateLimiter.fail('2001:db8:1:2::1', undefined);
  assert.ok(rateLimiter.blocksPeer('2001:DB8:1:2:ffff:ffff:ffff:ffff'));
  assert.ok(!rateLimiter.blocksPeer('2001:db8:1:3::1'));
});

test('an IPv4 address and its IPv4-mapped IPv6 address are one peer', () => {
  const rateLimiter = createRateLimiter(1, createManualClock(start));
  rateLimiter.fail('::ffff:192.0.2.1', undefined);
  assert.ok(rateLimiter.blocksPeer('192.0.2.1'));
  assert.ok(!rateLimiter.blocksPeer('::ffff:192.0.2.2'));
  assert.equal(rateLimitKey('::ffff:c000:201'), '192.0.2.1');
});

test('a peer without an address is counted by its name', () => {
  const rateLimiter = createRateLimiter(1, createManualClock(start));
  rateLimiter.fail('', undefined);
  assert.ok(rateLimiter.blocksPeer(''));
  assert.equal(rateLimitKey('no:address'), 'no:address');
});

test('attempts in progress count as failures of the peer', () => {
  const rateLimiter = createRateLimiter(3, createManualClock(start));
  assert.ok(!rateLimiter.blocksPeer('192.0.2.1', 2));
  assert.ok(rateLimiter.blocksPeer('192.0.2.1', 3));
  rateLimiter.fail('192.0.2.1', undefined);
  assert.ok(rateLimiter.blocksPeer('192.0.2.1', 2));
});

test('a limit of 0 blocks no peer and no user', () => {
  const rateLimiter = createRateLimiter(0, createManualClock(start));
  for (let count = 0; count < 1000; count += 1) rateLimiter.fail('192.0.2.1', 'ann');
  assert.ok(!rateLimiter.blocksPeer('192.0.2.1', 1000) && !rateLimiter.blocksUser('ann'));
});

test('an invalid limit throws a RangeError', () => {
  for (const limit of [Number.NaN, -1, 0.5, Number.POSITIVE_INFINITY]) {
    assert.throws(() => createRateLimiter(limit, createManualClock(start)), RangeError, String(limit));
  }
});

test('blocked peers and users stay blocked however many others fail', () => {
  const rateLimiter = createRateLimiter(1, createManualClock(start));
  rateLimiter.fail('192.0.2.1', 'ann');
  rateLimiter.fail('192.0.2.1', 'bob');
  for (let peer = 0; peer < 100_000; peer += 1)
    rateLimiter.fail(`2001:db8:0:${peer.toString(16)}::`, `u${peer}`);
  for (let peer = 0; peer < 65_536; peer += 1)
    rateLimiter.fail(`2001:db8:1:${peer.toString(16)}::`, `v${peer}`);
  assert.ok(rateLimiter.blocksPeer('192.0.2.1') && rateLimiter.blocksUser('ann'));
});

test('failures for thousands of long names use less than 8 MB', () => {
  const rateLimiter = createRateLimiter(2, createManualClock(start));
  const createName = (at: number): string => Buffer.alloc(16_384, `${at}.`).toString('latin1');
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let at = 0; at < 2000; at += 1) {
    const peer = `2001:db8:0:${at.toString(16)}::`;
    rateLimiter.fail(peer, createName(at));
    rateLimiter.fail(peer, createName(at));
    // A part of a text refers to the whole of it.
    rateLimiter.fail(peer, createName(at).slice(1000, 1100));
  }
  collectGarbage();
  const bytes = process.memoryUsage().heapUsed - before;
  assert.ok(rateLimiter.blocksUser(createName(1)) && rateLimiter.blocksPair('2001:db8:0:1::', createName(1)));
  assert.ok(!rateLimiter.blocksUser(`${createName(1)}x`), 'a name with the same beginning is another one');
  assert.ok(bytes < 8_000_000, `${bytes} bytes`);
});
