import assert from 'node:assert/strict';
import test from 'node:test';
import { startDouble } from '../../../src/double/index.ts';

const options = {
  users: ['ann'],
  clients: { app: { secret: 'the secret of the app', grants: ['client_credentials'], users: '*' } },
  consumers: { key1: { secret: 'the secret of the consumer', callbacks: ['oob'] } },
} as const;

test('faults make requests to an OAuth endpoint fail with an error of OAuth, and later ones succeed', async () => {
  await using double = await startDouble(options);
  const ask = (): Promise<Response> =>
    double.fetch('/oauth2/token', {
      method: 'POST',
      secure: true,
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
      headers: { Authorization: `Basic ${btoa(`app:${options.clients.app.secret}`)}` },
    });
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
  const body = JSON.stringify({ error: 'invalid_grant' });
  double.faults.times(2, { path: '/oauth2/token' }, { status: 400, headers, body });
  double.faults.next({ path: '/oauth2/revoke' }, { status: 503 });
  double.faults.next({ path: '/oauth1/request_token' }, { status: 401, body: 'oauth_problem=token_used' });
  for (const _ of [1, 2]) {
    const reply = await ask();
    assert.equal(reply.status, 400);
    assert.deepEqual(await reply.json(), { error: 'invalid_grant' });
    assert.equal(reply.headers.get('content-type'), 'application/json');
    assert.equal(reply.headers.get('cache-control'), 'no-store');
  }
  assert.equal((await ask()).status, 200);
  assert.deepEqual(
    double.journal.all({ path: '/oauth2/token' }).map(({ status }) => status),
    [400, 400, 200],
  );
  assert.deepEqual(double.journal.all({ path: '/oauth2/revoke' }), []);
  assert.equal((await double.fetch('/oauth2/revoke', { method: 'POST', secure: true })).status, 503);
  const refused = await double.fetch('/oauth1/request_token', { method: 'POST', secure: true });
  assert.deepEqual([refused.status, await refused.text()], [401, 'oauth_problem=token_used']);
});

test('a client that may act for no user can use a stub within its scopes, and no resource of a user', async () => {
  const client = { secret: 'the secret of the client', scopes: ['read'] } as const;
  await using double = await startDouble({
    users: ['ann'],
    clients: { app: { ...client, grants: ['client_credentials'] } },
    consumers: { shop: { ...client, secret: 'the secret of the shop' } },
  });
  for (const method of ['GET', 'POST'] as const) double.stub({ method, path: '/orders' }, { status: 204 });
  double.stub({ path: '/users/{id}' }, { status: 204 }, { access: ['owner:id'] });
  const issued = await double.fetch('/oauth2/token', {
    method: 'POST',
    secure: true,
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
    headers: { Authorization: `Basic ${btoa(`app:${client.secret}`)}` },
  });
  const { access_token: token } = Object(await issued.json());
  const own = double.as('shop', { scheme: 'oauth1', twoLegged: true });
  const ask = async (path: string, method: string): Promise<readonly number[]> => {
    const headers = { Authorization: `Bearer ${token}` };
    const answers = [
      await double.fetch(path, { method, headers, secure: true }),
      await own.fetch(path, { method, secure: true }),
    ];
    return answers.map(({ status }) => status);
  };
  assert.deepEqual(await ask('/orders', 'GET'), [204, 204]);
  assert.deepEqual(await ask('/orders', 'POST'), [403, 403], 'the scope is read');
  assert.deepEqual(await ask('/users/ann', 'GET'), [403, 403]);
});
