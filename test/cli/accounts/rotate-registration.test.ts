import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { clientFile, consumerFile } from '../../../src/accounts/clients.ts';
import { verifyPassword } from '../../../src/accounts/passwords.ts';
import { call } from '../../support/cli/command.ts';
import { done } from '../../support/cli/oauth.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const redirect = ['--redirect-uri', 'https://client.example/cb'];

function secretIn(output: string): string {
  return /^secret +(\S+)$/m.exec(output)?.[1] ?? assert.fail(`no secret in ${output}`);
}

function freshData(): string {
  return join(temporaryDirectory(), 'data');
}

test('rotate replaces the secret of a client, and nothing else', async () => {
  const data = freshData();
  const old = secretIn(await done(['client', 'add', 'app', ...redirect, '--scope', 'write', '--data', data]));
  const before = (await clientFile.read(data)).entries.get('app');
  const { status, stdout, stderr } = await call(['client', 'rotate', 'app', '--data', data]);
  assert.equal(status, 0, stderr);
  const secret = secretIn(stdout);
  assert.equal(stdout, `client    app\nsecret    ${secret}\n`);
  assert.match(stderr, /^the old secret is no longer valid\nno server uses /);
  assert.notEqual(secret, old);
  assert.deepEqual((await clientFile.read(data)).entries.get('app'), {
    ...before,
    secret: { sha256: createHash('sha256').update(secret).digest('base64url') },
  });
});

test('rotate stores a given secret of a client as a scrypt hash', async () => {
  const data = freshData();
  await done(['client', 'add', 'app', ...redirect, '--data', data]);
  const args = ['client', 'rotate', 'app', '--secret-stdin', '--data', data];
  assert.equal(await done(args, 'chosen-for-app\n'), 'client    app\nsecret    the given secret\n');
  const secret = (await clientFile.read(data)).entries.get('app')?.secret;
  assert.ok(secret !== undefined && 'scrypt' in secret);
  assert.ok(await verifyPassword('chosen-for-app', secret.scrypt));
  const again = await call(args, { input: 'chosen-for-app\n' });
  assert.equal(again.status, 1);
  assert.match(again.stderr, /the given secret is already the secret of the client app;/);
  const invalid = await call(args, { input: 'not in ASCII: é\n' });
  assert.deepEqual(
    [invalid.status, invalid.stderr],
    [2, 'countersign: the secret must be a text of printable ASCII characters\n'],
  );
});

test('rotate replaces the secret of a consumer, and encrypts it if there is a key', async () => {
  const data = freshData();
  const environment = { COUNTERSIGN_KEY: 'ab'.repeat(32) };
  const at = ['--data', data];
  const added = await call(['consumer', 'add', 'printer', '--callback', 'oob', ...at], { environment });
  assert.equal(added.status, 0, added.stderr);
  const { stdout } = await call(['consumer', 'rotate', 'printer', ...at], { environment });
  assert.notEqual(secretIn(stdout), secretIn(added.stdout));
  const listed = await call(['consumer', 'list', ...at], { environment });
  assert.equal(listed.stdout, 'printer  with a secret; HMAC-SHA256 HMAC-SHA1; read; oob\n');
  const without = await call(['consumer', 'rotate', 'printer', ...at]);
  assert.match(without.stderr, /consumers\.json has encrypted secrets, and there is no key/);
});

test('rotate rejects an account that does not exist or has no secret', async () => {
  const data = freshData();
  const missing = await call(['client', 'rotate', 'app', '--data', data]);
  assert.deepEqual(
    [missing.status, missing.stderr],
    [
      1,
      `countersign: there is no client app in ${data}; if a configuration file declares it, change it there\n`,
    ],
  );
  assert.ok(!existsSync(data));
  await done(['client', 'add', 'app', '--public', ...redirect, '--data', data]);
  const isPublic = await call(['client', 'rotate', 'app', '--data', data]);
  assert.equal(
    isPublic.stderr,
    'countersign: the client app is public and has no secret; to give it one, remove and add it\n',
  );
  const key = join(temporaryDirectory(), 'key.pem');
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(key, publicKey.export({ type: 'spki', format: 'pem' }));
  await done(['consumer', 'add', 'rsa', '--callback', 'oob', '--rsa-public-key', key, '--data', data]);
  const { status, stderr } = await call(['consumer', 'rotate', 'rsa', '--data', data]);
  assert.deepEqual(
    [status, stderr],
    [1, 'countersign: the consumer rsa has no secret: it signs with its RSA key\n'],
  );
  assert.equal((await consumerFile.read(data)).entries.get('rsa')?.secret, undefined);
});
