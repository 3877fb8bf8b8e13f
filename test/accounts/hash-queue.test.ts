import assert from 'node:assert/strict';
import test from 'node:test';
import { type HashAttempt, HashQueue, type QueueOptions } from '../../src/accounts/hash-queue.ts';

/** Resolves when the turn that an attempt left free was given to the next. */
async function handedOn(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A queue whose attempts end when they are told to. */
function openQueue(options: Partial<QueueOptions> = {}) {
  const queue = new HashQueue({ concurrency: 2, capacity: 4, allows: () => true, ...options });
  const begun: string[] = [];
  const ends = new Map<string, (right: boolean) => void>();
  const fails = new Map<string, (error: Error) => void>();
  return {
    begun,
    /** `peer` and the key of the attempt. */
    attempt: (peer: string, key: string): Promise<HashAttempt> =>
      queue.attempt(peer, key, () => {
        begun.push(`${peer}${key}`);
        return new Promise<boolean>((resolve, reject) => {
          ends.set(`${peer}${key}`, resolve);
          fails.set(`${peer}${key}`, reject);
        });
      }),
    async end(name: string, right = false): Promise<void> {
      ends.get(name)?.(right);
      await handedOn();
    },
    async fail(name: string): Promise<void> {
      fails.get(name)?.(new Error('broken'));
      await handedOn();
    },
  };
}

test('attempts beyond the concurrency limit wait', async () => {
  const { attempt, begun, end } = openQueue();
  const results = ['1', '2', '3', '4'].map((key) => attempt('a', key));
  assert.deepEqual(begun, ['a1', 'a2']);
  await end('a2', true);
  assert.deepEqual(begun, ['a1', 'a2', 'a3']);
  for (const name of ['a1', 'a3', 'a4']) await end(name);
  assert.deepEqual(await Promise.all(results), [false, true, false, false]);
});

test('peers take turns', async () => {
  const { attempt, begun, end } = openQueue({ concurrency: 1, capacity: 10 });
  for (const key of ['1', '2', '3', '4']) void attempt('a', key);
  for (const key of ['1', '2']) void attempt('b', key);
  void attempt('c', '1');
  for (let turn = 0; turn < 7; turn += 1) await end(begun.at(-1) ?? '');
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

test('a full queue drops the latest attempt of the peer with the most for a peer with fewer', async () => {
  const { attempt, begun, end } = openQueue({ concurrency: 1, capacity: 3 });
  const [first, second, third, fourth] = ['1', '2', '3', '4'].map((key) => attempt('a', key));
  assert.equal(await attempt('a', '5'), 'full');
  const other = attempt('b', '1');
  assert.equal(await fourth, 'full');
  for (const name of ['a1', 'a2', 'b1', 'a3']) await end(name, true);
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'a3']);
  assert.deepEqual(await Promise.all([first, second, other, third]), [true, true, true, true]);
});

test('a full queue with one attempt per peer refuses a further peer', async () => {
  const { attempt } = openQueue({ concurrency: 1, capacity: 2 });
  for (const peer of ['a', 'b', 'c']) void attempt(peer, '1');
  assert.equal(await attempt('d', '1'), 'full');
});

test('simultaneous attempts of one peer with the same key share one, and later ones do not', async () => {
  const { attempt, begun, end } = openQueue();
  const results = [attempt('a', '1'), attempt('a', '1'), attempt('b', '1')];
  assert.deepEqual(begun, ['a1', 'b1']);
  await end('a1', true);
  await end('b1');
  assert.deepEqual(await Promise.all(results), [true, true, false]);
  void attempt('a', '1');
  assert.deepEqual(begun, ['a1', 'b1', 'a1']);
});

test('the queue checks before each attempt that its peer is still allowed', async () => {
  const asked: string[] = [];
  const failed = new Map<string, number>();
  const { attempt, begun, end } = openQueue({
    capacity: 10,
    allows(peer, underway) {
      asked.push(`${peer} ${underway}`);
      return (failed.get(peer) ?? 0) + underway < 3;
    },
  });
  const results = ['1', '2', '3', '4', '5'].map((key) =>
    attempt('a', key).then((result) => {
      if (result === false) failed.set('a', (failed.get('a') ?? 0) + 1);
      return result;
    }),
  );
  for (let turn = 0; turn < 5; turn += 1) await end(begun[turn] ?? '');
  assert.deepEqual(await Promise.all(results), [false, false, false, 'blocked', 'blocked']);
  assert.deepEqual(asked, ['a 0', 'a 1', 'a 1', 'a 1', 'a 1']);
});

test('a failed attempt rejects its promise, and does not block the next one', async () => {
  const { attempt, begun, end, fail } = openQueue({ concurrency: 1 });
  const broken = attempt('a', '1');
  const next = attempt('b', '1');
  const told = assert.rejects(broken, /broken/);
  await fail('a1');
  await told;
  await end('b1', true);
  assert.deepEqual(begun, ['a1', 'b1']);
  assert.equal(await next, true);
});

test('a full queue prefers a peer without earlier attempts', async () => {
  const { attempt, begun, end } = openQueue({ concurrency: 1, capacity: 4 });
  const strangers = ['a', 'b', 'c', 'd', 'e'];
  for (const peer of strangers) void attempt(peer, '1');
  // Each comes again when it has failed, so that the queue is always full.
  for (const peer of strangers) {
    await end(`${peer}1`);
    void attempt(peer, '2');
  }
  const first = attempt('z', '1');
  for (let turn = 0; turn < 4; turn += 1) await end(begun.at(-1) ?? '');
  assert.equal(begun.at(-1), 'z1');
  await end('z1', true);
  assert.equal(await first, true);
});

test('an attempt that a full queue refused counts as an earlier attempt', async () => {
  const { attempt } = openQueue({ concurrency: 1, capacity: 2 });
  for (const peer of ['a', 'b', 'c']) void attempt(peer, '1');
  assert.equal(await attempt('d', '1'), 'full');
  assert.equal(await attempt('d', '2'), 'full');
  // Both that wait have tried once, as it does now.
  assert.equal(await attempt('e', '1'), 'full');
});

test('the peers of one network are counted together', async () => {
  const { attempt, begun, end } = openQueue({
    concurrency: 1,
    capacity: 2,
    findNetwork: (peer) => peer.slice(0, 1),
  });
  for (const peer of ['a1', 'a2', 'a3']) void attempt(peer, '/1');
  const other = attempt('b1', '/1');
  await end('a1/1');
  await end(begun.at(-1) ?? '');
  await end('b1/1', true);
  assert.equal(await other, true);
});

test('successful attempts are not counted, and counts are cleared once the queue is empty', async () => {
  const { attempt, end } = openQueue({ concurrency: 1, capacity: 1 });
  for (const key of ['1', '2', '3']) {
    void attempt('a', key);
    await end(`a${key}`, key === '1');
  }
  const waiting = attempt('b', '1');
  const last = attempt('a', '4');
  // Both have tried once.
  assert.equal(await attempt('c', '1'), 'full');
  await end('b1', true);
  await end('a4', true);
  assert.deepEqual(await Promise.all([waiting, last]), [true, true]);
});
