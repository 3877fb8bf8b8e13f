import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { consumerFile } from '../../../src/accounts/clients.ts';
import { userFile } from '../../../src/accounts/users.ts';
import { call } from '../../support/cli/command.ts';
import { done } from '../../support/cli/oauth.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const adding = {
  user: ['user', 'add', 'new'],
  client: ['client', 'add', 'new', '--redirect-uri', 'https://client.example/cb'],
  consumer: ['consumer', 'add', 'new', '--callback', 'oob'],
} as const;

function secretIn(output: string): string {
  return /^secret +(\S+)$/m.exec(output)?.[1] ?? assert.fail(`no secret in ${output}`);
}

function freshData(): string {
  return join(temporaryDirectory(), 'data');
}

test('add ignores COUNTERSIGN_SECRET, which is for signing', async () => {
  const data = freshData();
  const environment = { COUNTERSIGN_SECRET: 'secret-of-another-user', COUNTERSIGN_DATA: data };
  const secrets = new Set<string>();
  for (const args of Object.values(adding)) {
    const { status, stdout, stderr } = await call(args, { environment });
    assert.equal(status, 0, stderr);
    secrets.add(secretIn(stdout));
  }
  assert.equal(secrets.size, 3);
  assert.ok(!secrets.has('secret-of-another-user'));
  assert.deepEqual((await userFile.read(data)).entries.get('new')?.secrets.length, 1);
  for (const name of ['users', 'consumers'])
    assert.ok(!readFileSync(join(data, `${name}.json`), 'utf8').includes('secret-of-another-user'));
});

test('a secret of another user, client or consumer is rejected, and not printed', async () => {
  const data = freshData();
  const at = ['--data', data];
  await done(['user', 'add', 'ann', '--secret-stdin', ...at], 'secret-of-ann\n');
  // Stored like a generated secret.
  const sha256 = createHash('sha256').update('secret-of-robot').digest('base64url');
  const clients = { robot: { secret: { sha256 }, grants: ['client_credentials'] } };
  writeFileSync(join(data, 'clients.json'), JSON.stringify({ version: 1, clients }), { mode: 0o600 });
  await done(['client', 'add', 'app', '--secret-stdin', ...adding.client.slice(3), ...at], 'secret-of-app\n');
  const printer = ['consumer', 'add', 'printer', '--secret-stdin', '--callback', 'oob', ...at];
  await done(printer, 'secret-of-printer\n');
  const before = ['users', 'clients', 'consumers'].map((name) => readFileSync(join(data, `${name}.json`)));
  const taken = [
    ['secret-of-ann', 'the user ann'],
    ['secret-of-app', 'the client app'],
    ['secret-of-robot', 'the client robot'],
    ['secret-of-printer', 'the consumer printer'],
  ] as const;
  for (const args of Object.values(adding))
    for (const [secret, owner] of taken) {
      const end = await call([...args, '--secret-stdin', ...at], { input: `${secret}\n` });
      assert.deepEqual(end, {
        status: 1,
        stdout: '',
        stderr: `countersign: the given secret is already the secret of ${owner}; each user, client and consumer needs its own\n`,
      });
    }
  const after = ['users', 'clients', 'consumers'].map((name) => readFileSync(join(data, `${name}.json`)));
  assert.deepEqual(after, before);
});

test('a secret that the configuration file contains is rejected, too', async () => {
  const data = freshData();
  const config = join(temporaryDirectory(), 'config.json');
  const content = {
    data,
    users: { ann: { secret: 'secret-of-ann' } },
    clients: { app: { secret: 'secret-of-app', grants: [] } },
    consumers: { printer: { secret: 'secret-of-printer', callbacks: ['oob'] } },
  };
  writeFileSync(config, JSON.stringify(content), { mode: 0o600 });
  for (const [secret, owner] of [
    ['secret-of-ann', /of the user ann;/],
    ['secret-of-app', /of the client app;/],
    ['secret-of-printer', /of the consumer printer;/],
  ] as const) {
    const end = await call([...adding.user, '--secret-stdin', '--config', config], { input: secret });
    assert.equal(end.status, 1);
    assert.match(end.stderr, owner);
  }
  assert.ok(!existsSync(data));
});

test('a former secret that is still stored is rejected', async () => {
  const data = freshData();
  await done(['user', 'add', 'ann', '--secret-stdin', '--data', data], 'former-secret\n');
  await done(['user', 'rotate', 'ann', '--data', data]);
  const end = await call([...adding.user, '--secret-stdin', '--data', data], { input: 'former-secret\n' });
  assert.match(end.stderr, /is already the secret of the user ann;/);
});

test('encrypted secrets are compared, which requires the key', async () => {
  const data = freshData();
  const environment = { COUNTERSIGN_KEY: 'ab'.repeat(32) };
  const given = { environment, input: 'secret-of-ann\n' };
  const at = ['--secret-stdin', '--data', data];
  const first = await call(['user', 'add', 'ann', ...at], given);
  assert.equal(first.status, 0, first.stderr);
  const second = await call([...adding.consumer, ...at], given);
  assert.match(second.stderr, /is already the secret of the user ann;/);
  const without = await call([...adding.consumer, ...at], { input: 'a-secret-of-its-own\n' });
  assert.equal(without.status, 1);
  assert.match(without.stderr, /users\.json has encrypted secrets, and there is no key/);
  assert.equal((await consumerFile.read(data)).entries.size, 0);
});
