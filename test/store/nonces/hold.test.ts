import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createManualClock } from '../../../src/clock.ts';
import { openNonces } from '../../../src/store/nonces/file.ts';
import { start, window } from '../../support/store/nonces-contract.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const until = start + window;

/** Opens the nonces of a directory. */
async function open(directory: string) {
  const clock = createManualClock(start);
  const options = {
    directory,
    durability: 'fsync',
    window,
    max: 1000,
    key: new Uint8Array(16),
    clock,
  } as const;
  const nonces = await openNonces({ ...options, onWarning: (line) => assert.fail(line) });
  await nonces.begin();
  return nonces;
}

/** Returns which of the nonces another process finds. */
async function listStored(directory: string, names: readonly string[]): Promise<string[]> {
  const nonces = await open(directory);
  const stored = names.filter((nonce) => nonces.claim('demo', nonce, until, start) === 'seen');
  await nonces.close();
  return stored;
}

async function openClaimed(context: TestContext, names: readonly string[]) {
  const directory = temporaryDirectory(context);
  const nonces = await open(directory);
  for (const nonce of names) assert.equal(nonces.claim('demo', nonce, until, start), 'fresh');
  return { directory, nonces };
}

test('each of two concurrent claims is held for its own request', async (context) => {
  const { directory, nonces } = await openClaimed(context, ['first', 'second']);
  const first = nonces.hold('demo', 'first', until);
  const second = nonces.hold('demo', 'second', until);
  assert.deepEqual(first, { user: 'demo', nonce: 'first', until });
  assert.deepEqual(second, { user: 'demo', nonce: 'second', until });
  assert.ok(second !== undefined);
  nonces.storedWithChange(second);
  assert.equal(nonces.release(second, false), undefined);
  await nonces.kept(true);
  await nonces.close();
  assert.deepEqual(await listStored(directory, ['first', 'second']), ['first', 'second']);
});

test('a claim with a pending write remains in the queue when it is held', async (context) => {
  const { directory, nonces } = await openClaimed(context, ['first', 'second']);
  const waiting = nonces.kept(true);
  const claim = nonces.hold('demo', 'second', until);
  assert.deepEqual(claim, { user: 'demo', nonce: 'second', until });
  await waiting;
  await nonces.close();
  assert.deepEqual(await listStored(directory, ['first', 'second']), ['first', 'second']);
});

test('a claim that is already written can be held and released', async (context) => {
  const { directory, nonces } = await openClaimed(context, ['first']);
  await nonces.kept(true);
  const claim = nonces.hold('demo', 'first', until);
  assert.ok(claim !== undefined);
  await nonces.release(claim, true);
  await nonces.close();
  assert.deepEqual(await listStored(directory, ['first', 'other']), ['first']);
});
