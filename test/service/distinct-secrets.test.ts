import assert from 'node:assert/strict';
import test from 'node:test';
import { startDouble } from '../../src/double/index.ts';
import { createService } from '../../src/index.ts';
import { hashSha256 } from '../../src/oauth/sha256.ts';
import type { ServiceOptions } from '../../src/service/options.ts';

const secret = 'one-secret-for-both';
const own = 'a-secret-of-its-own';

const equal: readonly (readonly [options: ServiceOptions, owner: string, other: string])[] = [
  [{ users: { ann: { secret }, bob: { secret } } }, 'the user bob', 'the user ann'],
  [
    { users: { ann: { secrets: [{ secret: own }, { secret, until: 1 }] }, bob: { secret } } },
    'the user bob',
    'the user ann',
  ],
  [{ users: { ann: { secret } }, consumers: { key: { secret } } }, 'the consumer key', 'the user ann'],
  [
    { users: { ann: { secret } }, clients: { app: { secret, grants: [] } } },
    'the client app',
    'the user ann',
  ],
  [
    {
      users: { ann: { secret } },
      clients: new Map([['app', { secret: { sha256: hashSha256(secret) }, grants: [] }]]),
    },
    'the client app',
    'the user ann',
  ],
  [
    { clients: { app: { secret: { plain: secret }, grants: [] } }, consumers: { key: { secret } } },
    'the client app',
    'the consumer key',
  ],
];

for (const [options, owner, other] of equal)
  test(`${owner} cannot have the secret of ${other}: ${JSON.stringify(Object.values(options))}`, () => {
    assert.throws(() => createService(options), {
      name: 'RangeError',
      message: `the secret of ${owner} is also the secret of ${other}; each user, client and consumer needs its own`,
    });
  });

test('one user can have a secret twice, and users and clients can have no secret', async () => {
  const service = createService({
    users: { ann: { secrets: [{ secret }, { secret, until: 1 }] }, bob: { secrets: [] } },
    clients: { app: { grants: [] }, phone: { grants: [] } },
  });
  await service.close();
});

test('setUser and rotateSecret of a double reject the secret of another user or client, and change nothing', async () => {
  const clients = { app: { secret: own, grants: [] } };
  await using double = await startDouble({ users: { ann: { secret }, bob: { secret: 'of-bob' } }, clients });
  const refusal = (owner: string, other: string) => ({
    name: 'RangeError',
    message: `the secret of ${owner} is also the secret of ${other}; each user, client and consumer needs its own`,
  });
  assert.throws(() => double.auth.setUser('eve', { secret }), refusal('the user eve', 'the user ann'));
  assert.throws(() => double.auth.credentials('eve'), RangeError);
  assert.throws(
    () => double.auth.rotateSecret('bob', { secret: own }),
    refusal('the client app', 'the user bob'),
  );
  assert.equal(double.auth.credentials('bob').secret, 'of-bob');
  assert.equal((await double.as('bob').fetch('/articles')).status, 200);
  await assert.rejects(startDouble({ users: { ann: { secret }, bob: { secret } } }), RangeError);
});
