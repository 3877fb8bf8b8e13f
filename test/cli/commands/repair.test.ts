import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { recover } from '../../../src/store/recover.ts';
import type { Scanned } from '../../../src/store/scan.ts';
import { call, type Ended } from '../../support/cli/command.ts';
import { begun, History } from '../../support/store/history.ts';
import { seen } from '../../support/store/snapshot.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const articles = '/articles';

/** An article as it is kept. */
function article(title: string): { title: string; price: { currency: string; value: string } } {
  return { title, price: { currency: 'EUR', value: '1.00' } };
}

/** A store with two snapshots, with 1 to 4 in the newest, 3 changed and 5 made since. */
function history(): History {
  const made = new History();
  const create = (title: string): void =>
    void made.add({ kind: 'create', collection: articles, value: article(title), at: begun });
  create('One');
  create('Two');
  made.snapshot();
  create('Three');
  create('Four');
  made.snapshot();
  const expected = made.state.read(articles, '3')?.revision ?? 0;
  made.add({ kind: 'put', collection: articles, id: '3', expected, value: article('Third'), at: begun });
  create('Five');
  return made;
}

/** A data directory with these files, and the path of one that is not there. */
function createDirectory(files: Iterable<readonly [string, string]>): { data: string; fresh: string } {
  const directory = temporaryDirectory();
  const data = join(directory, 'data');
  mkdirSync(data, { mode: 0o700 });
  for (const [name, content] of files) writeFileSync(join(data, name), content, { mode: 0o600 });
  return { data, fresh: join(directory, 'fresh') };
}

function contents(directory: string): Map<string, string> {
  return new Map(
    readdirSync(directory)
      .filter((name) => !name.startsWith('lock.'))
      .map((name) => [name, readFileSync(join(directory, name), 'latin1')]),
  );
}

/** The titles of the articles by their ids. */
function titles({ state }: Scanned): Record<string, unknown> {
  const { entries } = state.list(articles, 0, 100);
  return Object.fromEntries(entries.map(({ id, value }) => [id, value['title']]));
}

const all = { 1: 'One', 2: 'Two', 3: 'Third', 4: 'Four', 5: 'Five' };

describe('check', () => {
  test('reports the items of snapshot and journal, and an incomplete end that a start would cut off', async () => {
    const { files } = history();
    const { data } = createDirectory(files);
    const whole = await call(['check', '--data', data]);
    assert.equal(whole.status, 0, whole.stderr);
    assert.match(whole.stdout, /^items {8}\/articles: 5\njournal {6}2 changes since the snapshot$/m);
    writeFileSync(join(data, 'journal-3.jsonl'), `${files.get('journal-3.jsonl')}{"crc":"0`);
    const before = contents(data);
    const torn = await call(['check', '--data', data]);
    assert.equal(torn.status, 0);
    assert.match(
      torn.stderr,
      /journal-3\.jsonl has an incomplete end.* line 4, at byte \d+, .*moved to torn-3-\d+\.bin/,
    );
    assert.deepEqual(contents(data), before);
  });
});

describe('check --repair', () => {
  async function repaired(
    files: Iterable<readonly [string, string]>,
  ): Promise<{ ended: Ended; found: Scanned; fresh: string }> {
    const { data, fresh } = createDirectory(files);
    const before = contents(data);
    const ended = await call(['check', '--repair', fresh, '--data', data]);
    assert.equal(ended.status, 0, ended.stderr);
    assert.deepEqual(contents(data), before, 'the old one is not touched');
    const check = await call(['check', '--data', fresh]);
    assert.equal(check.status, 0, check.stderr);
    return { ended, found: await recover({ directory: fresh }), fresh };
  }

  test('copies an undamaged directory with users and certificate, and reports no loss', async () => {
    const made = history();
    const { data, fresh } = createDirectory([...made.files, ['users.json', '{"version":1,"users":{}}']]);
    mkdirSync(join(data, 'tls'), { mode: 0o700 });
    writeFileSync(join(data, 'tls', 'key.pem'), 'key', { mode: 0o600 });
    const { status, stdout, stderr } = await call(['check', '--data', data, `--repair=${fresh}`]);
    assert.equal(status, 0, stderr);
    assert.match(
      stdout,
      /^copied {7}\/articles: 5\ncopied {7}users\.json, tls\nlost {9}nothing\nwritten to {3}.*fresh\n$/,
    );
    assert.equal(statSync(fresh).mode & 0o777, 0o700);
    assert.equal(statSync(join(fresh, 'store.jsonl')).mode & 0o777, 0o600);
    assert.equal(readFileSync(join(fresh, 'tls', 'key.pem'), 'utf8'), 'key');
    assert.ok(existsSync(join(fresh, 'users.json')));
    const found = await recover({ directory: fresh });
    assert.equal(found.storeId, made.storeId);
    assert.deepEqual(seen(found.state), seen(made.state));
  });

  test('recovers changes after a damaged line of a journal, and reports the lost changes', async () => {
    const { files } = history();
    const journal = (files.get('journal-3.jsonl') ?? '').replace('Third', 'Thirst');
    const { ended, found } = await repaired([...files, ['journal-3.jsonl', journal]]);
    assert.deepEqual(titles(found), { ...all, 3: 'Three' });
    assert.match(ended.stderr, /journal-3\.jsonl, line 2: it cannot be read/);
    assert.match(ended.stderr, /journal-3\.jsonl, before line 3: change 5 is lost/);
    assert.match(ended.stdout, /copied {7}\/articles: 5\nlost {9}see the messages above/);
    assert.notEqual(found.storeId, 'k3x9', 'no entity tag from before may fit');
  });

  test('recovers items from the previous snapshot and all journals if the newest snapshot is damaged', async () => {
    const { files } = history();
    const store = (files.get('store.jsonl') ?? '')
      .replace('{"id":"2"', '["id":"2"')
      .replace('"sequence":2', '"sequence":3');
    const lacking = [...files].filter(([name]) => name !== 'journal-2.jsonl');
    const { ended, found } = await repaired([...lacking, ['store.jsonl', store]]);
    assert.deepEqual(titles(found), all);
    assert.match(ended.stderr, /store\.jsonl, line 2, part 2: it cannot be read/);
    assert.match(ended.stderr, /store\.jsonl, line 2: recovered, but perhaps not as it was written/);
  });

  test('recovers items from journals without snapshots, and from snapshots without journals', async () => {
    const { files } = history();
    const journals = [...files].filter(([name]) => name.startsWith('journal'));
    const { found } = await repaired(journals);
    assert.deepEqual(titles(found), { 3: 'Third', 4: 'Four', 5: 'Five' });
    const snapshots = [...files].filter(([name]) => name.startsWith('store'));
    const other = await repaired(snapshots);
    assert.deepEqual(titles(other.found), { 1: 'One', 2: 'Two', 3: 'Three', 4: 'Four' });
  });

  test('reports a journal that is missing between others', async () => {
    const { files } = history();
    const journals = [...files].flatMap(([name, content]): [string, string][] =>
      name.startsWith('journal') ? [[name.replace('3', '4'), content]] : [],
    );
    const { ended } = await repaired(journals);
    assert.match(ended.stderr, /journal-3\.jsonl is missing with all its changes/);
    assert.doesNotMatch(ended.stderr, /journal-2\.jsonl is missing/);
  });
});
