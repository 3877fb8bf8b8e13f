import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { startDouble } from '../../src/double/index.ts';
import { createDoubleNonces } from '../../src/double/state/nonces.ts';
import { nonceContract as published } from '../../src/store/contract/index.ts';
import { createNonces } from '../../src/store/nonces/nonces.ts';
import { type Making, noncesContract, span } from '../support/store/nonces-contract.ts';

function make({ bucketSpan, max, maxPerUser, steady }: Omit<Making, 'now'>) {
  const open = () =>
    createNonces({ bucketSpan, max, maxPerUser, key: new Uint8Array(16), monotonic: steady });
  return createDoubleNonces(open, { burns: () => false, onReplay: () => {} });
}

describe('the nonces of a double', () => {
  const making = { bucketSpan: span, max: 10_000, maxPerUser: 10_000, steady: systemClock.steady };
  for (const { name, run } of published) test(name, () => run(async () => make(making)));
});

noncesContract('nonces of a double', async (_, making) => make(making));

test('a double responds with 429 to a user with too many nonces, and with 200 after the Retry-After time', async () => {
  const users = { ann: { secret: 'a' }, bob: { secret: 'b' } };
  await using double = await startDouble({ users, maxNonces: 10, now: '2026-03-01T12:00:00Z' });
  assert.equal((await double.as('ann').fetch('/articles')).status, 200);
  const refused = await double.as('ann').fetch('/articles');
  assert.equal(refused.status, 429);
  assert.equal(double.journal.last()?.auth?.failedAt, 'nonce');
  assert.equal((await double.as('bob').fetch('/articles')).status, 200);
  double.clock.advance(`${refused.headers.get('Retry-After')}s`);
  assert.equal((await double.as('ann').fetch('/articles')).status, 200);
});
