import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { clientFile, consumerFile } from '../../../src/accounts/clients.ts';
import { userFile } from '../../../src/accounts/users.ts';
import { call, startServer } from '../../support/cli/command.ts';
import { done, printedIn } from '../../support/cli/oauth.ts';
import { rsa } from '../../support/keys.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const redirect = ['--redirect-uri', 'https://client.example/cb'];

function freshData(): string {
  return join(temporaryDirectory(), 'data');
}

const encrypting = { COUNTERSIGN_KEY: 'ab'.repeat(32) };

const adding = {
  user: ['user', 'add', 'new'],
  client: ['client', 'add', 'new', '--redirect-uri', 'https://client.example/cb'],
  consumer: ['consumer', 'add', 'new', '--callback', 'oob'],
} as const;

describe('countersign client', () => {
  test('stores what a client may do', async () => {
    const data = freshData();
    await done(['client', 'add', 'app', ...redirect, '--scope', 'write', '--data', data]);
    const machine = ['--grant', 'client_credentials', '--users', '*', '--data', data];
    await done(['client', 'add', 'one', ...machine]);
    const { entries } = await clientFile.read(data);
    for (const [id, stored] of Object.entries({
      app: {
        redirectUris: ['https://client.example/cb'],
        grants: ['authorization_code', 'refresh_token'],
        scopes: ['write'],
        users: [],
      },
      one: { redirectUris: [], grants: ['client_credentials'], scopes: ['read'], users: '*' },
    })) {
      const { since: _, secret: __, ...kept } = entries.get(id) ?? {};
      assert.deepEqual(kept, stored);
    }
    assert.equal(
      await done(['client', 'list', '--data', data]),
      `app  with a secret; authorization_code refresh_token; write; https://client.example/cb
one  with a secret; client_credentials; read; users *
`,
    );
  });

  test('generates an id if none is given, and no secret for a public client', async () => {
    const data = freshData();
    const stdout = await done(['client', 'add', '--public', ...redirect, '--data', data]);
    const id = printedIn(stdout, 'client');
    assert.match(id, /^[A-Za-z0-9_-]{43}$/);
    assert.doesNotMatch(stdout, /^secret/m);
    assert.equal((await clientFile.read(data)).entries.get(id)?.secret, undefined);
  });

  test('adds a client that authenticates with a key, in PEM, as a JWK or as a set of keys', async () => {
    const data = freshData();
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const jwk = { ...publicKey.export({ format: 'jwk' }), kid: '1' };
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString().trim();
    const file = join(temporaryDirectory(), 'key');
    for (const [id, content, stored] of [
      ['pem', `${pem}\n`, { publicKey: pem }],
      ['jwk', JSON.stringify(jwk), { jwks: { keys: [jwk] } }],
      ['set', JSON.stringify({ keys: [jwk] }), { jwks: { keys: [jwk] } }],
    ] as const) {
      writeFileSync(file, content);
      const machine = ['--public-key', file, '--grant', 'client_credentials', '--data', data];
      assert.doesNotMatch(await done(['client', 'add', id, ...machine]), /^secret/m);
      const { secret, jwks, publicKey: key } = (await clientFile.read(data)).entries.get(id) ?? {};
      assert.deepEqual(
        { secret, jwks, publicKey: key },
        { secret: undefined, jwks: undefined, publicKey: undefined, ...stored },
      );
    }
    assert.match(
      await done(['client', 'list', '--data', data]),
      /^set {2}with a key; client_credentials; read/m,
    );
    const rotated = await call(['client', 'rotate', 'pem', '--data', data]);
    assert.match(rotated.stderr, /the client pem authenticates with a key and has no secret/);
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    for (const content of ['{', '[]', JSON.stringify(privateKey.export({ format: 'jwk' })), 'text']) {
      writeFileSync(file, content);
      const add = ['client', 'add', 'bad', '--public-key', file, '--grant', 'client_credentials'];
      const { status, stderr } = await call([...add, '--data', data]);
      assert.notEqual(status, 0, content);
      assert.match(stderr, /not a public key|is a private key/);
    }
  });

  test('accepts a scope that the configuration of the server may have', async () => {
    const data = freshData();
    await done(['client', 'add', 'app', ...redirect, '--scope', 'orders.read', '--data', data]);
    assert.deepEqual((await clientFile.read(data)).entries.get('app')?.scopes, ['orders.read']);
    const config = join(temporaryDirectory(), 'countersign.json');
    writeFileSync(config, JSON.stringify({ data, oauth2: { scopes: ['orders.read'] } }));
    const words = ['client', 'add', 'other', ...redirect, '--scope', 'orders.red', '--config', config];
    const known = await call(words);
    assert.match(known.stderr, /--scope "orders.red" is not one of orders.read/);
  });
});

describe('countersign consumer', () => {
  test('adds a consumer and replaces its secret, which is encrypted if there is a key', async () => {
    const data = freshData();
    const ask = (words: readonly string[], environment: Readonly<Record<string, string>> = encrypting) =>
      call(['consumer', ...words, '--data', data], { environment });
    const secrets = new Set<string>();
    for (const words of [
      ['add', 'key', '--callback', 'oob', '--method', 'PLAINTEXT'],
      ['rotate', 'key'],
    ]) {
      const { status, stdout, stderr } = await ask(words);
      assert.equal(status, 0, stderr);
      const secret = printedIn(stdout, 'secret');
      assert.match(secret, /^[A-Za-z0-9_-]{43}$/);
      const text = readFileSync(join(data, 'consumers.json'), 'utf8');
      assert.ok(!text.includes(secret) && text.includes('"sealed"'));
      assert.equal((await ask(['list'])).stdout, 'key  with a secret; PLAINTEXT; read; oob\n');
      secrets.add(secret);
    }
    assert.equal(secrets.size, 2);
    for (const words of [['list'], ['rotate', 'key']]) {
      const { status, stderr } = await ask(words, {});
      assert.equal(status, 1);
      assert.match(stderr, /consumers\.json has encrypted secrets, and there is no key/);
    }
  });

  test('accepts an RSA key from a file, and generates a secret only if another method requires one', async () => {
    const data = freshData();
    const file = join(temporaryDirectory(), 'key.pem');
    writeFileSync(file, rsa.publicPem);
    const add = ['consumer', 'add', '--callback', 'oob', '--rsa-public-key', file, '--data', data];
    assert.doesNotMatch(await done([...add, 'rsa']), /^secret/m);
    const both = await done([...add, 'both', '--method=RSA-SHA1', '--method=HMAC-SHA1']);
    assert.match(printedIn(both, 'secret'), /^.{43}$/);
    const { entries } = await consumerFile.read(data);
    assert.deepEqual(entries.get('rsa')?.methods, ['RSA-SHA256', 'RSA-SHA1']);
    assert.deepEqual(entries.get('both')?.methods, ['HMAC-SHA1', 'RSA-SHA1']);
    assert.equal(
      await done(['consumer', 'list', '--data', data]),
      'rsa  an RSA key; RSA-SHA256 RSA-SHA1; read; oob\nboth  with a secret and an RSA key; HMAC-SHA1 RSA-SHA1; read; oob\n',
    );
    const words = ['consumer', 'add', 'x', '--callback=oob', '--rsa-public-key=none.pem', '--data', data];
    const missing = await call(words);
    assert.deepEqual([missing.status, /none\.pem cannot be read \(ENOENT\)/.test(missing.stderr)], [1, true]);
  });
});

describe('clients and consumers require HTTPS', () => {
  test('a configuration that declares them is rejected with --no-tls', async () => {
    const config = join(temporaryDirectory(), 'config.json');
    const content = { clients: { app: { secret: 's', grants: [] } }, consumers: { key: { secret: 's' } } };
    writeFileSync(config, JSON.stringify(content), { mode: 0o600 });
    const end = await call(['--memory', '--port', '0', '--no-tls', '--config', config]);
    assert.equal(end.status, 2);
    assert.equal(
      end.stderr,
      `countersign: ${config}: clients require HTTPS, which --no-tls disables
countersign: ${config}: consumers require HTTPS, which --no-tls disables
`,
    );
  });

  test('clients in the data directory prevent a start with --no-tls, and a running server ignores new ones', async () => {
    const data = freshData();
    const plain = ['--data', data, '--port', '0', '--no-tls'];
    const server = await startServer([...plain, '--log', 'off']);
    const added = await call(['client', 'add', 'app', ...redirect, '--data', data]);
    assert.equal(added.status, 0);
    assert.match(added.stderr, /has not applied the change/);
    await server.awaitStderr(
      /the clients in .*clients\.json require HTTPS, which --no-tls disables\. The clients stay as they were\.\n/,
    );
    assert.equal((await server.stop()).status, 0);
    const refusal = `countersign: the clients in ${join(data, 'clients.json')} require HTTPS, which --no-tls disables\n`;
    for (const args of [plain, ['check', ...plain]]) {
      const end = await call(args);
      assert.deepEqual([end.status, end.stderr], [1, refusal]);
    }
  });
});

test('check lists clients and consumers, and reports files that cannot be used', async () => {
  const data = freshData();
  await done(['client', 'add', 'app', ...redirect, '--data', data]);
  await done(['consumer', 'add', 'key', '--callback', 'oob', '--data', data]);
  const whole = await call(['check', '--data', data]);
  assert.equal(whole.status, 0, whole.stderr);
  assert.match(whole.stdout, /^clients {6}app\nconsumers {4}key\nsecrets {6}not encrypted$/m);
  writeFileSync(join(data, 'clients.json'), '{"version":1,"clients":{"app":{"scopes":["a b"]}}}');
  writeFileSync(join(data, 'oauth.key'), 'cut', { mode: 0o600 });
  const damaged = await call(['check', '--data', data]);
  assert.equal(damaged.status, 1);
  assert.match(
    damaged.stderr,
    /clients\.json cannot be used: scopes\[0\] of the client "app" is not a scope/,
  );
  assert.match(damaged.stderr, /oauth\.key cannot be used: it is not a key of 32 bytes/);
});

describe('rotate', () => {
  test('rejects a secret of a client that is not ASCII', async () => {
    const data = freshData();
    await done(['client', 'add', 'app', ...redirect, '--data', data]);
    const args = ['client', 'rotate', 'app', '--secret-stdin', '--data', data];
    const { status, stderr } = await call(args, { input: 'not in ASCII: é\n' });
    assert.deepEqual(
      [status, stderr],
      [2, 'countersign: the secret must be a text of printable ASCII characters\n'],
    );
  });

  test('rejects an account that has no secret', async () => {
    const data = freshData();
    await done(['client', 'add', 'app', '--public', ...redirect, '--data', data]);
    const isPublic = await call(['client', 'rotate', 'app', '--data', data]);
    assert.equal(
      isPublic.stderr,
      'countersign: the client app is public and has no secret; to give it one, remove and add it\n',
    );
    const key = join(temporaryDirectory(), 'key.pem');
    writeFileSync(key, rsa.publicPem);
    await done(['consumer', 'add', 'rsa', '--callback', 'oob', '--rsa-public-key', key, '--data', data]);
    const { status, stderr } = await call(['consumer', 'rotate', 'rsa', '--data', data]);
    assert.deepEqual(
      [status, stderr],
      [1, 'countersign: the consumer rsa has no secret: it signs with its RSA key\n'],
    );
    assert.equal((await consumerFile.read(data)).entries.get('rsa')?.secret, undefined);
  });
});

describe('a given secret', () => {
  test('add ignores COUNTERSIGN_SECRET, which is for signing', async () => {
    const data = freshData();
    const environment = { COUNTERSIGN_SECRET: 'secret-of-another-user', COUNTERSIGN_DATA: data };
    const secrets = new Set<string>();
    for (const args of Object.values(adding)) {
      const { status, stdout, stderr } = await call(args, { environment });
      assert.equal(status, 0, stderr);
      secrets.add(printedIn(stdout, 'secret'));
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
    await done(
      ['client', 'add', 'app', '--secret-stdin', ...adding.client.slice(3), ...at],
      'secret-of-app\n',
    );
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
    for (const owner of ['user ann', 'client app', 'consumer printer']) {
      const input = `secret-of-${owner.split(' ')[1]}`;
      const end = await call([...adding.user, '--secret-stdin', '--config', config], { input });
      assert.deepEqual([end.status, end.stderr.includes(`of the ${owner};`)], [1, true]);
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
    const given = { environment: encrypting, input: 'secret-of-ann\n' };
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
});
