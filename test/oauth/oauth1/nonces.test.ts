import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreError } from '../../../src/store/errors.ts';
import { bucketSpanFor, createNonces, type NonceStore } from '../../../src/store/nonces/nonces.ts';
import {
  accessToken,
  ask,
  askRequestToken,
  openTestService,
  startSecond,
} from '../../support/oauth/consumer.ts';

/** Nonces in memory that are stored when a test says so, and what was claimed. */
function keeping() {
  const inMemory = createNonces({
    bucketSpan: bucketSpanFor(600_000),
    max: 1000,
    key: new Uint8Array(16),
    monotonic: () => 0,
  });
  const claimed: { user: string; nonce: string; until: number }[] = [];
  let kept: Promise<void> | undefined;
  const nonces: NonceStore = {
    async claim(user, nonce, until, now) {
      claimed.push({ user, nonce, until });
      const result = inMemory.claim(user, nonce, until, now);
      await kept;
      return result;
    },
    get size() {
      return inMemory.size;
    },
  };
  return {
    nonces,
    claimed,
    keepWith(promise: Promise<void> | undefined) {
      kept = promise;
    },
  };
}

/** Whether the promise is settled once everything that can go on has gone on. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  promise.then(
    () => {
      settled = true;
    },
    () => {},
  );
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

test('a request token or a resource is returned only after the nonce is stored', async () => {
  const { nonces, keepWith } = keeping();
  const server = openTestService({ nonces });
  const token = await accessToken(server);
  const sends = [
    () => askRequestToken(server),
    () => ask(server, { method: 'GET', target: '/users/ann/financialrecords', token }),
  ];
  for (const send of sends) {
    let keep = (): void => {};
    keepWith(
      new Promise((resolve) => {
        keep = resolve;
      }),
    );
    const sending = send();
    assert.equal(await isSettled(sending), false);
    keep();
    assert.equal((await sending).status, 200);
    keepWith(undefined);
  }
});

test('a request gets 503 if its nonce cannot be stored', async () => {
  const { nonces, keepWith } = keeping();
  const server = openTestService({ nonces, onError: () => {} });
  const failed = Promise.reject(new StoreError('failed', 'the disk is gone'));
  failed.catch(() => {});
  keepWith(failed);
  assert.equal((await askRequestToken(server)).status, 503);
});

test('a stored nonce contains only digests, and is stored until its timestamp has expired', async () => {
  const { nonces, claimed } = keeping();
  const server = openTestService({ nonces });
  await askRequestToken(server, {
    protocol: { oauth_nonce: '"\n\u0000 odd', oauth_timestamp: `${startSecond + 7}` },
  });
  assert.equal(claimed.length, 1);
  const [{ user = '', nonce = '', until = 0 } = {}] = claimed;
  assert.match(user, /^oauth1:[A-Za-z0-9_-]{43}$/);
  assert.match(nonce, /^[A-Za-z0-9_-]{43}$/);
  assert.ok(until >= (startSecond + 7 + 300) * 1000 + 999);
});
