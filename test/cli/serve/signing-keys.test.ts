import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { call } from '../../support/cli/command.ts';
import { done, type LiveServer, startOn } from '../../support/cli/oauth.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const secret = 'a long secret of robot';

/** A configuration with a client and signed tokens, and the path of a data directory. */
function configured(): { data: string; config: string } {
  const directory = temporaryDirectory();
  const config = join(directory, 'config.json');
  const robot = { secret, grants: ['client_credentials'], users: '*' };
  const content = {
    users: { ann: { secret: 'ann-secret' } },
    clients: { robot },
    oauth2: { accessTokens: 'jwt' },
  };
  writeFileSync(config, JSON.stringify(content), { mode: 0o600 });
  return { data: join(directory, 'data'), config };
}

async function tokenOf({ ask }: LiveServer): Promise<string> {
  const form = { grant_type: 'client_credentials' };
  return (await ask('POST', '/oauth2/token', { form, basic: `robot:${secret}` })).member('access_token');
}

async function keysOf({ ask }: LiveServer): Promise<string[]> {
  const { keys } = JSON.parse((await ask('GET', '/oauth2/jwks')).text);
  return keys.map(({ kid }: { kid: string }) => kid);
}

const kidOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;

test('the keys outlast a restart, and a rotation takes effect in a running server', async () => {
  const { data, config } = configured();
  const server = await startOn(data, config);
  const token = await tokenOf(server);
  const first = await keysOf(server);
  assert.deepEqual(first, [kidOf(token)]);
  assert.equal(statSync(join(data, 'keys.json')).mode & 0o777, 0o600);
  const rotated = await call(['key', 'rotate', '--data', data]);
  assert.equal(rotated.status, 0, rotated.stderr);
  assert.match(rotated.stderr, /has applied the change/);
  const kid = rotated.stdout.replace(/^key +/, '').trim();
  assert.deepEqual(await keysOf(server), [kid, ...first]);
  assert.equal(kidOf(await tokenOf(server)), kid);
  await server.end();
  const again = await startOn(data, config);
  assert.deepEqual(await keysOf(again), [kid, ...first]);
  assert.equal((await again.ask('GET', '/articles', { bearer: token })).status, 200);
  await again.end();
  const listed = (await done(['key', 'list', '--data', data])).trim().split('\n');
  assert.match(listed[0] ?? '', new RegExp(`^${kid}  ES256; since .*Z; signs$`));
  assert.match(listed[1] ?? '', new RegExp(`^${first[0]}  ES256; since .*; replaced .*Z$`));
  assert.ok(!listed.join().includes('PRIVATE KEY'));
});

test('with a key, the signing keys are encrypted as secrets are', async () => {
  const { data, config } = configured();
  const clear = await startOn(data, config);
  const first = await keysOf(clear);
  await clear.end();
  assert.match(readFileSync(join(data, 'keys.json'), 'utf8'), /BEGIN PRIVATE KEY/);
  const keyFile = join(temporaryDirectory(), 'countersign.key');
  writeFileSync(keyFile, 'ab'.repeat(32), { mode: 0o600 });
  const sealed = await startOn(data, config, '--key-file', keyFile);
  assert.deepEqual(await keysOf(sealed), first);
  await sealed.end();
  assert.doesNotMatch(readFileSync(join(data, 'keys.json'), 'utf8'), /PRIVATE KEY/);
  const other = join(temporaryDirectory(), 'other.key');
  writeFileSync(other, 'cd'.repeat(32), { mode: 0o600 });
  const refused = await call(['key', 'list', '--data', data, '--key-file', other]);
  assert.equal(refused.status, 1);
});

test('a server whose tokens are opaque has no signing keys', async () => {
  const { data, config } = configured();
  const { oauth2: _, ...rest } = JSON.parse(readFileSync(config, 'utf8'));
  writeFileSync(config, JSON.stringify(rest), { mode: 0o600 });
  const server = await startOn(data, config);
  assert.match(await tokenOf(server), /^[\w-]{43}$/);
  await server.end();
  const { stdout, stderr } = await call(['key', 'list', '--data', data]);
  assert.deepEqual([stdout, stderr.includes('there are no signing keys')], ['', true]);
});
