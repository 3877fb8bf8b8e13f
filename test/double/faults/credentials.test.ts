import assert from 'node:assert/strict';
import test from 'node:test';
import { signRequest } from '../../../src/client/index.ts';
import { type Double, startDouble } from '../../../src/double/index.ts';
import { get, rawExchange } from '../../support/double/raw-exchange.ts';

const users = { johndoe: { secret: 'a-secret', password: 'a-password' } };
const now = '2026-03-01T12:00:00Z';

/** A request that is good by itself, over a socket. */
function ask(double: Double, nonce: string): Promise<Response> {
  const url = `${double.url}/articles`;
  const headers = signRequest({
    method: 'GET',
    url,
    user: 'johndoe',
    secret: 'a-secret',
    nonce,
    date: '01 mar 2026 12:00:00',
  });
  return fetch(url, { headers });
}

function answered(double: Double): (string | number | undefined)[] {
  const entry = double.journal.last();
  return [entry?.response?.status, entry?.problem?.type, entry?.auth?.failedAt];
}

test('after a rotatedSecret fault, the former secret is refused', async () => {
  await using double = await startDouble({ users, now });
  await ask(double, 'a');
  assert.deepEqual(answered(double), [200, undefined, undefined]);
  double.faults.next({ user: 'johndoe' }, { rotatedSecret: true });
  for (const nonce of ['b', 'c']) {
    await ask(double, nonce);
    assert.deepEqual(answered(double), [401, 'credentials-refused', 'digest']);
  }
  assert.notEqual(double.auth.credentials('johndoe').secret, 'a-secret');
  assert.equal((await double.as('johndoe').fetch('/articles')).status, 200);
  double.reset();
  assert.equal((await ask(double, 'd')).status, 200);
});

test('a rotatedSecret fault changes nothing for an anonymous request or an unknown user', async () => {
  await using double = await startDouble({ users, now });
  double.faults.always({}, { rotatedSecret: true });
  const anonymous = await double.fetch('/articles');
  const stranger = await double.fetch('/articles', {
    headers: { authentication: `hmac stranger:${'A'.repeat(43)}=` },
  });
  assert.deepEqual([anonymous.status, stranger.status], [200, 401]);
  assert.equal(double.auth.credentials('johndoe').secret, 'a-secret');
});

test('a nonceSeen fault applies to the planned number of requests, which are refused with nonce-replayed', async () => {
  await using double = await startDouble({ users, now });
  double.faults.times(2, { user: 'johndoe' }, { nonceSeen: true });
  for (const nonce of ['a', 'b']) {
    await ask(double, nonce);
    assert.deepEqual(answered(double), [401, 'nonce-replayed', 'nonce']);
  }
  await ask(double, 'c');
  assert.deepEqual(answered(double), [200, undefined, undefined]);
});

test('a nonceSeen fault for one request applies to exactly one of several concurrent requests', async () => {
  await using double = await startDouble({ users, now });
  double.faults.next({}, { nonceSeen: true });
  const replies = await Promise.all(Array.from({ length: 8 }, (_, at) => ask(double, `n${at}`)));
  assert.equal(replies.filter(({ status }) => status === 401).length, 1);
});

test('a skewedDate fault changes the clock and Date of one request only', async () => {
  await using double = await startDouble({ users, now });
  double.faults.next({}, { skewedDate: 3_600_000 });
  const [late, good] = await Promise.all([ask(double, 'a'), ask(double, 'b')]);
  const [refused, taken] = late.status === 401 ? [late, good] : [good, late];
  assert.equal(refused.headers.get('date'), 'Sun, 01 Mar 2026 13:00:00 GMT');
  assert.deepEqual([taken.status, taken.headers.get('date')], [200, 'Sun, 01 Mar 2026 12:00:00 GMT']);
  const entry = double.journal.last({ status: 401 });
  assert.deepEqual([entry?.problem?.type, entry?.auth?.failedAt], ['date-out-of-window', 'date']);
  const raw = await rawExchange(double.url, get('/articles'));
  assert.match(raw.head, /\r\nDate: Sun, 01 Mar 2026 12:00:00 GMT\r\n/);
});

test('an expiredToken fault expires the token of the request, and no other token', async () => {
  const clients = {
    app: { secret: 'app-secret', redirectUris: ['https://client.example/cb'], scopes: ['read'] },
  } as const;
  await using double = await startDouble({ users, clients });
  const { accessToken } = await double.oauth2.issueToken({ client: 'app', user: 'johndoe' });
  const other = await double.oauth2.issueToken({ client: 'app', user: 'johndoe' });
  const bearing = async (token: string, scheme = 'Bearer'): Promise<number> => {
    const headers = { authorization: `${scheme} ${token}` };
    return (await double.fetch('/articles', { headers, secure: true })).status;
  };
  assert.equal(await bearing(accessToken), 200);
  double.faults.next({}, { expiredToken: true });
  assert.deepEqual([await bearing(accessToken), await bearing(accessToken)], [401, 401]);
  assert.equal(await bearing(other.accessToken), 200);
  double.faults.next({}, { expiredToken: true });
  await bearing(other.accessToken, 'DPoP');
  assert.equal(await bearing(other.accessToken), 401, 'a token that is bound to a key');
});
