import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AccessLogEntry, createMemoryStore } from '../../../src/index.ts';
import {
  codeFor,
  decide,
  exchange,
  openServer,
  refresh,
  type Server,
  start,
  ticketFor,
  tokensFor,
} from '../../support/oauth/server.ts';

const records = '/users/ann/financialrecords';
const app = 'app:app-secret-0123456789';
const rival = 'rival:rival-client-secret-0123456789';
const robot = 'robot:robot-secret-0123456789';

function introspect(
  { ask }: Server,
  token: string,
  basic = app,
): Promise<{ text: string; field(name: string): string }> {
  return ask('POST', '/oauth2/introspect', { basic, form: { token } });
}

async function works({ ask }: Server, bearer: string): Promise<boolean> {
  return (await ask('GET', records, { bearer })).status === 200;
}

test('revoking an access token ends only this token', async () => {
  const server = openServer();
  const tokens = await tokensFor(server);
  const form = { token: tokens.access, token_type_hint: 'refresh_token' };
  const reply = await server.ask('POST', '/oauth2/revoke', { basic: app, form });
  assert.deepEqual([reply.status, reply.text, reply.field('Content-Type')], [200, '{}', 'application/json']);
  assert.equal(await works(server, tokens.access), false);
  assert.equal((await refresh(server, tokens.refresh)).status, 200);
});

test('revoking a refresh token ends all tokens of the consent', async () => {
  const server = openServer();
  const tokens = await tokensFor(server);
  const reply = await server.ask('POST', '/oauth2/revoke', { basic: app, form: { token: tokens.refresh } });
  assert.equal(reply.text, '{}');
  assert.equal(await works(server, tokens.access), false);
  assert.equal((await refresh(server, tokens.refresh)).member('error'), 'invalid_grant');
});

test('revoking an unknown token returns 200, like revoking a known one', async () => {
  const server = openServer();
  const reply = await server.ask('POST', '/oauth2/revoke', { basic: app, form: { token: 'unknown' } });
  assert.deepEqual([reply.status, reply.text], [200, '{}']);
});

test('a token of another client cannot be revoked', async () => {
  const server = openServer();
  const tokens = await tokensFor(server);
  for (const token of [tokens.access, tokens.refresh]) {
    const reply = await server.ask('POST', '/oauth2/revoke', { basic: rival, form: { token } });
    assert.deepEqual([reply.status, reply.member('error')], [400, 'invalid_grant']);
  }
  assert.equal(await works(server, tokens.access), true);
  assert.equal((await refresh(server, tokens.refresh)).status, 200);
});

test('introspection returns the properties of the tokens of a client', async () => {
  const server = openServer();
  const tokens = await tokensFor(server);
  const told = {
    active: true,
    client_id: 'app',
    username: 'ann',
    sub: 'ann',
    scope: 'read write',
    iat: start / 1000,
    iss: 'https://localhost',
  };
  const access = await introspect(server, tokens.access);
  assert.deepEqual(JSON.parse(access.text), { ...told, exp: start / 1000 + 3600, token_type: 'Bearer' });
  assert.equal(access.field('Cache-Control'), 'no-store');
  const refreshed = await introspect(server, tokens.refresh);
  assert.deepEqual(JSON.parse(refreshed.text), { ...told, exp: start / 1000 + 14 * 86_400 });
});

test('a client is the subject of its client_credentials token, which has no username', async () => {
  const server = openServer();
  const form = { grant_type: 'client_credentials', scope: 'write' };
  const { member } = await server.ask('POST', '/oauth2/token', { basic: robot, form });
  const told = JSON.parse((await introspect(server, member('access_token'), robot)).text);
  assert.deepEqual([told.sub, told.username, told.scope], ['robot', undefined, 'write']);
});

test('introspection reports every other token as inactive, without further properties', async () => {
  const server = openServer();
  const tokens = await tokensFor(server);
  const code = await codeFor(server);
  const spent = await tokensFor(server);
  await refresh(server, spent.refresh);
  for (const [token, basic] of [
    ['unknown', app],
    [code, app],
    [spent.refresh, app],
    [tokens.access, rival],
    [tokens.refresh, rival],
  ] as const)
    assert.equal((await introspect(server, token, basic)).text, '{"active":false}');
  server.clock.advance(3_600_000);
  assert.equal((await introspect(server, tokens.access)).text, '{"active":false}');
  server.service.replaceUsers({});
  assert.equal((await introspect(server, tokens.refresh)).text, '{"active":false}');
});

test('no code, ticket, token, secret or password is in a log, a response or the store', async () => {
  const entries: AccessLogEntry[] = [];
  const faults: unknown[] = [];
  const store = createMemoryStore({ storeId: 'm' });
  const server = openServer({
    store,
    onRequest: (entry) => entries.push(entry),
    onError: (error) => faults.push(error),
    explain: true,
  });
  const ticket = await ticketFor(server);
  const code = (await decide(server, ticket)).returned('code');
  const first = await exchange(server, code);
  const tokens = [first.member('access_token'), first.member('refresh_token')];
  const refusals = [await exchange(server, code), await decide(server, ticket)];
  for (const token of tokens) {
    refusals.push(await server.ask('GET', `${records}?access_token=${token}`, { bearer: token }));
    refusals.push(await refresh(server, token));
    refusals.push(await server.ask('POST', `/oauth2/revoke?token=${token}`, { basic: app, form: { token } }));
  }
  const entriesKept = await Promise.all(
    ['oauth:tokens', 'oauth:grants'].map((name) => store.list(name, 0, 1000)),
  );
  const said = JSON.stringify([entries, faults, entriesKept, refusals.map(({ text }) => text)]);
  assert.equal(faults.length, 0);
  assert.ok(entries.length >= 10 && entriesKept.every((page) => page.entries.length > 0));
  for (const secret of [ticket, code, ...tokens, 'app-secret-0123456789', 'ann-password'])
    assert.ok(!said.includes(secret));
});
