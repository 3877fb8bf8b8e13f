import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { clientFile, consumerFile } from '../../../src/accounts/clients.ts';
import { verifyPassword } from '../../../src/accounts/passwords.ts';
import { call, startServer } from '../../support/cli/command.ts';
import { done } from '../../support/cli/oauth.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const redirect = ['--redirect-uri', 'https://client.example/cb'];

/** What was told of somebody new: `secret    …` on a line of its own. */
function findPrinted(output: string, what: 'client' | 'consumer' | 'secret'): string | undefined {
  return new RegExp(`^${what} +(\\S.*)$`, 'm').exec(output)?.[1];
}

function freshData(): string {
  return join(temporaryDirectory(), 'data');
}

describe('countersign client', () => {
  test('adds a client with a secret of 256 bits, prints it once and stores its digest', async () => {
    const data = freshData();
    const added = await call(['client', 'add', 'app', ...redirect, '--scope', 'write', '--data', data]);
    assert.equal(added.status, 0, added.stderr);
    assert.match(added.stderr, /^no server uses .*; the change takes effect at the next start\n$/);
    const secret = findPrinted(added.stdout, 'secret') ?? '';
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
    const { status, stdout, stderr } = await call(args, { input: `${secret}\nmore` });
    assert.equal(status, 0, stderr);
    assert.equal(findPrinted(stdout, 'secret'), 'the given secret');
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
    const id = findPrinted(stdout, 'client') ?? '';
    assert.match(id, /^[A-Za-z0-9_-]{43}$/);
    assert.equal(findPrinted(stdout, 'secret'), undefined);
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
      const printed = await done(['client', 'add', id, ...machine]);
      assert.equal(findPrinted(printed, 'secret'), undefined);
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
      const add = [
        'client',
        'add',
        'bad',
        '--public-key',
        file,
        '--grant',
        'client_credentials',
        '--data',
        data,
      ];
      const { status, stderr } = await call(add);
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
    const known = await call([
      'client',
      'add',
      'other',
      ...redirect,
      '--scope',
      'orders.red',
      '--config',
      config,
    ]);
    assert.match(known.stderr, /--scope "orders.red" is not one of orders.read/);
  });

  const refused: readonly (readonly [args: readonly string[], says: RegExp])[] = [
    [
      [],
      /^countersign: missing action; expected one of add, rotate, remove, list: countersign client add ID$/m,
    ],
    [['rotate'], /rotate requires one ID: countersign client rotate ID/],
    [['rotate', 'app', '--public'], /--public is an option of add only/],
    [['remove', 'app', '--secret-stdin'], /--secret-stdin is an option of add and rotate only/],
    [['add', 'app', '--public=false', ...redirect], /--public takes no value/],
    [['add', 'app'], /authorization_code requires a --redirect-uri; .* --grant client_credentials/],
    [
      ['add', 'app', ...redirect, '--redirect-uri=http://a.example/'],
      /--redirect-uri "http:\/\/a\.example\/" is plain HTTP/,
    ],
    [
      ['add', 'app', ...redirect, '--grant', 'password'],
      /--grant "password" is not one of authorization_code,/,
    ],
    [['add', 'app', ...redirect, '--users', 'ann', '--users', '*'], /--users "\*"/],
    [['add', 'a:b', ...redirect], /the client a:b needs an id of 1 to 128 printable/],
    [['add', 'app', '--secret', 'hidden-secret', ...redirect], /unknown option --secret/],
    [
      ['add', 'app', '--public', '--secret-stdin', ...redirect],
      /--public and --secret-stdin are mutually exclusive/,
    ],
    [
      ['add', 'app', '--public', '--grant', 'client_credentials'],
      /has no secret, and so cannot have the grant/,
    ],
  ];
  for (const [args, says] of refused)
    test(`rejects the arguments: ${args.join(' ')}`, async () => {
      const data = freshData();
      const end = await call(['client', ...args, '--data', data], { input: 'a-secret-of-mine\n' });
      assert.equal(end.status, 2, end.stdout);
      assert.match(end.stderr, says);
      assert.ok(!existsSync(data), 'nothing is made');
    });

  test('changes no client of the configuration file, and lists the clients that it overrides', async () => {
    const data = freshData();
    await done(['client', 'add', 'app', ...redirect, '--data', data]);
    await done(['client', 'add', 'kept', '--public', ...redirect, '--data', data]);
    const config = join(temporaryDirectory(), 'config.json');
    const clients = { app: { secret: 'of the file', grants: [] } };
    writeFileSync(config, JSON.stringify({ data, clients }), { mode: 0o600 });
    for (const action of ['add', 'rotate', 'remove']) {
      const end = await call([
        'client',
        action,
        'app',
        ...(action === 'add' ? redirect : []),
        '--config',
        config,
      ]);
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
  test('adds a consumer, and encrypts its secret if there is a key', async () => {
    const data = freshData();
    const environment = { COUNTERSIGN_KEY: 'ab'.repeat(32) };
    const args = ['consumer', 'add', 'key', '--callback', 'oob', '--method', 'PLAINTEXT', '--data', data];
    const added = await call(args, { environment });
    assert.equal(added.status, 0, added.stderr);
    const secret = findPrinted(added.stdout, 'secret') ?? '';
    assert.match(secret, /^[A-Za-z0-9_-]{43}$/);
    const text = readFileSync(join(data, 'consumers.json'), 'utf8');
    assert.ok(!text.includes(secret) && text.includes('"sealed"'));
    const listed = await call(['consumer', 'list', '--data', data], { environment });
    assert.equal(listed.stdout, 'key  with a secret; PLAINTEXT; read; oob\n');
    const without = await call(['consumer', 'list', '--data', data]);
    assert.deepEqual([without.status, /there is no key/.test(without.stderr)], [1, true]);
  });

  test('accepts an RSA key from a file, and generates a secret only if another method requires one', async () => {
    const data = freshData();
    const file = join(temporaryDirectory(), 'key.pem');
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    writeFileSync(file, publicKey.export({ type: 'spki', format: 'pem' }));
    const add = ['consumer', 'add', '--callback', 'oob', '--rsa-public-key', file, '--data', data];
    assert.equal(findPrinted(await done([...add, 'rsa']), 'secret'), undefined);
    assert.match(
      findPrinted(await done([...add, 'both', '--method=RSA-SHA1', '--method=HMAC-SHA1']), 'secret') ?? '',
      /^.{43}$/,
    );
    const { entries } = await consumerFile.read(data);
    assert.deepEqual(entries.get('rsa')?.methods, ['RSA-SHA256', 'RSA-SHA1']);
    assert.deepEqual(entries.get('both')?.methods, ['HMAC-SHA1', 'RSA-SHA1']);
    assert.equal(
      await done(['consumer', 'list', '--data', data]),
      'rsa  an RSA key; RSA-SHA256 RSA-SHA1; read; oob\nboth  with a secret and an RSA key; HMAC-SHA1 RSA-SHA1; read; oob\n',
    );
    const missing = await call([
      'consumer',
      'add',
      'x',
      '--callback=oob',
      '--rsa-public-key=none.pem',
      '--data',
      data,
    ]);
    assert.deepEqual([missing.status, /none\.pem cannot be read \(ENOENT\)/.test(missing.stderr)], [1, true]);
  });

  const refused: readonly (readonly [args: readonly string[], says: RegExp])[] = [
    [['add', 'key'], /--callback URI or --callback oob is required/],
    [
      ['add', 'key', '--callback=oob', '--method', 'RSA-SHA1', '--secret-stdin'],
      /--secret-stdin cannot be used: the methods with RSA have no secret/,
    ],
    [['add', 'key', '--callback', 'nowhere'], /--callback "nowhere" is not an absolute URI/],
    [
      ['add', 'key', '--callback=oob', '--method', 'RSA-SHA1'],
      /--method have RSA-SHA1, and there is no rsaPublicKey/,
    ],
    [
      ['add', 'key', '--callback=oob', '--method', 'HMAC-MD5'],
      /--method "HMAC-MD5" is not one of HMAC-SHA256,/,
    ],
  ];
  for (const [args, says] of refused)
    test(`rejects the arguments: ${args.join(' ')}`, async () => {
      const end = await call(['consumer', ...args, '--data', freshData()], { input: 'a-secret-of-mine\n' });
      assert.equal(end.status, 2, end.stdout);
      assert.match(end.stderr, says);
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
    server.signal('SIGTERM');
    assert.equal((await server.ended).status, 0);
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
