import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { revocationFile } from '../../../src/accounts/revocations.ts';
import { applyRevocations, requestRevocation } from '../../../src/cli/accounts/revocation.ts';
import { openDurableStore } from '../../../src/index.ts';
import { grantsCollection, toGrantRecord } from '../../../src/oauth/records.ts';
import { lockDirectory } from '../../../src/store/files/lock.ts';
import { call, type Ended } from '../../support/cli/command.ts';
import {
  done,
  type LiveServer,
  register,
  startOn,
  startProcessOn,
  usersFile,
} from '../../support/cli/oauth.ts';
import { accessToken, ask as askSigned } from '../../support/oauth/consumer.ts';
import { refresh, tokensFor } from '../../support/oauth/server.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const records = '/users/ann/financialrecords';

/** Returns a directory with the clients `app` and `robot` and the consumer `printer`. */
async function registered(): Promise<{ data: string; config: string }> {
  const data = join(temporaryDirectory(), 'data');
  await register('--data', data);
  const robot = ['client', 'add', 'robot', '--grant', 'client_credentials', '--users', '*'];
  await done([...robot, '--data', data, '--secret-stdin'], 'robot-secret-0123456789\n');
  return { data, config: usersFile() };
}

function grant(data: string, ...args: string[]): Promise<Ended> {
  return call(['grant', ...args, '--data', data]);
}

/** Returns the lines of `grant list` as id, user and client. */
async function listed(data: string, ...args: string[]): Promise<string[][]> {
  const { status, stdout, stderr } = await grant(data, 'list', ...args);
  assert.equal(status, 0, stderr);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => line.replace(/;.*/, '').split('  '));
}

const requestStatus = async (server: LiveServer, bearer: string): Promise<number> =>
  (await server.ask('GET', records, { bearer })).status;

test('grants are listed and revoked while a server runs', async () => {
  const { data, config } = await registered();
  const server = await startProcessOn(data, config);
  const ann = await tokensFor(server);
  const second = await tokensFor(server);
  const bob = await tokensFor(server, {}, 'bob');
  const signed = await accessToken(server);
  const form = { grant_type: 'client_credentials' };
  const own = await server.ask('POST', '/oauth2/token', { form, basic: 'robot:robot-secret-0123456789' });
  const robot = own.member('access_token');

  const all = await listed(data);
  assert.deepEqual(
    all.map(([, ...names]) => names.join(' ')),
    ['ann app', 'ann app', 'bob app', 'ann printer'],
  );
  assert.deepEqual(await listed(data, '--user', 'bob'), [all[2]]);
  assert.deepEqual(await listed(data, '--client', 'printer', '--user', 'ann'), [all[3]]);
  const { stdout } = await grant(data, 'list');
  assert.match(
    stdout,
    /^[\w-]{43} {2}ann {2}app; read write; \d{4}-\d\d-\d\dT[\d:.]+Z to \d{4}-\d\d-\d\dT[\d:.]+Z\n/,
  );
  for (const secret of [ann.access, ann.refresh, signed.token, robot]) assert.ok(!stdout.includes(secret));

  const id = all[0]?.[0] ?? '';
  const one = await grant(data, 'revoke', id);
  assert.equal(one.status, 0, one.stderr);
  assert.equal(
    one.stderr,
    `the server that uses ${data} (process ${server.running.pid}) has applied the change\n`,
  );
  assert.match(one.stdout, new RegExp(`^revoked {3}${id} {2}ann {2}app; read write; .*\\n$`));
  assert.equal(await requestStatus(server, ann.access), 401);
  assert.equal((await refresh(server, ann.refresh)).status, 400);
  assert.equal(await requestStatus(server, second.access), 200);

  const user = await grant(data, 'revoke', '--user', 'ann');
  assert.equal(user.status, 0, user.stderr);
  assert.equal(user.stdout.split('\n').length, 3);
  assert.equal(await requestStatus(server, second.access), 401);
  assert.equal((await askSigned(server, { method: 'GET', target: records, token: signed })).status, 401);
  const bobsRecords = await server.ask('GET', '/users/bob/financialrecords', { bearer: bob.access });
  assert.equal(bobsRecords.status, 200);

  const client = await grant(data, 'revoke', '--client', 'robot');
  assert.equal(client.stdout, 'revoked   1 token without a grant\n');
  assert.equal(await requestStatus(server, robot), 401);
  assert.deepEqual(
    (await listed(data)).map(([, ...names]) => names.join(' ')),
    ['bob app'],
  );
  assert.deepEqual((await revocationFile.read(data)).entries.size, 0);

  // A revocation is durable when the command ends, and the next start carries out one that is pending.
  await server.kill();
  await revocationFile.write(data, new Map([['pending', { user: 'bob' }]]));
  const after = await startOn(data, config);
  for (const token of [ann.access, second.access, robot, bob.access])
    assert.equal(await requestStatus(after, token), 401);
  assert.deepEqual((await revocationFile.read(data)).entries.size, 0);
  await after.end();
});

test('without a server, the command revokes grants itself, and loses no nonce', async () => {
  const { data, config } = await registered();
  const first = await startProcessOn(data, config);
  const tokens = await tokensFor(first);
  const signature = ['sign', 'PUT', 'http://localhost/articles/1', '--user', 'ann'];
  const { stdout } = await call(signature, { input: 'ann-secret\n' });
  const fields = stdout
    .trim()
    .split('\n')
    .map((line): [string, string] => {
      const [name = '', value = ''] = line.split(/: (.*)/s);
      return [name, value];
    });
  const content = '{"title":"Tea","price":{"value":"3.50","currency":"EUR"}}';
  const sending = { fields: [...fields, ['Content-Type', 'application/json'] as const], content };
  assert.equal((await first.ask('PUT', '/articles/1', sending)).status, 201);
  await first.kill();

  const revoked = await grant(data, 'revoke', '--user', 'ann');
  assert.equal(revoked.status, 0, revoked.stderr);
  assert.match(revoked.stderr, new RegExp(`no server uses ${data}; the change is stored\\n$`));
  assert.deepEqual(await listed(data), []);
  const nothing = await grant(data, 'revoke', '--user', 'ann');
  assert.deepEqual([nothing.status, nothing.stdout, nothing.stderr], [0, '', 'there is nothing to revoke\n']);

  const second = await startOn(data, config);
  assert.equal(await requestStatus(second, tokens.access), 401);
  assert.equal((await refresh(second, tokens.refresh)).status, 400);
  assert.equal((await second.ask('GET', '/articles/1', {})).status, 200);
  assert.equal((await second.ask('PUT', '/articles/1', sending)).status, 401, 'the nonce is known');
  await second.end();
});

test('grants that have ended or were revoked are not listed', async (context) => {
  const data = temporaryDirectory(context);
  const store = await openDurableStore(data);
  const at = Date.now();
  const draft = { mechanism: 'oauth2', client: 'app', user: 'ann', scopes: ['read'], issued: at } as const;
  for (const [id, ends, revoked] of [
    ['ended', at, false],
    ['revoked', at + 3_600_000, true],
    ['current', at + 3_600_000, false],
  ] as const) {
    const value = toGrantRecord({ ...draft, id, ends, revoked });
    await store.apply({ kind: 'put', collection: grantsCollection, id, expected: 'absent', value, at });
  }
  await store.close();
  assert.deepEqual(await listed(data), [['current', 'ann', 'app']]);
});

test('the command stops waiting for a process that does not revoke, and the request stays stored', async (context) => {
  const data = temporaryDirectory(context);
  const lock = await lockDirectory(data);
  context.after(() => lock.release());
  let waited = 0;
  const wait = async (ms: number): Promise<void> => {
    waited += ms;
  };
  const revoked = await requestRevocation(data, { user: 'ann' }, assert.fail, wait);
  assert.deepEqual(revoked, { by: 'nobody', pid: process.pid });
  assert.equal(waited, 9980);
  assert.equal((await revocationFile.read(data)).entries.size, 1);
});

test('a revocation that fails stays in the file', async () => {
  const data = temporaryDirectory();
  await revocationFile.write(data, new Map([['one', { user: 'ann' }]]));
  const { entries } = await revocationFile.read(data);
  const failing = applyRevocations(data, entries, () => Promise.reject(new Error('no space')));
  await assert.rejects(failing, { message: 'no space' });
  assert.equal((await revocationFile.read(data)).entries.size, 1);
  const calls: unknown[] = [];
  await applyRevocations(data, entries, async (selection) => void calls.push(selection));
  assert.deepEqual(calls, [{ user: 'ann' }]);
  assert.equal((await revocationFile.read(data)).entries.size, 0);
});

test('a file with a revocation that selects nothing is corrupt', async () => {
  const data = temporaryDirectory();
  for (const entry of [{}, { all: true }, { user: 1 }]) {
    const content = JSON.stringify({ version: 1, revocations: { one: entry } });
    writeFileSync(revocationFile.path(data), content, { mode: 0o600 });
    await assert.rejects(revocationFile.read(data), { name: 'StoreError', code: 'damaged' }, content);
  }
});

const data = temporaryDirectory();

test('an unknown grant and a data directory that does not exist are reported, and nothing is created', async () => {
  const unknown = await grant(data, 'revoke', '-'.repeat(43));
  assert.deepEqual([unknown.status, unknown.stdout], [1, '']);
  assert.match(unknown.stderr, /there is no grant -{43} that could be revoked\n/);
  assert.ok(!existsSync(join(data, 'revocations.json')));
  const missing = join(data, 'missing');
  const end = await grant(missing, 'list');
  assert.deepEqual(
    [end.status, end.stderr],
    [1, `countersign: the data directory ${missing} does not exist\n`],
  );
  assert.ok(!existsSync(missing));
});
