import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isLive } from '../../../src/oauth/grants.ts';
import { grantsCollection, readGrant, readToken, tokensCollection } from '../../../src/oauth/records.ts';
import { recover } from '../../../src/store/recover.ts';
import { call } from '../../support/cli/command.ts';
import { begun, History } from '../../support/store/history.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const grant = {
  mechanism: 'oauth2',
  client: 'app',
  user: 'ann',
  scopes: ['read'],
  issued: begun,
  ends: begun + 1000,
  revoked: false,
};
const token = {
  mechanism: 'oauth2',
  kind: 'access',
  client: 'app',
  user: 'ann',
  scopes: ['read'],
  grant: 'g1',
  issued: begun,
  expires: begun + 1000,
  used: false,
  details: {},
};

/** A store with a grant and a token in the snapshot, a token since, and an article. */
function history(): History {
  const made = new History();
  const put = (collection: string, id: string, value: typeof grant | typeof token): void =>
    void made.add({ kind: 'put', collection, id, expected: 'absent', value, at: begun });
  put(grantsCollection, 'g1', grant);
  put(tokensCollection, 'A'.repeat(43), token);
  made.snapshot();
  put(tokensCollection, 'B'.repeat(43), { ...token, expires: begun + 2000 });
  const value = { title: 'Tea', price: { currency: 'EUR', value: '1.00' } };
  made.add({ kind: 'create', collection: '/articles', value, at: begun });
  return made;
}

function createDirectory(files: Iterable<readonly [string, string]>): string {
  const data = join(temporaryDirectory(), 'data');
  mkdirSync(data, { mode: 0o700 });
  for (const [name, content] of files) writeFileSync(join(data, name), content, { mode: 0o600 });
  return data;
}

/** A configuration whose one collection has a path of one segment, as the name of no other collection may fit. */
function openConfiguration(): string {
  const path = join(temporaryDirectory(), 'config.json');
  const collection = { element: 'things', item: 'thing', fields: { client: { type: 'integer' } } };
  writeFileSync(path, JSON.stringify({ collections: { '/{name}': collection } }));
  return path;
}

describe('stored OAuth tokens and grants', () => {
  test('are counted by check, whatever collections are declared', async () => {
    const data = createDirectory(history().files);
    for (const args of [[], ['--config', openConfiguration()]]) {
      const withoutWarnings = (text: string): string =>
        text.replace(/^.*(?:no nonce files|no longer shown).*\n/gm, '');
      const { status, stdout, stderr } = await call(['check', '--data', data, ...args]);
      assert.deepEqual([status, withoutWarnings(stderr)], [0, '']);
      assert.match(stdout, /^items {8}OAuth grants: 1$/m);
      assert.match(stdout, /^items {8}OAuth tokens: 2$/m);
    }
  });

  test('cannot be seeded', async () => {
    const path = join(temporaryDirectory(), 'config.json');
    writeFileSync(path, JSON.stringify({ seed: { [tokensCollection]: [{}] } }));
    const { status, stderr } = await call(['check', '--memory', '--config', path]);
    assert.equal(status, 1);
    assert.match(stderr, /seed\.oauth:tokens: is not the path of a collection/);
  });

  /** Runs `export`, and imports what `edit` makes of it into a new directory. */
  async function moved(args: readonly string[], edit = (text: string): string => text) {
    const exported = await call(['export', '--data', createDirectory(history().files), ...args]);
    assert.equal(exported.status, 0, exported.stderr);
    const data = join(temporaryDirectory(), 'fresh');
    const input = edit(exported.stdout);
    return { exported, input, data, ...(await call(['import', '--data', data], { input })) };
  }

  test('are omitted from an export, which reports it', async () => {
    const { exported, status, data } = await moved([]);
    assert.equal(status, 0);
    assert.doesNotMatch(exported.stdout, /oauth|A{43}/);
    assert.match(exported.stderr, /^exported 1 item, without OAuth grants and tokens$/m);
    const { state } = await recover({ directory: data });
    assert.deepEqual(
      [...state.collections()].map(({ path }) => path),
      ['/articles'],
    );
  });

  test('are exported with --with-tokens, and are valid after an import', async () => {
    const { status, stderr, data } = await moved(['--with-tokens']);
    assert.equal(status, 0, stderr);
    assert.doesNotMatch(stderr, /no such collection is declared/);
    const { state } = await recover({ directory: data });
    const [kept, given] = [state.read(tokensCollection, 'A'.repeat(43)), state.read(grantsCollection, 'g1')];
    assert.ok(kept !== undefined && given !== undefined);
    const found = { token: readToken(kept), grant: readGrant(given), revision: kept.revision };
    assert.ok(found.token !== undefined);
    assert.equal(isLive({ ...found, token: found.token }, begun), true);
  });

  test('are rejected by an import if they are malformed', async () => {
    const { status, stderr, data } = await moved(['--with-tokens'], (text) =>
      text.replace('"kind":"access"', '"kind":"acess"'),
    );
    assert.equal(status, 1);
    assert.match(
      stderr,
      /standard input cannot be used: line 5, .*oauth:tokens\/A{43} is not an OAuth token/,
    );
    assert.equal(existsSync(data), false);
  });

  const others = ['users.json', 'clients.json', 'consumers.json'];

  test('are copied by a repair that loses nothing, with users, clients and consumers', async () => {
    const data = createDirectory(history().files);
    for (const name of others)
      writeFileSync(join(data, name), JSON.stringify({ version: 1, [name.replace('.json', '')]: {} }));
    writeFileSync(join(data, 'oauth.key'), `${'A'.repeat(43)}\n`);
    const fresh = join(temporaryDirectory(), 'fresh');
    const { status, stdout, stderr } = await call(['check', '--repair', fresh, '--data', data]);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^copied {7}OAuth tokens: 2$/m);
    for (const name of [...others, 'oauth.key'])
      assert.equal(readFileSync(join(fresh, name), 'utf8'), readFileSync(join(data, name), 'utf8'));
    assert.ok((await recover({ directory: fresh })).state.read(tokensCollection, 'B'.repeat(43)));
  });

  test('are dropped by a repair that loses something, because a use or revocation may be lost', async () => {
    const { files } = history();
    const data = createDirectory(files);
    const name = readdirSync(data).findLast((each) => each.startsWith('journal-')) ?? '';
    const lines = readFileSync(join(data, name), 'utf8').split('\n');
    writeFileSync(join(data, name), [lines[0], 'damaged', ...lines.slice(2)].join('\n'));
    const fresh = join(temporaryDirectory(), 'fresh');
    const { status, stderr } = await call(['check', '--repair', fresh, '--data', data]);
    assert.equal(status, 0, stderr);
    assert.match(stderr, /all OAuth tokens and grants are dropped, because the use or revocation/);
    const { state } = await recover({ directory: fresh });
    assert.deepEqual(
      [...state.collections()].map(({ path, count }) => [path, count]).filter(([, count]) => count !== 0),
      [['/articles', 1]],
    );
  });
});
