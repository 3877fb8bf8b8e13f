import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { formatLine } from '../../../src/store/log/line.ts';
import { formatHead } from '../../../src/store/record.ts';
import { recover } from '../../../src/store/recover.ts';
import { call, type Ended, startServer } from '../../support/cli/command.ts';
import { begun, History } from '../../support/store/history.ts';
import { make, seen } from '../../support/store/snapshot.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const articles = '/articles';

function article(title: string): { title: string; price: { currency: string; value: string } } {
  return { title, price: { currency: 'EUR', value: '1.00' } };
}

/** Items in a snapshot and in a journal; the newest one was deleted, and a client chose the id 9. */
function history(): History {
  const made = new History();
  const create = (title: string): unknown =>
    made.add({ kind: 'create', collection: articles, value: article(title), at: begun });
  create('One');
  create('Two');
  made.snapshot();
  const value = article('Nine');
  made.add({ kind: 'put', collection: articles, id: '9', expected: 'absent', value, at: begun + 1 });
  create('Three');
  const expected = made.state.read(articles, '3')?.revision ?? 0;
  made.add({ kind: 'delete', collection: articles, id: '3', expected, at: begun + 2 });
  return made;
}

function createDirectory({ files }: History): string {
  const data = join(temporaryDirectory(), 'data');
  mkdirSync(data, { mode: 0o700 });
  for (const [name, content] of files) writeFileSync(join(data, name), content, { mode: 0o600 });
  return data;
}

function freshDirectory(): string {
  return join(temporaryDirectory(), 'fresh');
}

async function exported(data: string, ...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await call(['export', '--data', data, ...args]);
  assert.equal(status, 0, stderr);
  return stdout;
}

async function imported(input: string, data = freshDirectory()): Promise<Ended & { data: string }> {
  return { data, ...(await call(['import', '--data', data], { input })) };
}

/** All files but those of the lock. */
function contents(directory: string): [string, string][] {
  return readdirSync(directory)
    .filter((name) => !name.startsWith('lock.'))
    .map((name) => [name, readFileSync(join(directory, name), 'latin1')]);
}

/** An export that somebody edited: without its store id. */
function edited(text: string): string {
  return text.replace(/"storeId":"[^"]*",/, '');
}

describe('export', () => {
  test('writes a header, the counters of each collection, its items in the order of creation, and an end', async () => {
    const before = Date.now();
    const lines = (await exported(createDirectory(history()))).trimEnd().split('\n');
    const parsed: Record<string, unknown>[] = lines.map((line) => JSON.parse(line));
    const { exported: at, ...header } = parsed[0] ?? {};
    const moment = Date.parse(String(at));
    assert.ok(before <= moment && moment <= Date.now());
    assert.deepEqual(header, { format: 'countersign-export', version: 1, storeId: 'k3x9', revision: 5 });
    const time = (ms: number): string => new Date(begun + ms).toISOString();
    const collection = { collection: articles };
    assert.deepEqual(parsed.slice(1, -1), [
      { ...collection, counter: 3, chosen: [[9, 9]], sequence: 4, revision: 5, modified: time(2) },
      { ...collection, id: '1', sequence: 1, revision: 1, modified: time(0), value: article('One') },
      { ...collection, id: '2', sequence: 2, revision: 2, modified: time(0), value: article('Two') },
      { ...collection, id: '9', sequence: 3, revision: 3, modified: time(1), value: article('Nine') },
    ]);
    const { end, items, crc } = parsed.at(-1) ?? {};
    assert.deepEqual([end, items], [true, 3]);
    assert.match(String(crc), /^[0-9a-f]{8}$/);
  });

  test('writes a file that only its owner can read', async () => {
    const data = createDirectory(history());
    const output = join(temporaryDirectory(), 'export.jsonl');
    const first = await call(['export', '--data', data, '--output', output]);
    assert.deepEqual(first, { status: 0, stdout: '', stderr: 'exported 3 items\n' });
    assert.equal(statSync(output).mode & 0o777, 0o600);
  });
});

describe('import', () => {
  test('creates a store with the same items, order, times, revisions, counters and store id', async () => {
    const made = history();
    const text = await exported(createDirectory(made));
    const { status, stderr, data } = await imported(text);
    assert.deepEqual([status, stderr], [0, 'imported 3 items\n']);
    const found = await recover({ directory: data });
    assert.deepEqual(found.reports, []);
    assert.equal(found.storeId, made.storeId);
    assert.deepEqual(seen(found.state), seen(made.state));
    const drawn = ['4', '5', '6', '7', '8', '10'].map(() => {
      return make(found.state, { kind: 'create', collection: articles, value: {}, at: begun }).id;
    });
    assert.deepEqual(drawn, ['4', '5', '6', '7', '8', '10'], 'neither 3 nor 9 is used again');
    for (const name of ['store.jsonl', 'journal-1.jsonl'])
      assert.equal(statSync(join(data, name)).mode & 0o777, 0o600);
  });

  test('preserves entity tags and times, so that a server returns the same responses', async () => {
    const old = createDirectory(history());
    const answers = async (data: string): Promise<unknown> => {
      const server = await startServer(['--data', data, '--port', '0', '--no-tls']);
      const paths = ['/articles', '/articles/1', '/articles/9', '/articles/3'];
      const found = await Promise.all(
        paths.map(async (path) => {
          const response = await fetch(new URL(path, server.url), { headers: { connection: 'close' } });
          const { headers, status } = response;
          return [
            status,
            headers.get('etag'),
            headers.get('last-modified'),
            status === 200 && (await response.text()),
          ];
        }),
      );
      await server.stop();
      return found;
    };
    const before = await answers(old);
    const { status, stderr, data } = await imported(await exported(old));
    assert.equal(status, 0, stderr);
    assert.deepEqual(await answers(data), before);
  });

  test('imports nothing from a truncated export, wherever it ends', async () => {
    const text = await exported(createDirectory(history()));
    for (const whole of [text, edited(text)]) {
      for (let end = 0; end < whole.length - 1; end += 7) {
        const { status, stderr, data } = await imported(whole.slice(0, end));
        assert.equal(status, 1, `${end}`);
        assert.match(stderr, /^countersign: standard input cannot be used: line [0-9]+, at byte [0-9]+: /);
        assert.equal(existsSync(data), false);
      }
    }
  });

  test('rejects an export that was changed but still has its store id', async () => {
    const text = await exported(createDirectory(history()));
    const { status, stderr } = await imported(text.replace('"Two"', '"Zwei"'));
    assert.equal(status, 1);
    assert.match(stderr, /line 6, .*: the export was changed since it was written; remove "storeId"/);
  });

  test('generates new entity tags, numbers and times for an edited export', async () => {
    const item = JSON.stringify({ collection: articles, id: 'new', value: article('New') });
    const text = edited(await exported(createDirectory(history())))
      .replace('"Two"', '"Zwei"')
      .replace('{"end"', `${item}\n{"end"`);
    const { status, stderr, data } = await imported(text);
    assert.equal(status, 0, stderr);
    assert.match(stderr, /has no storeId: all entity tags are new/);
    const { state, storeId } = await recover({ directory: data });
    assert.notEqual(storeId, 'k3x9');
    const { entries } = state.list(articles, 0, 10);
    assert.deepEqual(
      entries.map(({ id, sequence, revision, value }) => [id, sequence, revision, value['title']]),
      [
        ['1', 1, 1, 'One'],
        ['2', 2, 2, 'Zwei'],
        ['9', 3, 3, 'Nine'],
        ['new', 4, 6, 'New'],
      ],
    );
    assert.ok((entries[3]?.modified ?? 0) > begun);
    assert.equal(state.revision, 6);
  });

  test('does not reuse the id of an item that was imported without counters', async () => {
    const header = '{"format":"countersign-export","version":1}';
    const item = JSON.stringify({ collection: articles, id: '1', value: article('One') });
    const { data, status } = await imported(`${header}\n${item}\n{"end":true}\n`);
    assert.equal(status, 0);
    const { state } = await recover({ directory: data });
    assert.equal(make(state, { kind: 'create', collection: articles, value: {}, at: begun }).id, '2');
  });

  test('reports items of undeclared collections', async () => {
    const text = edited(await exported(createDirectory(history()))).replaceAll('"/articles"', '"/artcles"');
    const { status, stderr } = await imported(text);
    assert.equal(status, 0);
    assert.match(stderr, /^the items of \/artcles are not served: no such collection is declared$/m);
  });

  const refusals: readonly [what: string, edit: (text: string) => string, message: RegExp][] = [
    [
      'a line that is not JSON',
      (text) => text.replace('"Two"', '"Two'),
      /line 4, at byte \d+: it is not JSON/,
    ],
    ['a line that is no object', (text) => text.replace('{"end"', '7\n{"end"'), /line 6, .*not an object/],
    [
      'a file that is not an export',
      () => '{"a":1}\n',
      /line 1, .*the header has a member that is not known/,
    ],
    ['another format', (text) => text.replace('"countersign-export"', '"x"'), /line 1, .*not the header of/],
    ['another version', (text) => text.replace('"version":1', '"version":3'), /line 1, .*its version is 3/],
    [
      'a store id of other characters',
      (text) => text.replace('"version":1', '"version":1,"storeId":"a\\"b"'),
      /line 1, .*letters and digits/,
    ],
    ['a line behind the end', (text) => `${text}{}\n`, /line 7, .*a line follows the end/],
    [
      'a member that is not known',
      (text) =>
        text.replace(
          '{"collection":"/articles","id":"2"',
          '{"colour":"red","collection":"/articles","id":"2"',
        ),
      /line 4, .*a member that is not known/,
    ],
    ['an id twice', (text) => text.replace('"id":"2"', '"id":"1"'), /line 4, .*an item with this id already/],
    [
      'an id that no path can have',
      (text) => text.replace('"id":"2"', '"id":"a/b"'),
      /line 4, .*its id has a slash/,
    ],
    [
      'an order',
      (text) => text.replace('"sequence":2', '"sequence":1'),
      /line 4, .*its sequence is not above/,
    ],
    [
      'a date',
      (text) => text.replace(/("id":"2".*?"modified":)"[^"]*"/, '$1"yesterday"'),
      /line 4, .*not a date/,
    ],
    [
      'a value that does not fit',
      (text) => text.replace('"Two"', '{"a":"b"}'),
      /line 4, .*\/articles\/2 does not match/,
    ],
    [
      'counters twice',
      (text) => text.replace('{"end"', '{"collection":"/articles"}\n{"end"'),
      /line 6, .*has items or counters already/,
    ],
    [
      'chosen ids that descend',
      (text) => text.replace('[[9,9]]', '[[2,2]]'),
      /line 2, .*is not in ascending order/,
    ],
  ];
  for (const [what, edit, message] of refusals) {
    test(`rejects ${what}, and imports nothing`, async () => {
      const text = edited(await exported(createDirectory(history())));
      const { status, stderr, data } = await imported(edit(text));
      assert.equal(status, 1);
      assert.match(stderr, message);
      assert.equal(stderr.trimEnd().split('\n').length, 1);
      assert.equal(existsSync(data), false);
    });
  }

  test('can be repeated after an interruption, and does not change existing users', async () => {
    const text = await exported(createDirectory(history()));
    const data = temporaryDirectory();
    const header = { storeId: 'k3x9', generation: 1, revision: 5, sequence: 0, at: begun };
    const users = '{"version":1,"users":{}}';
    const files = [
      ['journal-1.jsonl', formatLine(formatHead('journal', header))],
      ['store.jsonl.99-1.tmp', '{"version":2,'],
      ['users.json', users],
    ] as const;
    for (const [name, content] of files) writeFileSync(join(data, name), content, { mode: 0o600 });
    await assert.rejects(recover({ directory: data }), /store\.jsonl cannot be used: it is missing/);
    const { status, stderr } = await imported(text, data);
    assert.equal(status, 0, stderr);
    assert.deepEqual(
      contents(data)
        .map(([name]) => name)
        .sort(),
      ['journal-1.jsonl', 'store.jsonl', 'users.json'],
    );
    assert.equal((await recover({ directory: data })).storeId, 'k3x9');
  });
});

test('export accepts the key of encrypted accounts, and the accounts stay encrypted', async () => {
  const directory = temporaryDirectory();
  const [data, key] = [join(directory, 'data'), join(directory, 'key')];
  writeFileSync(key, `${'ab'.repeat(32)}\n`, { mode: 0o600 });
  assert.equal((await call(['user', 'add', 'ann', '--data', data, '--key-file', key])).status, 0);
  const server = await startServer(['--data', data, '--key-file', key, '--port', '0', '--no-tls']);
  await server.stop();
  const args = ['--data', data, '--with-accounts'];
  const exported = await call(['export', ...args, '--key-file', key]);
  assert.equal(exported.status, 0, exported.stderr);
  assert.match(exported.stdout, /sealed/);
  assert.equal((await call(['export', ...args])).status, 0);
});
