import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TokenMistake } from '../../../src/double/auth/token-mistakes.ts';
import { startDouble } from '../../../src/double/index.ts';
import { importPackage, missingPackage } from '../../support/packages.ts';

const secret = 'a long secret of the shop';
const back = 'http://localhost:3000/cb';
const start = () =>
  startDouble({
    users: ['ann'],
    clients: { shop: { secret, redirectUris: [back], scopes: ['read', 'openid'] } },
    oauth2: { openid: true, accessTokens: 'jwt', pkce: 'optional' },
  });
type Started = Awaited<ReturnType<typeof start>>;

async function login(
  double: Started,
): Promise<{ status: number; tokens: Record<string, string>; iss: string | null }> {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: 'shop',
    redirect_uri: back,
    scope: 'openid read',
    nonce: 'n-1',
  });
  const returned = new URL(
    await double.oauth2.approve(`${double.url}/oauth2/authorize?${query}`, { user: 'ann' }),
  );
  const code = returned.searchParams.get('code') ?? '';
  const response = await fetch(`${double.url}/oauth2/token`, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${Buffer.from(`shop:${secret.replaceAll(' ', '+')}`).toString('base64')}`,
    },
    body: new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: back }),
  });
  return {
    status: response.status,
    tokens: JSON.parse(await response.text()),
    iss: returned.searchParams.get('iss'),
  };
}

describe('the next response of the token endpoint is wrong', () => {
  const mistakes: readonly (readonly [TokenMistake, RegExp])[] = [
    ['expired', /"exp"/],
    ['not-yet-valid', /"nbf"/],
    ['wrong-audience', /"aud"/],
    ['wrong-issuer', /"iss"/],
    ['alg-none', /not allowed|alg/i],
    ['unknown-kid', /no applicable key/],
    ['wrong-signature', /signature verification failed/],
  ];
  for (const [name, reason] of mistakes)
    test(`${name}: jose refuses it, the double too, and the one after it is right`, {
      skip: missingPackage('jose'),
    }, async () => {
      const { createLocalJWKSet, jwtVerify } = await importPackage('jose');
      await using double = await start();
      const keys = createLocalJWKSet(await (await fetch(`${double.url}/oauth2/jwks`)).json());
      const verify = (token: string) =>
        jwtVerify(token, keys, { issuer: double.url, audience: 'shop', algorithms: ['ES256'] });
      double.oauth2.next('token', name);
      const { tokens } = await login(double);
      await assert.rejects(verify(tokens['id_token'] ?? ''), reason);
      const headers = { Authorization: `Bearer ${tokens['access_token']}` };
      assert.equal((await double.fetch('/oauth2/userinfo', { headers })).status, 401);
      const { payload } = await verify((await login(double)).tokens['id_token'] ?? '');
      assert.equal(payload.nonce, 'n-1');
    });

  test('wrong-nonce, replayed-code and mix-up', async () => {
    await using double = await start();
    double.oauth2.next('token', 'wrong-nonce');
    const [, claims = ''] = (await login(double)).tokens['id_token']?.split('.') ?? [];
    assert.equal(JSON.parse(Buffer.from(claims, 'base64url').toString()).nonce, 'another nonce');
    double.oauth2.next('token', 'replayed-code');
    const refused = await login(double);
    assert.deepEqual([refused.status, refused.tokens['error']], [400, 'invalid_grant']);
    double.oauth2.next('token', 'mix-up');
    assert.equal((await login(double)).iss, 'https://another.example');
    assert.equal((await login(double)).iss, double.url);
  });

  test('a mistake waits for a response that it concerns', async () => {
    await using double = await start();
    const nonceIn = (token = ''): unknown =>
      JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).nonce;
    double.oauth2.next('token', 'wrong-nonce');
    double.oauth2.next('token', 'mix-up');
    const { accessToken } = await double.oauth2.issueToken({ user: 'ann' });
    assert.equal(nonceIn(accessToken), undefined);
    const { tokens, iss } = await login(double);
    assert.deepEqual([nonceIn(tokens['id_token']), iss], ['another nonce', 'https://another.example']);
    assert.equal(nonceIn((await login(double)).tokens['id_token']), 'n-1');
  });

  test('a mistake of signed tokens is refused by a double that signs none', async () => {
    await using double = await startDouble({ users: ['ann'], clients: { shop: { secret } } });
    assert.throws(() => double.oauth2.next('token', 'expired'), /the double signs none; start it with/);
    double.oauth2.next('token', 'wrong-token-type');
  });

  test('a reset forgets the mistakes, and unknown ones are refused', async () => {
    await using double = await start();
    double.oauth2.next('token', 'replayed-code');
    double.reset();
    assert.equal((await login(double)).status, 200);
    const { next } = double.oauth2;
    assert.throws(() => Reflect.apply(next, undefined, ['token', 'expire']), /did you mean "expired"\?/);
    assert.throws(() => Reflect.apply(next, undefined, ['code', 'expired']), RangeError);
  });

  test('another key signs after a rotation', async () => {
    await using double = await start();
    const kid = double.oauth2.rotateKey();
    const [header = ''] = (await login(double)).tokens['id_token']?.split('.') ?? [];
    assert.equal(JSON.parse(Buffer.from(header, 'base64url').toString()).kid, kid);
    await using opaque = await startDouble({});
    assert.throws(() => opaque.oauth2.rotateKey(), /the double signs no tokens/);
  });
});
