import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { clientFile, consumerFile } from '../../../src/accounts/clients.ts';
import { verifyPassword } from '../../../src/accounts/passwords.ts';
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
  test('adds a client with a secret of 256 bits, prints it once and stores its digest', async () => {
    const data = freshData();
    const added = await call(['client', 'add', 'app', ...redirect, '--scope', 'write', '--data', data]);
    assert.equal(added.status, 0, added.stderr);
    assert.match(added.stderr, /^no server uses .*; the change takes effect at the next start\n$/);
    const secret = printedIn(added.stdout, 'secret');
    assert.match(secret, /^[A-Za-z0-9_-]{43}$/);
    assert.equal(statSync(join(data, 'clients.json')).mode & 0o777, 0o600);
    assert.ok(!readFileSync(join(data, 'clients.json'), 'utf8').includes(secret));
    const { since, ...kept } = (await clientFile.read(data)).entries.get('app') ?? {};
    assert.equal(typeof since, 'number');
    assert.deepEqual(kept, {
      secret: { sha256: createHash('sha256').update(secret).digest('base64url') },
      redirectUris: ['https://client.example/cb'],
      grants: ['authorization_code', 'refresh_token'],
      scopes: ['write'],
      users: [],
    });
    const listed = await call(['client', 'list', '--data', data]);
    assert.equal(
      listed.stdout,
      'app  with a secret; authorization_code refresh_token; write; https://client.example/cb\n',
    );
    assert.equal(await done(['client', 'remove', 'app', '--data', data]), 'removed   app\n');
    assert.equal((await clientFile.read(data)).entries.size, 0);
  });

  test('stores a given secret as a scrypt hash, and does not print it', async () => {
    const data = freshData();
    const secret = 'chosen-by-somebody';
    const machine = ['--grant', 'client_credentials', '--users', '*', '--data', data];
    const args = ['client', 'add', 'one', '--secret-stdin', ...machine];
    assert.equal(printedIn(await done(args, `${secret}\nmore`), 'secret'), 'the given secret');
    for (const [, client] of (await clientFile.read(data)).entries) {
      assert.ok(client.secret !== undefined && 'scrypt' in client.secret);
      assert.ok(await verifyPassword(secret, client.secret.scrypt));
      assert.equal(client.users, '*');
    }
    assert.match(
      await done(['client', 'list', '--data', data]),
      /^one {2}with a secret; client_credentials; read; users \*$/m,
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

  test('changes no client of the configuration file, and lists the clients that it overrides', async () => {
    const data = freshData();
    await done(['client', 'add', 'app', ...redirect, '--data', data]);
    await done(['client', 'add', 'kept', '--public', ...redirect, '--data', data]);
    const config = join(temporaryDirectory(), 'config.json');
    const clients = { app: { secret: 'of the file', grants: [] } };
    writeFileSync(config, JSON.stringify({ data, clients }), { mode: 0o600 });
    for (const action of ['add', 'rotate', 'remove']) {
      const words = ['client', action, 'app', ...(action === 'add' ? redirect : []), '--config', config];
      const end = await call(words);
      assert.equal(end.status, 1);
      assert.match(
        end.stderr,
        /^countersign: the client app is declared in .*config\.json; change it there$/m,
      );
    }
    assert.equal(
      await done(['client', 'list', '--config', config]),
      `app  with a secret; no grant; read; in ${config}
app  with a secret; authorization_code refresh_token; read; https://client.example/cb; overridden by ${config}
kept  public; authorization_code refresh_token; read; https://client.example/cb
`,
    );
    const again = await call(['client', 'add', 'kept', ...redirect, '--config', config]);
    assert.deepEqual(
      [again.status, /the client kept already exists; remove it first/.test(again.stderr)],
      [1, true],
    );
    const unknown = await call(['client', 'remove', 'ketp', '--config', config]);
    assert.match(unknown.stderr, /there is no client ketp; did you mean "kept"\?/);
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
  test('replaces the secret of a client, and nothing else', async () => {
    const data = freshData();
    const added = await done(['client', 'add', 'app', ...redirect, '--scope', 'write', '--data', data]);
    const before = (await clientFile.read(data)).entries.get('app');
    const { status, stdout, stderr } = await call(['client', 'rotate', 'app', '--data', data]);
    assert.equal(status, 0, stderr);
    const secret = printedIn(stdout, 'secret');
    assert.equal(stdout, `client    app\nsecret    ${secret}\n`);
    assert.match(stderr, /^the old secret is no longer valid\nno server uses /);
    assert.notEqual(secret, printedIn(added, 'secret'));
    assert.deepEqual((await clientFile.read(data)).entries.get('app'), {
      ...before,
      secret: { sha256: createHash('sha256').update(secret).digest('base64url') },
    });
  });

  test('stores a given secret of a client as a scrypt hash', async () => {
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

  test('rejects an account that does not exist or has no secret', async () => {
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
