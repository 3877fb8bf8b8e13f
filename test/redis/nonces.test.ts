import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import { createManualClock, systemClock } from '../../src/clock.ts';
import {
  createRedisNonceStore,
  initializeRedisNonceStore,
  type RedisClient,
  type RedisNonceStoreOptions,
} from '../../src/redis/index.ts';
import { nonceContract } from '../../src/store/contract/index.ts';
import { StoreError } from '../../src/store/errors.ts';
import type { NonceStore } from '../../src/store/nonces/nonces.ts';
import {
  command,
  connect,
  freePort,
  libraries,
  type RedisServer,
  redisMissing,
  startRedis,
} from '../support/redis/server.ts';

const skip = redisMissing();
const window = 600_000;
const tolerance = 30_000;

interface Opened {
  readonly client: RedisClient;
  readonly nonces: NonceStore;
  readonly lines: string[];
}

/** Creates nonces that report to a list. */
function noncesWith(client: RedisClient, options: RedisNonceStoreOptions = {}): Opened {
  const lines: string[] = [];
  return {
    client,
    lines,
    nonces: createRedisNonceStore(client, { onWarning: (line) => lines.push(line), ...options }),
  };
}

/** Starts a server for the test, and prepares it. */
async function openNonces(
  context: TestContext,
  options: RedisNonceStoreOptions = {},
): Promise<Opened & { server: RedisServer }> {
  const server = await startRedis(context);
  const client = await connect(context, 'redis', server.path);
  assert.equal(await initializeRedisNonceStore(client), true);
  return { server, ...noncesWith(client, options) };
}

async function claim(nonces: NonceStore, nonce: string, ahead = 0): Promise<string> {
  const now = systemClock.now();
  const claimed = await nonces.claim('ann', nonce, now + ahead + window, now);
  return typeof claimed === 'object' ? 'lost' : claimed;
}

/** Moves the loss of the nonces back in time, in place of waiting. */
async function age(client: RedisClient, ms: number): Promise<void> {
  const marker = String(await command(client, 'GET', 'countersign:since'));
  const [run = '', since = ''] = marker.split(' ');
  await command(client, 'SET', 'countersign:since', `${run} ${Number(since) - ms}`);
}

/** Checks that all dates are refused which could have been used before, for one window and no longer. */
async function assertOneWindowRefused({ client, nonces, lines }: Opened): Promise<void> {
  assert.equal(await claim(nonces, 'now'), 'lost');
  assert.equal(await claim(nonces, 'ahead', window), 'lost');
  assert.match(lines.join('\n'), /^Redis is new, was restarted, or has lost .* refused until 20\d\d-.*Z\.$/m);
  await age(client, window);
  assert.equal(await claim(nonces, 'after a window'), 'lost');
  await age(client, 2 * tolerance + 3000);
  assert.equal(await claim(nonces, 'after the tolerance'), 'fresh');
  // Its date is one that a request before the loss could have had.
  assert.equal(await claim(nonces, 'late', -window + 1000), 'lost');
}

for (const library of libraries) {
  describe(`nonces in Redis with ${library}`, { skip }, () => {
    for (const { name, run } of nonceContract) {
      test(name, async (context) => {
        const server = await startRedis(context);
        const open = async (): Promise<NonceStore> => {
          const client = await connect(context, library, server.path);
          return noncesWith(client).nonces;
        };
        const openNew = async (): Promise<NonceStore> => {
          const client = await connect(context, library, server.path);
          await initializeRedisNonceStore(client);
          return open();
        };
        return run(openNew, { reopen: open, peer: open });
      });
    }
  });
}

describe('a nonce in Redis', { skip }, () => {
  test('has a hashed key, and expires after its last time and the clock tolerance', async (context) => {
    const { client, nonces } = await openNonces(context);
    const now = systemClock.now();
    assert.equal(await nonces.claim('ann', 'n', now + 1000.5, now), 'fresh');
    const keys = await command(client, 'KEYS', 'countersign:*');
    assert.ok(Array.isArray(keys));
    const [key] = keys.filter((each) => each !== 'countersign:since');
    // printf '["ann","n"]' | openssl dgst -sha256 -binary | basenc --base64url
    assert.equal(key, 'countersign:usWFfLeLBBXAWvQ-Og8f25_nDHle8eyefF_iuFO-y4k');
    assert.equal(Number(await command(client, 'PEXPIRETIME', key)), Math.ceil(now + 1000.5) + tolerance);
    assert.equal(await command(client, 'GET', key), '1');
  });

  test('is fresh again after it has expired', async (context) => {
    const { client, nonces } = await openNonces(context, { clockTolerance: 1 });
    const now = systemClock.now();
    assert.equal(await nonces.claim('ann', 'n', now, now), 'fresh');
    for (let size = 2; size > 1; ) size = Number(await command(client, 'DBSIZE'));
    assert.ok(systemClock.now() > now + 1000);
    assert.equal(await claim(nonces, 'n'), 'fresh');
  });

  test('is seen, and not stored, if it has already expired', async (context) => {
    const { client, nonces } = await openNonces(context);
    const now = systemClock.now();
    assert.equal(await nonces.claim('ann', 'n', now - 1, now), 'seen');
    assert.equal(await command(client, 'DBSIZE'), 1);
  });

  test('is rejected if it would have to be stored for more than two windows', async (context) => {
    const { nonces } = await openNonces(context, { window: 60 });
    const now = systemClock.now();
    await assert.rejects(async () => nonces.claim('ann', 'n', now + 123_000, now), {
      name: 'StoreError',
      code: 'failed',
    });
    assert.equal(await nonces.claim('ann', 'n', now + 121_999, now), 'fresh');
    assert.equal(nonces.window, 60);
  });

  test('is separate for each prefix', async (context) => {
    const { client, nonces } = await openNonces(context);
    await initializeRedisNonceStore(client, { prefix: 'other:' });
    assert.equal(await claim(nonces, 'n'), 'fresh');
    assert.equal(await claim(noncesWith(client, { prefix: 'other:' }).nonces, 'n'), 'fresh');
  });
});

describe('a loss of the nonces', { skip }, () => {
  test('is assumed before the first use', async (context) => {
    const server = await startRedis(context);
    await assertOneWindowRefused(noncesWith(await connect(context, 'redis', server.path)));
  });

  test('is not assumed after an initialization, which succeeds only before the first use', async (context) => {
    const { client, nonces, lines } = await openNonces(context);
    assert.equal(await claim(nonces, 'n'), 'fresh');
    assert.equal(await initializeRedisNonceStore(client), false);
    assert.deepEqual(lines, []);
  });

  for (const library of libraries) {
    test(`by a restart without data makes claims return lost for one window, with ${library}`, async (context) => {
      const server = await startRedis(context);
      const client = await connect(context, library, server.path);
      await initializeRedisNonceStore(client);
      const opened = noncesWith(client, { timeout: 10_000 });
      assert.equal(await claim(opened.nonces, 'n'), 'fresh');
      await server.kill();
      await server.start();
      await assertOneWindowRefused(opened);
    });
  }

  test('is assumed after a restart, even if the data was on disk', async (context) => {
    const server = await startRedis(context, '--appendonly', 'yes', '--appendfsync', 'always');
    const client = await connect(context, 'redis', server.path);
    await initializeRedisNonceStore(client);
    const opened = noncesWith(client, { timeout: 10_000 });
    assert.equal(await claim(opened.nonces, 'n'), 'fresh');
    await server.kill();
    await server.start('--appendonly', 'yes', '--appendfsync', 'always');
    assert.equal(await claim(opened.nonces, 'n'), 'seen');
    assert.equal(await initializeRedisNonceStore(client), false);
    await assertOneWindowRefused(opened);
  });

  test('by FLUSHALL makes claims return lost for one window, in all processes', async (context) => {
    const { client, nonces, lines, server } = await openNonces(context);
    const other = noncesWith(await connect(context, 'ioredis', server.path));
    assert.equal(await claim(nonces, 'n'), 'fresh');
    assert.equal(await claim(other.nonces, 'm'), 'fresh');
    await command(client, 'FLUSHALL');
    assert.equal(await claim(nonces, 'n'), 'lost');
    assert.equal(await claim(other.nonces, 'm'), 'lost');
    await assertOneWindowRefused({ client, nonces, lines });
    assert.equal(await claim(other.nonces, 'o'), 'fresh');
  });

  test('by a failover makes claims return lost for one window', async (context) => {
    const port = String(await freePort());
    const primary = await startRedis(context, '--port', port);
    const client = await connect(context, 'redis', primary.path);
    await initializeRedisNonceStore(client);
    const replica = await startRedis(context, '--replicaof', `127.0.0.1 ${port}`);
    const opened = noncesWith(await connect(context, 'redis', replica.path));
    assert.equal(await claim(noncesWith(client).nonces, 'n'), 'fresh');
    await assert.rejects(claim(opened.nonces, 'n'), { message: 'Redis failed: READONLY' });
    while ((await command(opened.client, 'DBSIZE')) !== 2) await command(client, 'PING');
    await primary.kill();
    await command(opened.client, 'REPLICAOF', 'NO', 'ONE');
    await assertOneWindowRefused(opened);
  });
});

describe('a nonce store with a failing Redis', { skip }, () => {
  for (const library of libraries) {
    test(`rejects claims within 4 s if Redis was stopped, with ${library}`, async (context) => {
      const server = await startRedis(context);
      const client = await connect(context, library, server.path);
      await initializeRedisNonceStore(client);
      const { nonces, lines } = noncesWith(client);
      assert.equal(await claim(nonces, 'before'), 'fresh');
      await server.kill();
      const start = systemClock.steady();
      const attempts = await Promise.allSettled(Array.from({ length: 10 }, (_, n) => claim(nonces, `n${n}`)));
      assert.ok(systemClock.steady() - start < 4000);
      for (const attempt of attempts) {
        assert.equal(attempt.status, 'rejected');
        assert.ok(attempt.reason instanceof StoreError);
        assert.equal(attempt.reason.code, 'failed');
      }
      assert.equal(lines.length, 1);
      assert.match(lines[0] ?? '', /^Redis failed: /);
    });

    test(`rejects claims while Redis does not respond, with ${library}`, async (context) => {
      const server = await startRedis(context);
      const client = await connect(context, library, server.path);
      await initializeRedisNonceStore(client);
      const { nonces } = noncesWith(client, { timeout: 100 });
      server.signal('SIGSTOP');
      await assert.rejects(claim(nonces, 'n'), {
        name: 'StoreError',
        message: 'Redis failed: no reply within 100 ms',
      });
      server.signal('SIGCONT');
      // The command was carried out later: a repeated request is refused.
      for (let result = 'unknown'; result !== 'seen'; )
        result = await claim(nonces, 'n').catch(() => 'unknown');
    });

    test(`rejects claims without showing a password or an address, with ${library}`, async (context) => {
      const protectedServer = await startRedis(context, '--requirepass', 'pa55word');
      const clients = [
        await connect(context, library, 'redis://user:pa55word@127.0.0.1:1/0'),
        await connect(context, library, 'redis://user:pa55word@host.invalid:6379/0'),
        await connect(context, 'ioredis', protectedServer.path),
      ];
      for (const client of clients) {
        const { nonces, lines } = noncesWith(client, { timeout: 300 });
        await assert.rejects(claim(nonces, 'n'), (error) => {
          assert.ok(error instanceof StoreError);
          assert.doesNotMatch(`${inspect(error)} ${lines}`, /pa55word|127\.0\.0\.1|invalid|sock/);
          return true;
        });
      }
    });
  }

  test('sends no further command while 10,000 claims wait', async () => {
    let sent = 0;
    const client = { sendCommand: () => new Promise<unknown>(() => (sent += 1)) };
    const { nonces } = noncesWith(client, { timeout: 50 });
    const attempts = Array.from({ length: 10_002 }, (_, n) => claim(nonces, `n${n}`));
    assert.ok((await Promise.allSettled(attempts)).every(({ status }) => status === 'rejected'));
    assert.equal(sent, 10_000);
  });

  test('rejects a claim for every unexpected response of Redis', async () => {
    const replies = [
      null,
      undefined,
      1,
      'OK',
      'fresh',
      'fresh 1',
      'fresh 1 2 3',
      'fresh -1 2',
      ['fresh', 1, 2],
      {},
      new Error('x'),
    ];
    for (const reply of replies) {
      const { nonces } = noncesWith({ sendCommand: async () => reply });
      await assert.rejects(claim(nonces, 'n'), {
        name: 'StoreError',
        message: 'Redis failed: unexpected reply',
      });
    }
  });

  test('reports the code of the error', async () => {
    const errors: readonly (readonly [unknown, string])[] = [
      [
        Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:6379'), { code: 'ECONNREFUSED' }),
        'ECONNREFUSED',
      ],
      [new Error('READONLY You cannot write against a read only replica.'), 'READONLY'],
      [new Error('ERR syntax error'), 'ERR; Redis 6.2 or later is required'],
      [new TypeError('secret'), 'TypeError'],
      ['secret', 'unknown error'],
      [null, 'unknown error'],
      [Object.create(null), 'unknown error'],
    ];
    for (const [error, reason] of errors) {
      const { nonces } = noncesWith({ call: () => Promise.reject(error) });
      await assert.rejects(claim(nonces, 'n'), { name: 'StoreError', message: `Redis failed: ${reason}` });
    }
    const throwing = noncesWith({
      sendCommand() {
        throw new Error('LOADING Redis is loading the dataset in memory');
      },
    });
    await assert.rejects(claim(throwing.nonces, 'n'), { message: 'Redis failed: LOADING' });
  });
});

describe('the configuration of Redis', { skip }, () => {
  test('is reported once if Redis may evict nonces', async (context) => {
    const { client, nonces, lines } = await openNonces(context);
    await command(client, 'CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    for (let n = 0; n < 3; n += 1) await claim(nonces, `n${n}`);
    while (lines.length === 0) await command(client, 'PING');
    assert.deepEqual(lines, [
      'Redis may evict nonces: its maxmemory-policy is allkeys-lru, and must be noeviction.',
    ]);
  });

  test('is reported at most once a minute if the clock of Redis differs by more than a second', async (context) => {
    const server = await startRedis(context);
    const client = await connect(context, 'redis', server.path);
    await initializeRedisNonceStore(client);
    for (const [offset, line] of [
      [5000, /^The clock of Redis is \d\.\d s behind that of this host\.$/],
      [-5000, /^The clock of Redis is \d\.\d s ahead of that of this host\.$/],
    ] as const) {
      const clock = createManualClock(systemClock.now() + offset);
      const { nonces, lines } = noncesWith(client, { clock });
      const send = (n: string) => nonces.claim('ann', `${offset} ${n}`, clock.now() + window, clock.now());
      assert.equal(await send('1'), 'fresh');
      assert.equal(await send('2'), 'fresh');
      assert.equal(lines.length, 1);
      assert.match(lines[0] ?? '', line);
      clock.advance(60_000);
      clock.set(systemClock.now() + offset);
      await send('3');
      assert.equal(lines.length, 2);
    }
  });

  test('prevents claims if the clock of Redis differs by more than the tolerance', async (context) => {
    const { nonces } = await openNonces(context);
    for (const offset of [tolerance + 5000, -tolerance - 5000]) {
      const now = systemClock.now() + offset;
      await assert.rejects(async () => nonces.claim('ann', `n${offset}`, now + window, now), {
        name: 'StoreError',
        message: 'Redis failed: its clock differs too much from that of this host',
      });
    }
  });
});

describe('the options of nonces in Redis', () => {
  test('are rejected with a RangeError if they are invalid', () => {
    const client = { sendCommand: async () => 'OK' };
    for (const [name, values] of [
      ['window', [0, Number.NaN, 31_536_001, '600']],
      ['clockTolerance', [0, 3601]],
      ['timeout', [0, 60_001]],
      ['prefix', [1]],
    ] as const) {
      for (const value of values)
        assert.throws(() => createRedisNonceStore(client, JSON.parse(JSON.stringify({ [name]: value }))), {
          name: 'RangeError',
          message: new RegExp(`^${name} is not`),
        });
    }
    assert.throws(() => Reflect.apply(createRedisNonceStore, undefined, [{}]), TypeError);
  });
});
