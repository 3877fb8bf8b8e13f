import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { call, startServer } from '../../support/cli/command.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const notes = {
  element: 'notes',
  item: 'note',
  fields: { text: { type: 'text' } },
  access: { read: 'anyone' },
};

test('before the first start, check reports what a start would create, and creates nothing', async () => {
  const data = join(temporaryDirectory(), 'data');
  const { status, stdout, stderr } = await call(['check', '--data', data]);
  assert.equal(status, 0, stderr);
  assert.equal(
    stdout,
    [
      'address      http://127.0.0.1:8080',
      'address      https://127.0.0.1:8443',
      `certificate  ${data}/tls/certificate.pem, self-signed, to be generated`,
      `data         ${data}, to be created`,
      'users        none; the first start creates demo',
      'collections  /articles, /users/{username}/financialrecords',
      '',
    ].join('\n'),
  );
  assert.ok(!existsSync(data));
});

test('check reports a free port and storage in memory', async () => {
  const { stdout } = await call(['check', '--memory', '--port', '0', '--no-tls', '--host', '::1']);
  assert.match(stdout, /^address {6}http on a free port of \[::1\]\ndata {9}in memory/);
});

test('check reports the users, items and process of a directory in use, and changes nothing', async () => {
  const directory = temporaryDirectory();
  const data = join(directory, 'data');
  const config = join(directory, 'config.json');
  const article = { title: 'One', price: { value: '1.00', currency: 'EUR' } };
  const users = { ann: { secret: 'hidden' } };
  writeFileSync(config, JSON.stringify({ data, users, seed: { '/articles': [article, article] } }), {
    mode: 0o600,
  });
  await call(['user', 'add', 'bea', '--data', data]);
  const server = await startServer(['--config', config, '--port', '0']);
  const before = readContents(data);
  const during = await call(['check', '--config', config]);
  assert.equal(during.status, 0, during.stderr);
  assert.match(during.stdout, new RegExp(`^in use {7}by process ${server.pid}: `, 'm'));
  assert.match(during.stdout, /^users {8}bea, ann$/m);
  assert.match(during.stdout, /^items {8}\/articles: 2$/m);
  assert.ok(!during.stdout.includes('hidden'));
  assert.deepEqual(readContents(data), before);
  await server.stop();
  assert.doesNotMatch((await call(['check', '--config', config])).stdout, /in use/);
});

function readContents(directory: string): Map<string, string> {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !/^users\.(lock|seen)/.test(name) && statSync(join(directory, name)).isFile(),
  );
  return new Map(names.map((name) => [name, readFileSync(join(directory, name), 'utf8')]));
}

describe('check exits with 1 and reports', () => {
  const cases: readonly [what: string, files: Record<string, unknown>, lines: RegExp[]][] = [
    [
      'a store and a list of users, both damaged',
      { 'store.jsonl': '{', 'users.json': '[' },
      [/store\.jsonl/, /users\.json/],
    ],
    [
      'a key and a value',
      { 'c.json': { prot: 1, window: 0 } },
      [/unknown key prot/, /window must be .*, is 0/],
    ],
    [
      'a collection where the items of another are',
      { 'c.json': { collections: { '/n': notes, '/n/{x}': notes } } },
      [/are the same path/],
    ],
    ['a seed of no collection', { 'c.json': { seed: { '/n': [] } } }, [/seed\.\/n: /]],
  ];
  for (const [what, files, lines] of cases) {
    test(what, async () => {
      const data = temporaryDirectory();
      for (const [name, content] of Object.entries({ 'c.json': {}, ...files })) {
        writeFileSync(join(data, name), typeof content === 'string' ? content : JSON.stringify(content), {
          mode: 0o600,
        });
      }
      const words = ['check', '--data', data, '--config', join(data, 'c.json')];
      const { status, stdout, stderr } = await call(words);
      assert.equal(status, 1);
      assert.equal(stdout, '');
      const told = stderr.trimEnd().split('\n');
      assert.equal(told.length, lines.length, stderr);
      for (const [at, line] of lines.entries()) assert.match(told[at] ?? '', line);
    });
  }

  test('a data directory that cannot be created or used', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'file'), '');
    for (const path of ['file', 'file/below']) {
      const { status, stderr } = await call(['check', '--data', join(directory, path)]);
      assert.equal(status, 1);
      assert.match(stderr, /cannot be the data directory: .*file is not a directory/);
    }
    const closed = join(directory, 'closed');
    mkdirSync(closed);
    chmodSync(closed, 0o500);
    // Whoever may do everything is not kept out by a mode.
    if (process.getuid?.() === 0) return;
    assert.match((await call(['check', '--data', join(closed, 'data')])).stderr, /no permission to write to/);
  });
});

test('check reports what a declared message leaves unsigned, for a preset as a note', async () => {
  const config = join(temporaryDirectory(), 'config.json');
  const signature = { field: 'X-Signature' };
  const schemes = {
    own: { message: '{method}{path}{body}', signature, user: 'ann' },
    all: { message: '{method} {target}\n{body-sha256}', signature: { field: 'X-Sign' }, user: 'ann' },
    mail: { preset: 'mailgun', user: 'ann' },
  };
  const user = { secret: 'the secret of ann', schemes: ['own'] };
  writeFileSync(config, JSON.stringify({ users: { ann: user }, schemes }), { mode: 0o600 });
  const { status, stderr } = await call(['check', '--memory', '--no-tls', '--config', config]);
  assert.equal(status, 0, stderr);
  const lines = stderr.split('\n').filter((line) => line.includes('unsigned'));
  assert.deepEqual(lines, [
    `countersign: ${config}: schemes.own.message leaves the query unsigned: POST /a?b=1 could be changed to POST /a?b=2 unnoticed`,
    `countersign: note: ${config}: schemes.mail: mailgun leaves the method, the path, the query and the content unsigned: POST /a?b=1 with the content "{\\"a\\":1}" could be changed to DELETE /x?b=2 with the content "{\\"a\\":2}" unnoticed`,
  ]);
});
