import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDouble } from '../../src/double/index.ts';
import { createDoubleNonces } from '../../src/double/state/nonces.ts';
import { createNonces } from '../../src/store/nonces/nonces.ts';
import { noncesContract } from '../support/store/nonces-contract.ts';

noncesContract('nonces of a double', async (_, { bucketSpan, max, maxPerUser, steady }) => {
  const make = () =>
    createNonces({ bucketSpan, max, maxPerUser, key: new Uint8Array(16), monotonic: steady });
  return createDoubleNonces(
    make,
    () => {},
    () => false,
  );
});

test('a double answers 429 to a user with as many nonces as one may have, and 200 again when time has passed', async () => {
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
