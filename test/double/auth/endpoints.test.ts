import assert from 'node:assert/strict';
import test from 'node:test';
import { startDouble } from '../../../src/double/index.ts';

const options = {
  users: ['ann'],
  clients: { app: { secret: 'the secret of the app', grants: ['client_credentials'], users: '*' } },
  consumers: { key1: { secret: 'the secret of the consumer', callbacks: ['oob'] } },
} as const;

test('failNext makes the given number of requests to an OAuth 2.0 endpoint fail, and later ones succeed', async () => {
  await using double = await startDouble(options);
  const ask = (): Promise<Response> =>
    double.fetch('/oauth2/token', {
      method: 'POST',
      secure: true,
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
      headers: { Authorization: `Basic ${btoa(`app:${options.clients.app.secret}`)}` },
    });
  double.oauth2.failNext('token', { status: 400, error: 'invalid_grant', times: 2 });
  double.oauth2.failNext('revoke');
  for (const _ of [1, 2]) {
    const reply = await ask();
    assert.equal(reply.status, 400);
    assert.deepEqual(await reply.json(), { error: 'invalid_grant' });
    assert.equal(reply.headers.get('content-type'), 'application/json');
  }
  assert.equal((await ask()).status, 200);
  assert.deepEqual(
    double.journal.all({ path: '/oauth2/token' }).map(({ status }) => status),
    [400, 400, 200],
  );
  assert.deepEqual(double.journal.all({ path: '/oauth2/revoke' }), []);
  assert.equal((await double.fetch('/oauth2/revoke', { method: 'POST', secure: true })).status, 503);
});

test('failNext for an OAuth 1.0a endpoint returns oauth_problem in a form', async () => {
  await using double = await startDouble(options);
  double.oauth1.failNext('requestToken', { status: 401, error: 'consumer_key_refused' });
  const reply = await double.fetch('/oauth1/request_token', { method: 'POST', secure: true });
  assert.deepEqual([reply.status, await reply.text()], [401, 'oauth_problem=consumer_key_refused']);
  assert.equal(double.journal.all({ path: '/oauth1/request_token' }).length, 1);
});

test('failNext rejects an unknown endpoint with a suggestion', async () => {
  await using double = await startDouble(options);
  const failNext: (endpoint: never) => unknown = double.oauth2.failNext;
  assert.throws(
    () => Reflect.apply(failNext, undefined, ['tokens']),
    /"tokens" is not an endpoint; did you mean "token"\?/,
  );
});
