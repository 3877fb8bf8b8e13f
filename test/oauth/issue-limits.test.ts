import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createManualClock } from '../../src/clock.ts';
import { type Double, startDouble } from '../../src/double/index.ts';
import { type Found, Grants } from '../../src/oauth/grants.ts';
import { maxIssued } from '../../src/oauth/issue-limits.ts';
import type { TokenDraft, TokenKind } from '../../src/oauth/records.ts';
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
  test('to 1,000 consent pages of a user, answered or not, until they expire', async () => {
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
    assert.equal(
      (await ask('ann')).status,
      429,
      'although one was answered, which is stored until it expires',
    );
    double.clock.advance('6m');
    assert.equal((await ask('ann')).status, 200, 'after they have expired');
  });
});

/** A thousandth of the usual maximum of each kind. */
const max = { ticket: 1, request: 10, access: 10, refresh: 50, grant: 10 } as const;

/** Grants in memory, and drafts of what they issue for `ann` and the client `app`. */
function openGrants() {
  const clock = createManualClock(Date.UTC(2026, 0, 1));
  const store = createMemoryStore({ storeId: 'm' });
  const grants = new Grants({ store, clock, random: (size) => randomBytes(size), maxIssued: max });
  const hour = 3_600_000;
  const draft = (kind: TokenKind, user?: string, client = 'app'): TokenDraft => {
    const mechanism = kind === 'request' ? 'oauth1' : 'oauth2';
    return { mechanism, kind, client, user, scopes: [], expires: clock.now() + hour };
  };
  const begin = (user = 'ann', client = 'app') =>
    grants.begin({ mechanism: 'oauth2', client, user, scopes: [], ends: clock.now() + 3 * hour }, [
      draft('code', user, client),
    ]);
  const find = async (value: string | undefined, kind: TokenKind): Promise<Found> => {
    const found = await grants.find(value ?? '', kind === 'request' ? 'oauth1' : 'oauth2', kind);
    return found ?? assert.fail(`no ${kind} was stored`);
  };
  return { clock, grants, draft, begin, find };
}

const refused = { status: 429, type: 'too-many-tokens' };
const repeat = <Value>(count: number, value: Value): Value[] => Array.from({ length: count }, () => value);

test('by default, the maximum of each kind is a thousand times that of the following tests', () => {
  const larger = Object.entries(max).map(([kind, count]) => [kind, 1000 * count]);
  assert.deepEqual(maxIssued, Object.fromEntries(larger));
});

test('a client has a maximum of access tokens without a user, until one is revoked or they expire', async () => {
  const { clock, grants, draft, find } = openGrants();
  const [issued] = await grants.issue(repeat(max.access, draft('access')));
  await assert.rejects(grants.issue([draft('access')]), refused);
  await grants.issue([draft('access', undefined, 'other')]);
  await grants.revokeToken(await find(issued?.value, 'access'));
  await grants.issue([draft('access')]);
  await assert.rejects(grants.issue([draft('access')]), refused);
  clock.advance('1h');
  await grants.issue([draft('access')]);
});

test('a consumer has a maximum of request tokens, allowed by a user, used or neither', async () => {
  const { clock, grants, draft, find } = openGrants();
  const [issued] = await grants.issue(repeat(max.request, draft('request')));
  const allowed = await grants.update(await find(issued?.value, 'request'), { user: 'ann', details: {} });
  assert.ok(allowed !== undefined && (await grants.consume(allowed)));
  await assert.rejects(grants.issue([draft('request')]), refused);
  clock.advance('1s');
  await assert.rejects(grants.issue([draft('request')]), refused, 'counted again');
  await grants.issue([draft('request', undefined, 'other')]);
  clock.advance('1h');
  await grants.issue([draft('request')]);
});

test('a user has a maximum of grants for a client, revoked or not, until they end', async () => {
  const { clock, grants, begin } = openGrants();
  const { grant } = await begin();
  for (let count = 1; count < max.grant; count += 1) await begin();
  await grants.revokeGrant(grant.id);
  await assert.rejects(begin(), refused);
  await begin('bob');
  await begin('ann', 'other');
  clock.advance('2h');
  await assert.rejects(begin(), refused, 'the codes have expired, but are kept with their grants');
  clock.advance('1h');
  await begin();
});

test('a client has a maximum of refresh tokens for a user, replaced ones too, until their grants end', async () => {
  const { clock, grants, draft, begin, find } = openGrants();
  const { issued } = await begin();
  const code = await find(issued[0]?.value, 'code');
  const first = await grants.exchange(code, repeat(max.refresh - 1, draft('refresh', 'ann')));
  const second = await grants.exchange(await find(first?.[0]?.value, 'refresh'), [draft('refresh', 'ann')]);
  const found = await find(second?.[0]?.value, 'refresh');
  await assert.rejects(grants.exchange(found, [draft('refresh', 'ann')]), refused);
  const unused = await find(second?.[0]?.value, 'refresh');
  assert.equal(unused.token.used, false, 'the token that was refused is not used up');
  clock.advance('2h');
  await assert.rejects(grants.exchange(unused, [draft('refresh', 'ann')]), refused, 'expired, but kept');
  clock.advance('1h');
  const { issued: later } = await begin();
  await grants.exchange(await find(later[0]?.value, 'code'), [draft('refresh', 'ann')]);
});

test('revoking an expired token makes no room for others', async () => {
  const { clock, grants, draft, find } = openGrants();
  const [issued] = await grants.issue([draft('access')]);
  const expired = await find(issued?.value, 'access');
  clock.advance('59m');
  await grants.issue(repeat(max.access - 1, draft('access')));
  clock.advance('1m');
  await grants.issue([draft('access')]);
  await grants.revokeToken(expired);
  await assert.rejects(grants.issue([draft('access')]), refused);
});
