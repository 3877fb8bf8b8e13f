import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { call } from '../../support/cli/command.ts';
import { done, register, startOn, startProcessOn, usersFile } from '../../support/cli/oauth.ts';
import {
  accessToken,
  approve,
  askAccessToken,
  ask as askSigned,
  callback as consumerCallback,
  given,
  requestToken,
  sign,
} from '../../support/oauth/consumer.ts';
import { codeFor, exchange, refresh, tokensFor } from '../../support/oauth/server.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const records = '/users/ann/financialrecords';
const scopes = ['--scope', 'read', '--scope', 'write'];

/** A directory with the client `app` and the consumer `printer`. */
async function registered(): Promise<{ data: string; config: string }> {
  const data = join(temporaryDirectory(), 'data');
  await register('--data', data);
  return { data, config: usersFile() };
}

for (const [how, durability] of [
  ['SIGTERM', 'fsync'],
  ['SIGKILL', 'fsync'],
  ['SIGKILL', 'os'],
] as const) {
  test(`after ${how} with ${durability}, tokens are valid, and used codes, tokens and nonces are rejected`, async () => {
    const { data, config } = await registered();
    const args = ['--durability', durability];
    const before = await startProcessOn(data, config, ...args);
    const code = await codeFor(before);
    const first = await exchange(before, code);
    assert.equal(first.status, 200, first.text);
    const rotated = await tokensFor(before);
    const renewed = await refresh(before, rotated.refresh);
    const token = await accessToken(before);
    const pending = await requestToken(before);
    const verifier = await approve(before, pending.token);
    const replay = sign(before, { method: 'GET', target: records, token });
    assert.equal((await before.ask(replay.method, replay.target, replay.sending)).status, 200);
    await (how === 'SIGKILL' ? before.kill() : before.end());

    const after = await startOn(data, config, ...args);
    const reads = async (bearer: string): Promise<number> =>
      (await after.ask('GET', records, { bearer })).status;
    assert.equal(await reads(first.member('access_token')), 200);
    assert.equal(await reads(renewed.member('access_token')), 200);
    assert.equal((await askSigned(after, { method: 'GET', target: records, token })).status, 200);
    const replayed = await after.ask(replay.method, replay.target, replay.sending);
    assert.equal(replayed.status, 401);
    assert.match(replayed.field('WWW-Authenticate'), /oauth_problem="nonce_used"/);
    const exchanged = await askAccessToken(after, pending, verifier);
    assert.equal(exchanged.status, 200, exchanged.text);
    const twice = await askAccessToken(after, pending, verifier);
    assert.equal(twice.status, 401);

    const again = await exchange(after, code);
    assert.deepEqual([again.status, again.member('error')], [400, 'invalid_grant']);
    assert.equal(await reads(first.member('access_token')), 401, 'its first use ends too');
    const older = await refresh(after, rotated.refresh);
    assert.deepEqual([older.status, older.member('error')], [400, 'invalid_grant']);
    assert.equal(await reads(renewed.member('access_token')), 401, 'the whole family ends');
    assert.equal((await refresh(after, renewed.member('refresh_token'))).status, 400);
    await after.end();

    const last = await startOn(data, config, ...args);
    assert.equal((await last.ask('GET', records, { bearer: renewed.member('access_token') })).status, 401);
    const credentials = {
      token: given(exchanged, 'oauth_token'),
      secret: given(exchanged, 'oauth_token_secret'),
    };
    const signed = await askSigned(last, { method: 'GET', target: records, token: credentials });
    assert.equal(signed.status, 200);
    await last.end();
  });
}

test('the tokens of a client or consumer that is removed while a server runs are refused at once', async () => {
  const { data, config } = await registered();
  const server = await startOn(data, config);
  const { access } = await tokensFor(server);
  const token = await accessToken(server);
  const status = async (): Promise<readonly number[]> => [
    (await server.ask('GET', records, { bearer: access })).status,
    (await askSigned(server, { method: 'GET', target: records, token })).status,
  ];
  assert.deepEqual(await status(), [200, 200]);
  await done(['client', 'remove', 'app', '--data', data]);
  assert.deepEqual(await status(), [401, 200]);
  await done(['consumer', 'remove', 'printer', '--data', data]);
  assert.deepEqual(await status(), [401, 401]);
  await server.end();
});

test('tokens of a consumer that is added while a server runs survive a restart, unless oauth.key is missing', async () => {
  const data = join(temporaryDirectory(), 'data');
  const config = usersFile();
  const before = await startProcessOn(data, config);
  assert.ok(!existsSync(join(data, 'oauth.key')), 'nobody needs a key yet');
  const consumer = ['consumer', 'add', 'printer', '--callback', consumerCallback, ...scopes];
  await done([...consumer, '--data', data, '--secret-stdin'], 'printer-secret-0123456789\n');
  assert.equal(statSync(join(data, 'oauth.key')).mode & 0o777, 0o600);
  const token = await accessToken(before);
  const signed = { method: 'GET', target: records, token };
  await before.kill();
  const after = await startOn(data, config);
  assert.equal((await askSigned(after, signed)).status, 200);
  await after.end();

  const key = readFileSync(join(data, 'oauth.key'), 'utf8').trim();
  rmSync(join(data, 'oauth.key'));
  const told = /oauth\.key is missing, so issued OAuth 1\.0a tokens are not valid/;
  const checked = await call(['check', '--data', data, '--config', config]);
  assert.equal(checked.status, 0, checked.stderr);
  assert.match(checked.stderr, told);
  assert.match(checked.stdout, /^items {8}OAuth tokens: [0-9]+$/m);
  const without = await startOn(data, config);
  await without.running.awaitStderr(told);
  assert.equal((await askSigned(without, signed)).status, 401);
  await without.end();
  assert.notEqual(readFileSync(join(data, 'oauth.key'), 'utf8').trim(), key);
});
