import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { userFile } from '../../src/accounts/users.ts';
import { done, type LiveServer, startOn, usersFile } from '../support/cli/oauth.ts';
import {
  accessToken,
  approve,
  askAccessToken,
  ask as askSigned,
  callback as ready,
  requestToken,
} from '../support/oauth/consumer.ts';
import {
  callback,
  codeFor,
  exchange,
  openServer,
  refresh,
  start,
  tokensFor,
} from '../support/oauth/server.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const records = '/users/ann/financialrecords';
const scopes = ['--scope', 'read', '--scope', 'write'];

async function registerClient(data: string): Promise<void> {
  const args = ['client', 'add', 'app', '--redirect-uri', callback, ...scopes];
  await done(
    [...args, '--grant', 'authorization_code', '--grant', 'refresh_token', '--data', data, '--secret-stdin'],
    'app-secret-0123456789\n',
  );
}

async function registerConsumer(data: string): Promise<void> {
  const args = [
    'consumer',
    'add',
    'printer',
    '--callback',
    ready,
    ...scopes,
    '--data',
    data,
    '--secret-stdin',
  ];
  await done(args, 'printer-secret-0123456789\n');
}

async function opened(): Promise<{ data: string; server: LiveServer }> {
  const data = join(temporaryDirectory(), 'data');
  await registerClient(data);
  await registerConsumer(data);
  const server = await startOn(data, usersFile());
  after(() => server.end('SIGTERM'));
  return { data, server };
}

test('a client that was removed and added again has none of the previous tokens', async () => {
  const { data, server } = await opened();
  const tokens = await tokensFor(server);
  const code = await codeFor(server);
  await done(['client', 'remove', 'app', '--data', data]);
  await registerClient(data);
  assert.equal((await server.ask('GET', records, { bearer: tokens.access })).status, 401);
  assert.equal((await refresh(server, tokens.refresh)).member('error'), 'invalid_grant');
  assert.equal((await exchange(server, code)).member('error'), 'invalid_grant');
  const anew = await tokensFor(server);
  assert.equal((await server.ask('GET', records, { bearer: anew.access })).status, 200);
});

test('a consumer that was removed and added again has none of the previous tokens', async () => {
  const { data, server } = await opened();
  const token = await accessToken(server);
  const pending = await requestToken(server);
  const verifier = await approve(server, pending.token);
  await done(['consumer', 'remove', 'printer', '--data', data]);
  await registerConsumer(data);
  assert.equal((await askSigned(server, { method: 'GET', target: records, token })).status, 401);
  assert.equal((await askAccessToken(server, pending, verifier)).status, 401);
  const anew = await accessToken(server);
  assert.equal((await askSigned(server, { method: 'GET', target: records, token: anew })).status, 200);
});

test('a user with the name of a removed user is not reachable with the tokens of that user', async () => {
  const server = openServer();
  const tokens = await tokensFor(server);
  server.service.replaceUsers({});
  server.clock.advance(1000);
  const credentials = { secrets: [{ secret: 'another' }], password: { plain: 'ann-password' } };
  server.service.replaceUsers({ ann: { ...credentials, since: start + 1000 } });
  assert.equal((await server.ask('GET', records, { bearer: tokens.access })).status, 401);
  assert.equal((await refresh(server, tokens.refresh)).member('error'), 'invalid_grant');
  assert.equal((await server.ask('GET', records, { bearer: (await tokensFor(server)).access })).status, 200);
});

test('the command stores the time when a user was added, and rotating the secret does not change it', async () => {
  const data = join(temporaryDirectory(), 'data');
  await done(['user', 'add', 'eve', '--data', data]);
  const readSince = async () => (await userFile.read(data)).entries.get('eve')?.since;
  const since = await readSince();
  assert.ok(since !== undefined);
  await done(['user', 'rotate', 'eve', '--data', data]);
  await done(['user', 'disable', 'eve', '--data', data]);
  await done(['user', 'enable', 'eve', '--data', data]);
  assert.equal(await readSince(), since);
});
