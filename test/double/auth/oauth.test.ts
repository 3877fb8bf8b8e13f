import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test from 'node:test';
import { type Double, startDouble, type TokenEvent } from '../../../src/double/index.ts';

const redirectUri = 'https://client.example/cb';
const options = {
  users: { johndoe: { secret: 's3cret', password: 'pw' }, ann: {} },
  clients: {
    app: {
      secret: 'the secret of the app',
      redirectUris: [redirectUri],
      scopes: ['read', 'write'],
      grants: ['authorization_code', 'refresh_token', 'client_credentials'],
      users: ['ann'],
    },
    reader: { secret: 'the secret of the reader', redirectUris: [redirectUri] },
  },
  consumers: {
    key1: { secret: 'the secret of the consumer', callbacks: ['oob'], scopes: ['read', 'write'] },
  },
} as const;
const article = '<article><title>Tea</title><price currency="EUR">3.50</price></article>';

async function withToken(
  double: Double,
  token: string,
  method = 'GET',
  path = '/articles',
): Promise<Response> {
  return double.fetch(path, { secure: true, method, headers: { Authorization: `Bearer ${token}` } });
}

test('issueToken returns a token without a request, which is valid for its user and scope', async () => {
  await using double = await startDouble(options);
  const issued = await double.oauth2.issueToken({ user: 'johndoe', scope: 'read' });
  assert.deepEqual([issued.tokenType, issued.expiresIn, issued.scope], ['Bearer', 3600, 'read']);
  assert.equal(issued.refreshToken, undefined);
  const { accessToken } = issued;
  assert.equal((await withToken(double, accessToken, 'GET', '/users/johndoe/financialrecords')).status, 200);
  assert.equal((await withToken(double, accessToken, 'GET', '/users/ann/financialrecords')).status, 403);
  assert.equal((await withToken(double, accessToken, 'POST')).status, 403);
  const headers = { Authorization: `Bearer ${accessToken}` };
  assert.equal((await double.fetch('/articles', { headers })).status, 200);
});

test('a token of the client itself is valid for the users of its registration', async () => {
  await using double = await startDouble(options);
  const { accessToken } = await double.oauth2.issueToken({ client: 'app' });
  assert.equal((await withToken(double, accessToken, 'GET', '/users/ann/financialrecords')).status, 200);
  assert.equal((await withToken(double, accessToken, 'GET', '/users/johndoe/financialrecords')).status, 403);
});

test('tokens expire by the clock, and expireTokens expires one token or all that match', async () => {
  await using double = await startDouble(options);
  const draw = async (user: string): Promise<string> =>
    (await double.oauth2.issueToken({ user, expiresIn: '10m' })).accessToken;
  const good = async (...tokens: string[]): Promise<boolean[]> =>
    Promise.all(tokens.map(async (token) => (await withToken(double, token)).status === 200));
  const [one, two, three] = [await draw('johndoe'), await draw('johndoe'), await draw('ann')];
  assert.deepEqual(await good(one, two, three), [true, true, true]);
  assert.equal(await double.oauth2.expireTokens(one), 1);
  assert.deepEqual(await good(one, two, three), [false, true, true]);
  assert.equal(await double.oauth2.expireTokens({ client: 'app', user: 'johndoe' }), 2);
  assert.deepEqual(await good(two, three), [false, true]);
  double.clock.advance('11m');
  assert.deepEqual(await good(three), [false]);
});

test('revoking a refresh token revokes its grant, and revoking an access token revokes only that token', async () => {
  await using double = await startDouble(options);
  const draw = () => double.oauth2.issueToken({ user: 'johndoe', refresh: true });
  const [ended, kept] = [await draw(), await draw()];
  assert.equal(await double.oauth2.revokeTokens(ended.refreshToken ?? ''), 1);
  assert.equal((await withToken(double, ended.accessToken)).status, 401);
  assert.equal((await withToken(double, kept.accessToken)).status, 200);
  assert.equal(await double.oauth2.revokeTokens(kept.accessToken), 1);
  assert.equal((await withToken(double, kept.accessToken)).status, 401);
  const form = { grant_type: 'refresh_token', refresh_token: kept.refreshToken ?? '' };
  const refreshed = await double.fetch('/oauth2/token', {
    method: 'POST',
    secure: true,
    body: new URLSearchParams(form),
    headers: { Authorization: `Basic ${btoa('app:the secret of the app')}` },
  });
  assert.equal(refreshed.status, 200);
});

test('restoring a snapshot restores its tokens, and removes later ones', async () => {
  await using double = await startDouble(options);
  const { accessToken } = await double.oauth2.issueToken({ user: 'ann' });
  const snapshot = double.snapshot();
  await double.oauth2.revokeTokens({ user: 'ann' });
  const { accessToken: later } = await double.oauth2.issueToken({ user: 'ann' });
  assert.deepEqual(
    [(await withToken(double, accessToken)).status, (await withToken(double, later)).status],
    [401, 200],
  );
  double.restore(snapshot);
  assert.deepEqual(
    [(await withToken(double, accessToken)).status, (await withToken(double, later)).status],
    [200, 401],
  );
});

test('approve returns a code without a browser, and the code can be exchanged once', async () => {
  await using double = await startDouble(options);
  const verifier = 'a-verifier-of-at-least-forty-three-characters-0123';
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: 'app',
    redirect_uri: redirectUri,
    scope: 'read write',
    state: 'xyz',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  });
  const url = `${double.secureUrl}/oauth2/authorize?${query}`;
  const back = new URL(await double.oauth2.approve(url, { user: 'johndoe' }));
  assert.equal(back.origin + back.pathname, redirectUri);
  assert.equal(back.searchParams.get('state'), 'xyz');
  assert.equal(back.searchParams.get('iss'), double.secureUrl);
  const exchange = {
    grant_type: 'authorization_code',
    code: back.searchParams.get('code') ?? '',
    redirect_uri: redirectUri,
    code_verifier: verifier,
  };
  const token = (): Promise<Response> =>
    double.fetch('/oauth2/token', {
      method: 'POST',
      secure: true,
      body: new URLSearchParams(exchange),
      headers: { Authorization: `Basic ${btoa(`app:${options.clients.app.secret}`)}` },
    });
  const events: TokenEvent[] = [];
  const stop = double.on('token-reused', (event) => events.push(event));
  const reply = await token();
  const { access_token: accessToken, scope } = Object(await reply.json());
  assert.deepEqual([reply.status, scope], [200, 'read write']);
  assert.equal((await withToken(double, accessToken)).status, 200);
  assert.equal((await token()).status, 400);
  assert.equal((await withToken(double, accessToken)).status, 401);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['token-reused'],
  );
  stop();
});

test('approve can deny the consent, and rejects a user without a password', async () => {
  await using double = await startDouble({
    ...options,
    users: { ...options.users, signer: { secret: 'only signs' } },
  });
  const challenge = createHash('sha256').update('v').digest('base64url');
  const query = `response_type=code&client_id=app&redirect_uri=${encodeURIComponent(redirectUri)}&state=s&code_challenge=${challenge}&code_challenge_method=S256`;
  const path = `/oauth2/authorize?${query}`;
  const back = new URL(await double.oauth2.approve(path, { user: 'ann', decision: 'deny' }));
  assert.equal(back.searchParams.get('error'), 'access_denied');
  await assert.rejects(
    double.oauth2.approve(path, { user: 'signer' }),
    /the password of signer is not known/,
  );
  await assert.rejects(
    double.oauth2.approve('/oauth2/authorize', { user: 'ann' }),
    /the server sent no consent page, but 400 /,
  );
});

test('as() can send wrong credentials, which are refused with 401', async () => {
  await using double = await startDouble(options);
  const status = async (asked: Parameters<Double['as']>[1]): Promise<number> =>
    (await double.as('johndoe', asked).fetch('/articles')).status;
  assert.equal(await status({ secret: 'another' }), 401);
  assert.equal(await status({ scheme: 'basic', password: 'another' }), 401);
  assert.equal(await status({ scheme: 'bearer', token: 'no-token' }), 401);
  assert.equal(await status({ scheme: 'oauth1', date: '2020-01-01' }), 401);
  assert.equal(await status({ nonce: 'n1' }), 200);
  assert.equal(await status({ nonce: 'n1' }), 401);
  assert.equal(await status({ form: 'simple' }), 200);
  assert.equal(
    (await double.as('johndoe', { form: 'simple' }).fetch('/articles/1', { method: 'PUT', body: article }))
      .status,
    401,
  );
  assert.throws(() => double.as('jondoe'), /the double has no user jondoe; did you mean "johndoe"\?/);
});

test('rotateSecret accepts the former secret during the grace period only, and burnt nonces emit events', async () => {
  await using double = await startDouble({ ...options, now: '2026-03-01T12:00:00Z' });
  const old = { secret: 's3cret' };
  const status = async (asked: Parameters<Double['as']>[1]): Promise<number> =>
    (await double.as('johndoe', asked).fetch('/articles')).status;
  const replays: string[] = [];
  double.on('nonce-replayed', ({ user }) => replays.push(user));
  const secret = double.auth.rotateSecret('johndoe', { grace: '1h' });
  assert.deepEqual([await status(old), await status({ secret }), await status({})], [200, 200, 200]);
  double.clock.advance('61m');
  assert.deepEqual([await status(old), await status({})], [401, 200]);
  double.auth.rotateSecret('johndoe', { secret: 'third' });
  assert.deepEqual([await status({ secret }), await status({ secret: 'third' })], [401, 200]);
  double.auth.burnNonces(2);
  assert.deepEqual([await status({}), await status({}), await status({})], [401, 401, 200]);
  assert.deepEqual(replays, ['johndoe', 'johndoe']);
});
