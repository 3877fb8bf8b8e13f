import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { signedFetch } from '../../../src/client/index.ts';
import { grantsCollection } from '../../../src/oauth/records.ts';
import { call, type Ended, startServer } from '../../support/cli/command.ts';
import { type LiveServer, register, startProcessOn, usersFile } from '../../support/cli/oauth.ts';
import { imports, openSharedStore } from '../../support/module/shared-store.ts';
import { accessToken, ask as askSigned } from '../../support/oauth/consumer.ts';
import { tokensFor } from '../../support/oauth/server.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { importFrom, sharedModule, writeModule } from '../write-module.ts';

const records = '/users/ann/financialrecords';
const secret = 'secret-of-eve-0123456789';
const plain = ['--no-tls', '--port', '0', '--log', 'off'];

/** Runs a command that must succeed. */
async function done(args: readonly string[], input = ''): Promise<Ended> {
  const ended = await call(args, { input });
  assert.equal(ended.status, 0, `${args.join(' ')}: ${ended.stderr}`);
  return ended;
}

/** Returns a module whose store only has the methods of `Store`. */
function plainModule(directory: string): string {
  return writeModule(`${importFrom('test/support/module/shared-store.ts', 'openSharedStore')}
export default () => {
  const { storeId, read, list, apply, close } = openSharedStore(${JSON.stringify(directory)});
  return { store: { storeId, read, list, apply, close } };
};`);
}

const requestStatus = async (server: LiveServer, bearer: string): Promise<number> =>
  (await server.ask('GET', records, { bearer })).status;

/** Stores articles: 1 and 2 with assigned ids, `chosen` and 7 with chosen ones, and 3, which is deleted. */
async function storeArticles(url: string): Promise<void> {
  const headers = { 'Content-Type': 'application/json' };
  const body = '{"title":"Green tea","price":{"value":"12.30","currency":"EUR"}}';
  const send = async (method: string, path: string) => {
    const init = { method, user: 'eve', secret, ...(method === 'DELETE' ? {} : { headers, body }) };
    const { ok } = await signedFetch(`${url}${path}`, init);
    assert.ok(ok, `${method} ${path}`);
  };
  for (const path of ['/articles', '/articles', '/articles']) await send('POST', path);
  for (const path of ['/articles/chosen', '/articles/7', '/articles/1']) await send('PUT', path);
  await send('DELETE', '/articles/3');
}

describe('check', () => {
  test('reports the items and accounts of a store, and changes nothing', async () => {
    const directory = temporaryDirectory();
    const file = sharedModule(directory);
    await done(['user', 'add', 'eve', '--secret-stdin', '--module', file], `${secret}\n`);
    const server = await startServer(['--module', file, ...plain]);
    await storeArticles(server.url);
    await server.stop();
    const before = readFileSync(join(directory, 'parts.json'), 'utf8');
    const { stdout, stderr } = await done(['check', '--module', file, '--no-tls']);
    assert.equal(stderr, '');
    assert.match(stdout, /^data {9}the shared store$/m);
    assert.match(stdout, /^users {8}eve$/m);
    assert.match(stdout, /^secrets {6}not encrypted$/m);
    assert.match(stdout, /^items {8}\/articles: 4$/m);
    assert.equal(readFileSync(join(directory, 'parts.json'), 'utf8'), before);
    const other = await done(['check', '--module', plainModule(directory), '--no-tls']);
    assert.match(other.stdout, /^data {9}the store of .*module\.mjs$/m);
    assert.match(other.stdout, /^items {8}\/articles: 4$/m);
    assert.match(
      other.stderr,
      /^countersign: the items of \/users\/\{[^\n]* were not checked: the store cannot list/m,
    );
  });

  test('reports items that the declared collections cannot show, and exits with 1', async () => {
    const directory = temporaryDirectory();
    const store = openSharedStore(directory);
    await store.apply({
      kind: 'put',
      collection: '/articles',
      id: 'odd',
      expected: 'absent',
      value: { title: ['One'] },
      at: 1,
    });
    await store.close();
    for (const file of [sharedModule(directory), plainModule(directory)]) {
      const { status, stdout, stderr } = await call(['check', '--module', file, '--no-tls']);
      assert.deepEqual([status, stdout], [1, '']);
      assert.match(stderr, /of \/articles\/odd .*1 item cannot be shown/);
    }
  });

  test('reports resources that cannot be served', async () => {
    const file = sharedModule(temporaryDirectory(), "resources: { '/articles': {} }");
    const { status, stderr } = await call(['check', '--module', file, '--no-tls']);
    assert.equal(status, 1);
    assert.match(stderr, /\/articles/);
  });
});

test('grants in a store are listed and revoked while a server runs', async () => {
  const directory = temporaryDirectory();
  const place = ['--module', sharedModule(directory)];
  await register(...place);
  const server = await startProcessOn(join(temporaryDirectory(), 'data'), usersFile(), ...place);
  const tokens = await tokensFor(server);
  const signed = await accessToken(server);
  assert.equal(await requestStatus(server, tokens.access), 200);
  await server.end();

  const listed = await done(['grant', 'list', ...place]);
  assert.equal(listed.stdout.split('\n').filter((line) => line !== '').length, 2);
  const revoked = await done(['grant', 'revoke', '--client', 'app', ...place]);
  assert.match(revoked.stdout, /^revoked {3}[\w-]{43} {2}ann {2}app;/);
  assert.equal(revoked.stderr, 'the change is stored in the shared store\n');
  const store = openSharedStore(directory);
  assert.equal((await store.list(grantsCollection, 0, 10)).entries.length, 1);
  const { content } = (await store.documents.read('revocations.json')) ?? {};
  assert.deepEqual(JSON.parse(Buffer.from(content ?? []).toString()), { version: 1, revocations: {} });
  const again = await done(['grant', 'revoke', '--client', 'app', ...place]);
  assert.equal(again.stderr, 'there is nothing to revoke\n');

  // A request that no process carried out is carried out by a server that starts.
  const request = JSON.stringify({ version: 1, revocations: { pending: { client: 'printer' } } });
  const { version } = (await store.documents.read('revocations.json')) ?? {};
  await store.documents.replace('revocations.json', Buffer.from(request), version);
  const next = await startProcessOn(join(temporaryDirectory(), 'data'), usersFile(), ...place);
  assert.equal((await askSigned(next, { method: 'GET', target: records, token: signed })).status, 401);
  await next.end();
  assert.equal((await done(['grant', 'list', ...place])).stdout, '');
});

describe('export and import', () => {
  /** Returns an export without its date and its checksum. */
  const comparable = (text: string): string =>
    text.replace(/"exported":"[^"]*"/, '').replace(/"crc":"[^"]*"/, '');

  /** Returns an export with accounts. It goes through a file, because the tests search the output of commands for secrets. */
  async function exported(data: string, ...args: string[]): Promise<string> {
    const output = join(temporaryDirectory(), 'export');
    await done(['export', '--with-accounts', '--output', output, '--data', data, ...args]);
    return readFileSync(output, 'utf8');
  }

  test('move everything from a data directory to a store and back', async () => {
    const [from, to, back] = [1, 2, 3].map(() => join(temporaryDirectory(), 'data'));
    const [output, returned] = [join(temporaryDirectory(), 'out'), join(temporaryDirectory(), 'back')];
    assert.ok(from !== undefined && to !== undefined && back !== undefined);
    await done(['user', 'add', 'eve', '--secret-stdin', '--data', from], `${secret}\n`);
    await register('--data', from);
    const config = usersFile();
    const server = await startProcessOn(from, config);
    await storeArticles(server.running.url);
    const tokens = await tokensFor(server);
    const signed = await accessToken(server);
    const tag = (await fetch(`${server.running.url}/articles/1`)).headers.get('ETag');
    assert.ok(tag);
    await server.end();

    const words = ['export', '--with-tokens', '--with-accounts', '--output', output, '--data', from];
    const written = await done(words);
    assert.match(
      written.stderr,
      /^exported \d+ items, with oauth\.key, users\.json, clients\.json, consumers\.json\n$/,
    );
    const file = sharedModule(to);
    const before = Date.now();
    const imported = await done(['import', '--input', output, '--module', file]);
    assert.match(
      imported.stderr,
      /imported \d+ items, with oauth\.key, users\.json, clients\.json, consumers\.json\n$/,
    );
    const [noncesUntil = 0] = imports.slice(-1);
    assert.ok(
      noncesUntil >= before + 1_200_999 && noncesUntil <= Date.now() + 1_200_999,
      'requests dated within one window are refused',
    );

    const moved = await startProcessOn(join(temporaryDirectory(), 'data'), config, '--module', file);
    assert.equal((await fetch(`${moved.running.url}/articles/1`)).headers.get('ETag'), tag);
    assert.equal(await requestStatus(moved, tokens.access), 200);
    assert.equal((await askSigned(moved, { method: 'GET', target: records, token: signed })).status, 200);
    const headers = { 'Content-Type': 'application/json' };
    const body = '{"title":"Next","price":{"value":"1.00","currency":"EUR"}}';
    const created = await signedFetch(`${moved.running.url}/articles`, {
      method: 'POST',
      user: 'eve',
      secret,
      headers,
      body,
    });
    assert.equal(
      created.headers.get('Location'),
      '/articles/4',
      'the id of a deleted item is not used again',
    );
    await signedFetch(`${moved.running.url}/articles/4`, { method: 'DELETE', user: 'eve', secret });
    await moved.end();

    await done(['export', '--with-tokens', '--with-accounts', '--output', returned, '--module', file]);
    await done(['import', '--input', returned, '--data', back]);
    const last = await exported(back, '--with-tokens');
    assert.equal(comparable(last), comparable(readFileSync(returned, 'utf8')));
    const end = await startProcessOn(back, config);
    assert.equal((await fetch(`${end.running.url}/articles/1`)).headers.get('ETag'), tag);
    assert.equal(await requestStatus(end, tokens.access), 200);
    // Its nonces are not known, so it rejects signed requests for one window. The key is the same.
    assert.equal(
      readFileSync(join(back, 'oauth.key'), 'utf8'),
      readFileSync(join(from, 'oauth.key'), 'utf8'),
    );
    await end.end();
    assert.match((await end.running.ended).stderr, /full signed requests dated before .* are rejected/);
  });

  test('accounts are only exported on request, and never replaced', async () => {
    const [from, to] = [join(temporaryDirectory(), 'data'), join(temporaryDirectory(), 'data')];
    await done(['user', 'add', 'eve', '--secret-stdin', '--data', from], `${secret}\n`);
    const server = await startServer(['--data', from, ...plain]);
    await storeArticles(server.url);
    await server.stop();
    const items = await done(['export', '--data', from]);
    assert.ok(!items.stdout.includes('users.json'));
    const all = await exported(from);
    await done(['user', 'add', 'eve', '--data', to]);
    const users = readFileSync(join(to, 'users.json'), 'utf8');
    const refused = await call(['import', '--data', to], { input: all });
    assert.equal(refused.status, 1);
    assert.match(
      refused.stderr,
      /^countersign: .*users\.json exists already; import changes no accounts, so remove them first\n$/,
    );
    assert.equal(readFileSync(join(to, 'users.json'), 'utf8'), users);
    rmSync(to, { recursive: true });
    const edited = all.replace(/"storeId":"[^"]*",/, '');
    const cases: readonly (readonly [string, RegExp])[] = [
      [edited.replace('"document":"users.json"', '"document":"../x"'), /its document has an unknown name/],
      [edited.replace('\\"secrets\\"', '\\"secrtes\\"'), /users\.json in standard input cannot be used: /],
      [
        edited.replace('\n{"document"', '\n{"document":"users.json","content":"{}"}\n{"document"'),
        /a document with this name already/,
      ],
    ];
    for (const [input, message] of cases) {
      assert.notEqual(input, edited);
      const invalid = await call(['import', '--data', to], { input });
      assert.equal(invalid.status, 1);
      assert.match(invalid.stderr, message);
    }
    await done(['import', '--data', to], all);
    assert.equal(
      readFileSync(join(to, 'users.json'), 'utf8'),
      readFileSync(join(from, 'users.json'), 'utf8'),
    );
  });

  test('encrypted accounts can only be imported with their key', async () => {
    const data = join(temporaryDirectory(), 'data');
    const [key, other] = [join(temporaryDirectory(), 'key'), join(temporaryDirectory(), 'key')];
    writeFileSync(key, 'ab'.repeat(32), { mode: 0o600 });
    writeFileSync(other, 'cd'.repeat(32), { mode: 0o600 });
    await done(['user', 'add', 'eve', '--secret-stdin', '--data', data, '--key-file', key], `${secret}\n`);
    const server = await startServer(['--data', data, '--key-file', key, ...plain]);
    await server.stop();
    const all = await exported(data);
    assert.ok(!all.includes(secret));
    const file = sharedModule(temporaryDirectory());
    const without = await call(['import', '--module', file], { input: all });
    assert.match(
      without.stderr,
      /^countersign: users\.json in standard input has encrypted secrets, and there is no key/,
    );
    const wrong = await call(['import', '--module', file, '--key-file', other], { input: all });
    assert.match(wrong.stderr, /cannot be decrypted/);
    await done(['import', '--module', file, '--key-file', key], all);
    assert.match((await done(['user', 'list', '--module', file, '--key-file', key])).stdout, /^eve /);
  });

  test('a store that has items, or cannot be transferred, is rejected with one line', async () => {
    const directory = temporaryDirectory();
    const store = openSharedStore(directory);
    await store.apply({ kind: 'create', collection: '/articles', value: {}, at: 1 });
    await store.close();
    const [file, other] = [sharedModule(directory), plainModule(directory)];
    const lines: readonly (readonly [string, string, string])[] = [
      ['import', file, `the store of ${file} has items; import requires a store without items`],
      ['import', other, `nothing can be imported into the store of ${other}: it has no importState`],
      ['export', other, `the store of ${other} cannot be exported: it has no exportState`],
    ];
    for (const [command, module, line] of lines) {
      const { status, stdout, stderr } = await call([command, '--module', module]);
      assert.deepEqual([status, stdout, stderr], [1, '', `countersign: ${line}\n`]);
    }
  });
});

describe('several processes', () => {
  const places: readonly (readonly [string, () => string[]])[] = [
    ['a data directory', () => ['--data', join(temporaryDirectory(), 'data')]],
    ['documents', () => ['--module', sharedModule(temporaryDirectory())]],
  ];
  for (const [what, placeOf] of places) {
    test(`add users to ${what} at once, and none is lost or added twice`, async () => {
      const place = placeOf();
      const names = ['a', 'b', 'c', 'd', 'e', 'same', 'same', 'same'];
      const ended = await Promise.all(names.map((name) => call(['user', 'add', name, ...place])));
      assert.equal(ended.filter(({ status }) => status === 0).length, 6);
      const { stdout } = await done(['user', 'list', ...place]);
      assert.deepEqual([...stdout.matchAll(/^(\w+) /gm)].map(([, name]) => name).sort(), [
        'a',
        'b',
        'c',
        'd',
        'e',
        'same',
      ]);
    });

    test(`add keys and users to ${what} at once, and no two have the same id`, async () => {
      const place = placeOf();
      await done(['user', 'add', 'ann', ...place]);
      await done(['user', 'add', 'bob', ...place]);
      for (const id of ['k1', 'k2', 'k3']) {
        const key = (name: string) =>
          call(['user', 'key', 'add', name, '--key-id', id, '--generate', 'hmac-sha256', ...place]);
        const ended = await Promise.all([key('ann'), key('bob'), call(['user', 'add', id, ...place])]);
        assert.equal(
          ended.filter(({ status }) => status === 0).length,
          1,
          ended.map(({ stderr }) => stderr).join(),
        );
      }
      const config = join(temporaryDirectory(), 'config.json');
      writeFileSync(config, '{}');
      await done(['check', '--no-tls', '--config', config, ...place]);
    });
  }

  test('that start at the same time with one store use one master key, also after a restart', async () => {
    const directory = temporaryDirectory();
    const file = sharedModule(directory);
    await register('--module', file);
    const start = () => startProcessOn(join(temporaryDirectory(), 'data'), usersFile(), '--module', file);
    const [one, other] = await Promise.all([start(), start()]);
    const signed = await accessToken(one);
    const ask = (server: LiveServer) => askSigned(server, { method: 'GET', target: records, token: signed });
    assert.equal((await ask(one)).status, 200);
    // Each process reads the items of this store when it starts, and only the key is shared while they run.
    await other.end();
    await one.end();
    const next = await start();
    assert.equal((await ask(next)).status, 200);
    await next.end();
  });
});

test('a user of the module is listed, and cannot be changed by a command', async () => {
  const file = sharedModule(temporaryDirectory(), `users: { eve: { secret: '${secret}' } }`);
  const place = ['--module', file];
  for (const command of [
    ['user', 'add', 'eve'],
    ['user', 'rotate', 'eve'],
    ['user', 'remove', 'eve'],
  ]) {
    const { status, stderr } = await call([...command, ...place]);
    assert.deepEqual(
      [status, stderr],
      [1, `countersign: the user eve is declared in ${file}; change it there\n`],
    );
  }
  assert.equal((await done(['user', 'list', ...place])).stdout, `eve  in ${file}\n`);
  const { status, stderr } = await call(['user', 'add', 'bob', '--secret-stdin', ...place], {
    input: `${secret}\n`,
  });
  assert.equal(status, 1);
  assert.match(stderr, /already the secret of the user eve/);
});
