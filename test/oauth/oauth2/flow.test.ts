import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  authorizeTarget,
  callback,
  codeFor,
  decide,
  exchange,
  openServer,
  refresh,
  ticketFor,
  tokensFor,
  verifier,
} from '../../support/oauth/server.ts';

const records = '/users/ann/financialrecords';
const article = '<article><title>Tea</title><price currency="EUR">9.99</price></article>';
const app = 'app:app-secret-0123456789';
const robot = 'robot:robot-secret-0123456789';

test('a user allows a client, and the client reads on behalf of the user', async () => {
  const server = openServer();
  const reply = await exchange(server, await codeFor(server));
  assert.equal(reply.status, 200);
  assert.equal(reply.field('Content-Type'), 'application/json');
  assert.equal(reply.field('Cache-Control'), 'no-store');
  assert.equal(reply.field('Pragma'), 'no-cache');
  const { access_token: access, refresh_token: refreshToken, ...rest } = JSON.parse(reply.text);
  assert.match(access, /^[A-Za-z0-9_-]{43}$/);
  assert.match(refreshToken, /^[A-Za-z0-9_-]{43}$/);
  assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 3600, scope: 'read write' });
  const read = await server.ask('GET', records, { bearer: access });
  assert.equal(read.status, 200);
  assert.equal(read.field('Cache-Control'), 'private, no-cache');
});

test('the redirect has code, state and issuer, added to the query of the redirect URI', async () => {
  const server = openServer();
  const reply = await decide(server, await ticketFor(server));
  assert.equal(reply.status, 303);
  assert.match(
    reply.field('Location'),
    /^https:\/\/app\.example\/cb\?from=here&code=[A-Za-z0-9_-]{43}&state=/,
  );
  assert.equal(reply.returned('from'), 'here');
  assert.equal(reply.returned('state'), 'a state & more');
  assert.equal(reply.returned('iss'), 'https://localhost');
  assert.equal(reply.field('Cache-Control'), 'no-store');
  assert.equal(reply.field('Referrer-Policy'), 'no-referrer');
});

test('a redirect URI without a query gets one, and no state is made up', async () => {
  const server = openServer();
  const redirect_uri = 'https://app.example/other';
  const reply = await decide(server, await ticketFor(server, { redirect_uri, state: undefined }));
  assert.match(
    reply.field('Location'),
    /^https:\/\/app\.example\/other\?code=[^&]+&iss=https%3A%2F%2Flocalhost$/,
  );
});

test('all parameters of a decision except ticket and decision are ignored', async () => {
  const server = openServer();
  const form = {
    consent_ticket: await ticketFor(server, { scope: 'read' }),
    decision: 'allow',
    client_id: 'rival',
    redirect_uri: 'https://rival.example/',
    scope: 'read write',
    state: 'other',
  };
  const reply = await server.ask('POST', '/oauth2/authorize', { basic: 'ann:ann-password', form });
  assert.ok(reply.field('Location').startsWith(callback));
  assert.equal(reply.returned('state'), 'a state & more');
  assert.equal((await exchange(server, reply.returned('code'))).member('scope'), 'read');
});

test('a client that accepts JSON gets the consent request as JSON', async () => {
  const { ask } = openServer();
  const shown = await ask('GET', authorizeTarget(), {
    basic: 'ann:ann-password',
    fields: [['Accept', 'application/json']],
  });
  const { consent_ticket: ticket, ...rest } = JSON.parse(shown.text);
  assert.match(ticket, /^[A-Za-z0-9_-]{43}$/);
  assert.deepEqual(rest, { client_id: 'app', scope: 'read write', expires_in: 300 });
  assert.equal(shown.field('Cache-Control'), 'no-store');
});

test('an absent or empty scope defaults to read', async () => {
  const server = openServer();
  for (const scope of [undefined, ''])
    assert.equal((await exchange(server, await codeFor(server, { scope }))).member('scope'), 'read');
});

test('unknown parameters are ignored at authorization and exchange', async () => {
  const server = openServer();
  const reply = await exchange(server, await codeFor(server, { nonce: '1', prompt: 'login' }), {
    resource: 'x',
  });
  assert.equal(reply.status, 200);
});

test('a public client authenticates with PKCE alone, and gets no refresh token without being registered for it', async () => {
  const server = openServer();
  const redirect_uri = 'app.phone:/cb';
  const code = await codeFor(server, { client_id: 'phone', redirect_uri });
  const reply = await exchange(server, code, { client_id: 'phone', redirect_uri }, '');
  assert.equal(reply.status, 200);
  assert.equal(reply.member('refresh_token'), '');
  assert.equal((await server.ask('GET', records, { bearer: reply.member('access_token') })).status, 200);
});

test('a token is valid only for its user and its scope', async () => {
  const server = openServer();
  const { access } = await tokensFor(server);
  const fields = [['Content-Type', 'application/xml']] as const;
  const sent = { content: article, fields };
  assert.equal((await server.ask('POST', '/articles', { bearer: access, ...sent })).status, 201);
  assert.equal((await server.ask('GET', '/users/bob/financialrecords', { bearer: access })).status, 403);
  const reader = await tokensFor(server, { scope: 'read' });
  assert.equal((await server.ask('POST', '/articles', { bearer: reader.access, ...sent })).status, 403);
  const allowed = async (bearer: string): Promise<string> =>
    (await server.ask('OPTIONS', '/articles', { bearer })).field('Allow');
  assert.equal(await allowed(access), 'HEAD, GET, POST, OPTIONS');
  assert.equal(await allowed(reader.access), 'HEAD, GET, OPTIONS');
});

test('a refresh token returns new tokens, and the old access token stays valid', async () => {
  const server = openServer();
  const first = await tokensFor(server);
  const reply = await refresh(server, first.refresh);
  assert.equal(reply.status, 200);
  assert.equal(reply.member('scope'), 'read write');
  assert.notEqual(reply.member('refresh_token'), first.refresh);
  for (const bearer of [first.access, reply.member('access_token')])
    assert.equal((await server.ask('GET', records, { bearer })).status, 200);
});

test('a refresh may narrow the scope, and the next one returns the full scope again', async () => {
  const server = openServer();
  const { refresh: token } = await tokensFor(server);
  const narrow = await refresh(server, token, { scope: 'read' });
  assert.equal(narrow.member('scope'), 'read');
  assert.equal((await refresh(server, narrow.member('refresh_token'))).member('scope'), 'read write');
});

test('refreshing ends 30 days after the consent, and the last tokens expire with it', async () => {
  const server = openServer();
  let { refresh: token } = await tokensFor(server);
  const hour = 3_600_000;
  for (const hours of [13 * 24, 13 * 24, 4 * 24 - 0.5]) {
    server.clock.advance(hours * hour);
    const reply = await refresh(server, token);
    assert.equal(reply.status, 200);
    token = reply.member('refresh_token');
    assert.equal(reply.member('expires_in'), hours < 100 ? '1800' : '3600');
  }
  server.clock.advance(0.5 * hour);
  assert.equal((await refresh(server, token)).member('error'), 'invalid_grant');
});

test('a client with client_credentials can act only for the users that it is registered for', async () => {
  const server = openServer();
  const form = { grant_type: 'client_credentials', scope: 'read' };
  const reply = await server.ask('POST', '/oauth2/token', { basic: robot, form });
  const { access_token: bearer, ...rest } = JSON.parse(reply.text);
  assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 3600, scope: 'read' });
  assert.equal((await server.ask('GET', records, { bearer })).status, 200);
  assert.equal((await server.ask('GET', '/users/bob/financialrecords', { bearer })).status, 403);
  assert.equal((await server.ask('GET', '/users/robot/financialrecords', { bearer })).status, 403);
});

test('reducing the scopes of a client reduces those of its tokens', async () => {
  const server = openServer();
  const { access } = await tokensFor(server);
  server.service.replaceClients({ app: { secret: 'app-secret-0123456789', scopes: ['write'] } });
  assert.equal((await server.ask('GET', records, { bearer: access })).status, 403);
  const told = await server.ask('POST', '/oauth2/introspect', { basic: app, form: { token: access } });
  assert.equal(told.member('scope'), 'write');
});

test('the token response reports the scope of a client that was reduced in the meantime', async () => {
  const server = openServer();
  const code = await codeFor(server);
  const less = { secret: 'app-secret-0123456789', redirectUris: [callback], scopes: ['read'] } as const;
  server.service.replaceClients({ app: less });
  const reply = await exchange(server, code);
  assert.equal(reply.member('scope'), 'read');
  assert.equal((await refresh(server, reply.member('refresh_token'))).member('scope'), 'read');
});

test('a client cannot ask for more than it is registered for', async () => {
  const redirectUris = [callback];
  const { ask } = openServer({
    clients: {
      reader: { redirectUris, secret: 'reader-secret-0123456789' },
      writer: { redirectUris, secret: 'writer-secret-0123456789', scopes: ['write'] },
      machine: { redirectUris, secret: 'machine-secret-0123456789', grants: ['client_credentials'] },
    },
  });
  for (const [client_id, scope, error] of [
    ['reader', 'read write', 'invalid_scope'],
    ['writer', undefined, 'invalid_scope'],
    ['machine', 'read', 'unauthorized_client'],
  ] as const) {
    const reply = await ask('GET', authorizeTarget({ client_id, scope }), { basic: 'ann:ann-password' });
    assert.deepEqual([reply.status, reply.returned('error')], [303, error]);
    assert.equal(reply.returned('state'), 'a state & more');
  }
});

test('a decision does not redirect to a redirect URI that was removed in the meantime', async () => {
  const server = openServer();
  const ticket = await ticketFor(server);
  const secret = 'app-secret-0123456789';
  server.service.replaceClients({ app: { secret, redirectUris: ['https://app.example/other'] } });
  const reply = await decide(server, ticket);
  assert.deepEqual([reply.status, reply.field('Location')], [400, '']);
});

test('client_credentials with more than the registered scopes are rejected with invalid_scope', async () => {
  const secret = 'reader-secret-0123456789';
  const server = openServer({
    clients: { reader: { secret, grants: ['client_credentials'], scopes: ['read'] } },
  });
  const form = { grant_type: 'client_credentials', scope: 'read write' };
  const reply = await server.ask('POST', '/oauth2/token', { basic: `reader:${secret}`, form });
  assert.deepEqual([reply.status, reply.member('error')], [400, 'invalid_scope']);
});

test('the lifetimes are options', async () => {
  const server = openServer({ lifetimes: { access: 10, code: '5s' } });
  const code = await codeFor(server);
  server.clock.advance(4_999);
  const reply = await exchange(server, code);
  assert.equal(reply.member('expires_in'), '10');
  server.clock.advance(10_000);
  assert.equal((await server.ask('GET', records, { bearer: reply.member('access_token') })).status, 401);
});

test('the metadata and the Bearer challenge require a registered client', async () => {
  const server = openServer({ clients: {} });
  const metadata = '/.well-known/oauth-authorization-server';
  assert.equal((await server.ask('GET', metadata)).status, 404);
  assert.equal(
    (await server.ask('GET', records, { bearer: 'x' })).field('WWW-Authenticate').includes('Bearer'),
    false,
  );
  server.service.replaceClients({ app: { secret: verifier } });
  assert.equal((await server.ask('GET', metadata)).status, 200);
  assert.match(
    (await server.ask('GET', records)).field('WWW-Authenticate'),
    /Bearer realm="Countersign"( \||$)/,
  );
  assert.doesNotMatch(
    (await server.ask('GET', records, { secure: false })).field('WWW-Authenticate'),
    /Bearer/,
  );
});

test('the metadata list all endpoints, grants and methods', async () => {
  const { ask } = openServer({ publicUrl: 'https://api.example' });
  const reply = await ask('GET', '/.well-known/oauth-authorization-server');
  assert.equal(reply.field('Content-Type'), 'application/json');
  assert.deepEqual(JSON.parse(reply.text), {
    issuer: 'https://api.example',
    authorization_endpoint: 'https://api.example/oauth2/authorize',
    token_endpoint: 'https://api.example/oauth2/token',
    revocation_endpoint: 'https://api.example/oauth2/revoke',
    introspection_endpoint: 'https://api.example/oauth2/introspect',
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    scopes_supported: ['read', 'write'],
    authorization_response_iss_parameter_supported: true,
  });
});

test('an unknown Host does not change the issuer', async () => {
  const { ask } = openServer();
  const reply = await ask('GET', '/.well-known/oauth-authorization-server', {
    fields: [['Host', 'evil.example']],
  });
  assert.equal(reply.member('issuer'), 'https://localhost');
});
