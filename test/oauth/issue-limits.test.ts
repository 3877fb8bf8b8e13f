import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createManualClock } from '../../src/clock.ts';
import { type Double, startDouble } from '../../src/double/index.ts';
import { createGrants } from '../../src/oauth/grants.ts';
import { createMemoryStore } from '../../src/store/memory.ts';

const redirectUri = 'https://client.example/cb';
const query = new URLSearchParams({
  response_type: 'code',
  client_id: 'app',
  redirect_uri: redirectUri,
  scope: 'read',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
});

describe('the number of live tokens is limited', () => {
  let double: Double;
  const passwords = { ann: 'a password of ann', bob: 'a password of bob' };

  before(async () => {
    double = await startDouble({
      users: { ann: { password: passwords.ann }, bob: { password: passwords.bob } },
      clients: {
        app: {
          secret: 'a long secret of the client',
          redirectUris: [redirectUri],
          grants: ['authorization_code'],
        },
      },
      journal: { entries: 10 },
    });
  });
  after(() => double.close());

  const basic = (user: string, password: string): string =>
    `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const ask = (user: 'ann' | 'bob') =>
    double.fetch(`/oauth2/authorize?${query}`, {
      secure: true,
      headers: { Authorization: basic(user, passwords[user]), Accept: 'application/json' },
    });
  test('to 1,000 open consent pages of a user, until one is answered or expires', async () => {
    let ticket = '';
    for (let count = 0; count < 1000; count += 1) {
      const response = await ask('ann');
      assert.equal(response.status, 200);
      ticket = JSON.parse(await response.text()).consent_ticket;
    }
    const refused = await ask('ann');
    assert.equal(refused.status, 429);
    assert.match(refused.headers.get('Retry-After') ?? '', /^[1-9]\d*$/);
    assert.equal((await ask('bob')).status, 200, 'another user');
    const answer = await double.fetch('/oauth2/authorize', {
      secure: true,
      method: 'POST',
      redirect: 'manual',
      headers: { Authorization: basic('ann', passwords.ann) },
      body: new URLSearchParams({ consent_ticket: ticket, decision: 'deny' }),
    });
    assert.equal(answer.status, 303);
    assert.equal((await ask('ann')).status, 200, 'in place of the one that was answered');
    assert.equal((await ask('ann')).status, 429);
    double.clock.advance('6m');
    assert.equal((await ask('ann')).status, 200, 'after they have expired');
  });
});

test('a client has at most 10,000 access tokens without a user', async () => {
  const clock = createManualClock(Date.UTC(2026, 0, 1));
  const store = createMemoryStore({ storeId: 'm' });
  const grants = createGrants({ store, clock, random: (size) => randomBytes(size) });
  const draft = { mechanism: 'oauth2', kind: 'access', client: 'app', scopes: [] } as const;
  const issue = (client = 'app') => grants.issue([{ ...draft, client, expires: clock.now() + 3_600_000 }]);
  const [issued] = await grants.issue(
    Array.from({ length: 10_000 }, () => ({ ...draft, expires: clock.now() + 3_600_000 })),
  );
  await assert.rejects(issue(), { status: 429, type: 'too-many-tokens' });
  await issue('other');
  const found = await grants.find(issued?.value ?? '', 'oauth2', 'access');
  if (found === undefined) assert.fail('the token was not stored');
  await grants.revokeToken(found);
  await issue();
  await assert.rejects(issue(), { status: 429 });
  clock.advance('1h');
  await issue();
});
