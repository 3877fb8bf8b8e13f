// Credentials that require TLS, at the origin over plain HTTP.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Double, type DoubleOptions, startDouble } from '../../src/double/index.ts';

const secret = 'a-secret-of-ann';
const basic = (user: string, password: string): string => `Basic ${btoa(`${user}:${password}`)}`;
const options = {
  users: { ann: { secret, password: 'a-password' } },
  clients: { app: { secret: 'the-secret-of-app', grants: ['client_credentials'] } },
  schemes: {
    key: { secret: { field: 'X-Api-Key' } },
    link: { secret: { query: 'key' } },
    session: { secret: { cookie: 'sid' } },
    token: { secret: { authorization: 'Token' } },
  },
} as const satisfies DoubleOptions;

const credentials: Readonly<
  Record<string, (double: Double) => Promise<{ path?: string; headers?: Record<string, string> }>>
> = {
  'an API key in a field': async () => ({ headers: { 'X-Api-Key': secret } }),
  'an API key in the query': async () => ({ path: `/x?key=${secret}` }),
  'an API key in a cookie': async () => ({ headers: { Cookie: `sid=${secret}` } }),
  'an API key in Authorization': async () => ({ headers: { Authorization: `Token ${secret}` } }),
  Basic: async () => ({ headers: { Authorization: basic('ann', 'a-password') } }),
  'a bearer token': async ({ url }) => {
    const response = await fetch(`${url}/oauth2/token`, {
      method: 'POST',
      headers: { Authorization: basic('app', 'the-secret-of-app') },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    const { access_token } = (await response.json()) as { access_token?: string };
    return { headers: { Authorization: `Bearer ${access_token}` } };
  },
};

async function send(double: Double, which: string): Promise<Response> {
  double.stub({ path: '/x' }, { status: 204 });
  const { path = '/x', ...init } = (await credentials[which]?.(double)) ?? {};
  return await fetch(double.url + path, init);
}

for (const which of Object.keys(credentials))
  describe(`${which} over plain HTTP`, () => {
    test('is accepted, because TLS is assumed', async () => {
      await using double = await startDouble({ ...options, https: false });
      assert.equal((await send(double, which)).status, 204);
      assert.equal(double.journal.last().request?.secure, 'assumed');
    });

    test('is refused if TLS is required', async () => {
      await using double = await startDouble({ ...options, tls: 'required' });
      assert.equal((await send(double, which)).status, 403);
      assert.equal(double.journal.last().problem?.type, 'tls-required');
      assert.equal(double.journal.last().request?.secure, false);
    });
  });

test('wrong credentials are refused, and each challenge is offered', async () => {
  await using double = await startDouble({ ...options, https: false });
  double.stub({ path: '/x' }, { status: 204 });
  const response = await fetch(`${double.url}/x`, { headers: { 'X-Api-Key': 'wrong' } });
  assert.equal(response.status, 401);
  for (const name of ['Basic', 'Bearer', 'hmac', 'key'])
    assert.match(response.headers.get('WWW-Authenticate') ?? '', new RegExp(`\\b${name} realm=`, 'i'));
});

test('a URL that is signed has the scheme with which it was sent', async () => {
  const declared = {
    message: '{url}',
    signature: { field: 'X-Signature' },
    user: { field: 'X-Api-User' },
  } as const;
  await using double = await startDouble({ users: options.users, https: false, schemes: { declared } });
  double.stub({ path: '/x' }, { status: 204 });
  const signed = await double.as('ann', { scheme: 'declared' }).signRequest({ url: `${double.url}/x` });
  assert.equal((await fetch(`${double.url}/x`, { headers: signed })).status, 204);
});
