import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import type { ServiceOptions } from '../../../src/index.ts';
import { createControllableService } from '../../../src/service/service.ts';
import {
  authorizeTarget,
  clients,
  codeFor,
  exchange,
  openServer,
  refresh,
  type Server,
  tokensFor,
  users,
} from '../../support/oauth/server.ts';

const left = 'https://app.example/left';
const app = { ...clients.app, scopes: ['read', 'write', 'openid'], postLogoutRedirectUris: [left] };
const ann = { secret: 'ann-secret', password: 'ann-password', claims: { email: 'ann@example.com' } };
const basic = 'ann:ann-password';

async function open(oauth2: ServiceOptions['oauth2'] = {}): Promise<Server> {
  const server = openServer({
    oauth2: { openid: true, claims: ['email'], ...oauth2 },
    clients: { ...clients, app },
    users: { ...users(), ann },
  });
  await server.service.ready;
  return server;
}

function claimsOf(jwt: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());
}

const asked = { scope: 'openid read', nonce: 'n-0S6_WzA2Mj' };

async function idTokenFor(server: Server): Promise<{ idToken: string; access: string; again: string }> {
  const answer = await exchange(server, await codeFor(server, asked));
  assert.equal(answer.status, 200, answer.text);
  return {
    idToken: answer.member('id_token'),
    access: answer.member('access_token'),
    again: answer.member('refresh_token'),
  };
}

describe('OpenID Connect', () => {
  test('is discovered, and is not there without the option', async () => {
    const server = await open();
    const path = '/.well-known/openid-configuration';
    const metadata = JSON.parse((await server.ask('GET', path)).text);
    assert.equal(metadata.issuer, 'https://localhost');
    assert.equal(metadata.jwks_uri, 'https://localhost/oauth2/jwks');
    assert.equal(metadata.userinfo_endpoint, 'https://localhost/oauth2/userinfo');
    assert.equal(metadata.end_session_endpoint, 'https://localhost/oauth2/logout');
    assert.deepEqual(metadata.scopes_supported, ['read', 'write', 'openid']);
    assert.deepEqual(metadata.id_token_signing_alg_values_supported, ['ES256']);
    assert.deepEqual(metadata.subject_types_supported, ['public']);
    const without = openServer();
    for (const each of [path, '/oauth2/userinfo', '/oauth2/jwks', '/oauth2/logout'])
      assert.equal((await without.ask('GET', each)).status, 404, each);
  });

  test('the ID token has the nonce, the time of the login and the hash of the access token', async () => {
    const server = await open();
    const { idToken, access } = await idTokenFor(server);
    const now = Math.floor(server.clock.now() / 1000);
    const half = createHash('sha256').update(access).digest().subarray(0, 16).toString('base64url');
    assert.deepEqual(claimsOf(idToken), {
      iss: 'https://localhost',
      sub: 'ann',
      aud: 'app',
      iat: now,
      exp: now + 3600,
      auth_time: now,
      nonce: asked.nonce,
      at_hash: half,
      email: 'ann@example.com',
    });
  });

  test('a refreshed ID token keeps the time of the login, and has no nonce', async () => {
    const server = await open();
    const { idToken, again } = await idTokenFor(server);
    server.clock.advance('10m');
    const refreshed = claimsOf((await refresh(server, again)).member('id_token'));
    assert.equal(refreshed['auth_time'], claimsOf(idToken)['auth_time']);
    assert.equal(refreshed['nonce'], undefined);
    assert.equal(refreshed['iat'], Number(claimsOf(idToken)['iat']) + 600);
  });

  test('without the scope openid there is no ID token, and it is no default', async () => {
    const server = await open();
    for (const scope of ['read', undefined]) {
      const answer = await exchange(server, await codeFor(server, { scope }));
      assert.deepEqual([answer.member('scope'), answer.member('id_token')], ['read', '']);
    }
  });

  test('standard scopes that do not exist are ignored, and others refused', async () => {
    const server = await open();
    const scope = 'openid profile email offline_access';
    const answer = await exchange(server, await codeFor(server, { scope }));
    assert.equal(answer.member('scope'), 'openid');
    const refused = await server.ask('GET', authorizeTarget({ scope: 'openid admin' }), { basic });
    assert.equal(refused.returned('error'), 'invalid_scope');
  });

  test('userinfo returns the claims for a token with the scope openid, and for no other', async () => {
    const server = await open();
    const { access, idToken } = await idTokenFor(server);
    for (const method of ['GET', 'POST']) {
      const answer = await server.ask(method, '/oauth2/userinfo', { bearer: access });
      assert.deepEqual(JSON.parse(answer.text), { email: 'ann@example.com', sub: 'ann' });
    }
    const other = await tokensFor(server, { scope: 'read' });
    const status = async (credentials: object): Promise<number> =>
      (await server.ask('GET', '/oauth2/userinfo', credentials)).status;
    assert.equal(await status({ bearer: other.access }), 403);
    assert.equal(await status({ bearer: idToken }), 401);
    assert.equal(await status({ basic }), 401);
    assert.equal(await status({}), 401);
  });

  test('an ID token is no access token, even of JWTs', async () => {
    const server = await open({ accessTokens: 'jwt' });
    const { access, idToken } = await idTokenFor(server);
    const path = '/users/ann/financialrecords';
    assert.equal((await server.ask('GET', path, { bearer: access })).status, 200);
    assert.equal((await server.ask('GET', path, { bearer: idToken })).status, 401);
  });

  test('prompt=none shows nothing: it redirects with a code if the user has consented, otherwise with an error', async () => {
    const server = await open();
    const target = authorizeTarget({ ...asked, prompt: 'none' });
    assert.equal((await server.ask('GET', target)).returned('error'), 'login_required');
    assert.equal((await server.ask('GET', target, { basic })).returned('error'), 'consent_required');
    await idTokenFor(server);
    const code = (await server.ask('GET', target, { basic })).returned('code');
    assert.equal(claimsOf((await exchange(server, code)).member('id_token'))['nonce'], asked.nonce);
    const wrong = await server.ask('GET', authorizeTarget({ prompt: 'none', client_id: 'x' }));
    assert.equal(wrong.status, 401);
  });

  test('a logout returns to a registered URI only, and ends the grants of the user to the client', async () => {
    const server = await open();
    const { idToken, access } = await idTokenFor(server);
    const logout = (parameters: Record<string, string>) =>
      server.ask('GET', `/oauth2/logout?${new URLSearchParams(parameters)}`);
    const other = { id_token_hint: idToken, post_logout_redirect_uri: 'https://evil.example/' };
    assert.equal((await logout(other)).status, 400);
    assert.equal((await logout({ id_token_hint: access })).status, 400);
    assert.equal((await logout({ post_logout_redirect_uri: left })).status, 400);
    assert.equal((await server.ask('GET', '/oauth2/userinfo', { bearer: access })).status, 200);
    server.clock.advance('50m');
    const done = await logout({ id_token_hint: idToken, post_logout_redirect_uri: left, state: 's' });
    assert.deepEqual([done.status, done.field('Location')], [303, `${left}?state=s`]);
    assert.equal((await server.ask('GET', '/oauth2/userinfo', { bearer: access })).status, 401);
    assert.equal((await logout({})).status, 200);
  });

  test('paths and issuer can be those of a partner', async () => {
    const issuer = 'https://tenant.example/v2';
    const server = await open({ issuer, paths: { token: '/oauth/token', jwks: '/keys' } });
    for (const path of [
      '/.well-known/openid-configuration',
      '/v2/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server/v2',
    ]) {
      const metadata = JSON.parse((await server.ask('GET', path)).text);
      assert.equal(metadata.issuer, issuer, path);
      assert.equal(metadata.token_endpoint, 'https://localhost/oauth/token');
    }
    assert.equal((await server.ask('GET', '/keys')).status, 200);
    const code = await codeFor(server, asked);
    const form = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: 'https://app.example/cb?from=here',
      code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
    };
    const answer = await server.ask('POST', '/oauth/token', { form, basic: 'app:app-secret-0123456789' });
    assert.equal(claimsOf(answer.member('id_token'))['iss'], issuer);
  });

  test('a service that does not use it has no keys', () => {
    const service = createControllableService({ clients: { app: { secret: 'a long secret of app' } } });
    assert.equal(service.oauth.keys, undefined);
    assert.equal(service.oauth.ready, undefined);
  });
});

describe('optional PKCE', () => {
  const none = { code_challenge: undefined, code_challenge_method: undefined };
  const withoutVerifier = { code_verifier: '' };

  test('lets a confidential client omit it', async () => {
    const server = await open({ pkce: 'optional' });
    const answer = await exchange(server, await codeFor(server, none), withoutVerifier);
    assert.equal(answer.status, 200, answer.text);
  });
});
