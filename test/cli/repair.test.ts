import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type Recovered, recover } from '../../src/store/recovery.ts';
import { begun, History } from '../store/history.ts';
import { seen } from '../store/snapshot.ts';
import { call, type Ended, run, temporaryDirectory } from './command.ts';

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
function directoryOf(files: Iterable<readonly [string, string]>): { data: string; fresh: string } {
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
function titles({ state }: Recovered): Record<string, unknown> {
  const { entries } = state.list(articles, 0, 100);
  return Object.fromEntries(entries.map(({ id, value }) => [id, value['title']]));
}

const all = { 1: 'One', 2: 'Two', 3: 'Third', 4: 'Four', 5: 'Five' };

describe('check', () => {
  test('tells what is in snapshot and journal, and of a torn end that a start would cut off', async () => {
    const { files } = history();
    const { data } = directoryOf(files);
    const whole = await call(['check', '--data', data]);
    assert.equal(whole.status, 0, whole.stderr);
    assert.match(whole.stdout, /^items {8}\/articles: 5\njournal {6}2 changes since the snapshot$/m);
    writeFileSync(join(data, 'journal-3.jsonl'), `${files.get('journal-3.jsonl')}{"crc":"0`);
    const before = contents(data);
    const torn = await call(['check', '--data', data]);
    assert.equal(torn.status, 0);
    assert.match(
      torn.stderr,
      /journal-3\.jsonl has a torn end.* line 4, at byte \d+, .*kept in torn-3-\d+\.bin/,
    );
    assert.deepEqual(contents(data), before);
  });

  test('says of damage what a start would say', async () => {
    const { files } = history();
    const { data } = directoryOf(files);
    const journal = join(data, 'journal-3.jsonl');
    writeFileSync(journal, readFileSync(journal, 'utf8').replace('Third', 'Thirst'));
    const { status, stderr } = await call(['check', '--data', data]);
    assert.equal(status, 1);
    assert.match(
      stderr,
      /journal-3\.jsonl cannot be used: line 2, at byte \d+: .*countersign check --repair NEWDIR/,
    );
  });
});

describe('check --repair', () => {
  async function repaired(
    files: Iterable<readonly [string, string]>,
  ): Promise<{ ended: Ended; found: Recovered; fresh: string }> {
    const { data, fresh } = directoryOf(files);
    const before = contents(data);
    const ended = await call(['check', '--repair', fresh, '--data', data]);
    assert.equal(ended.status, 0, ended.stderr);
    assert.deepEqual(contents(data), before, 'the old one is not touched');
    const check = await call(['check', '--data', fresh]);
    assert.equal(check.status, 0, check.stderr);
    return { ended, found: await recover({ directory: fresh }), fresh };
  }

  test('of what is not damaged writes the same, with users and certificate, and nothing is lost', async () => {
    const made = history();
    const { data, fresh } = directoryOf([...made.files, ['users.json', '{"version":1,"users":{}}']]);
    mkdirSync(join(data, 'tls'), { mode: 0o700 });
    writeFileSync(join(data, 'tls', 'key.pem'), 'key', { mode: 0o600 });
    const { status, stdout, stderr } = await run(['check', '--data', data, `--repair=${fresh}`]);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^saved {8}\/articles: 5\nnothing {6}is lost\nwritten to {3}.*fresh\n$/);
    assert.equal(statSync(fresh).mode & 0o777, 0o700);
    assert.equal(statSync(join(fresh, 'store.json')).mode & 0o777, 0o600);
    assert.equal(readFileSync(join(fresh, 'tls', 'key.pem'), 'utf8'), 'key');
    assert.ok(existsSync(join(fresh, 'users.json')));
    const found = await recover({ directory: fresh });
    assert.equal(found.lineage, made.lineage);
    assert.deepEqual(seen(found.state), seen(made.state));
  });

  test('saves what stands behind a bad line of a journal, and says which changes are lost', async () => {
    const { files } = history();
    const journal = (files.get('journal-3.jsonl') ?? '').replace('Third', 'Thirst');
    const { ended, found } = await repaired([...files, ['journal-3.jsonl', journal]]);
    assert.deepEqual(titles(found), { ...all, 3: 'Three' });
    assert.match(ended.stderr, /journal-3\.jsonl, line 2: it cannot be read/);
    assert.match(ended.stderr, /journal-3\.jsonl, before line 3: change 5 is lost/);
    assert.match(ended.stdout, /saved {8}\/articles: 5\nwhat is lost/);
    assert.notEqual(found.lineage, 'k3x9', 'no entity tag from before may fit');
  });

  test('takes from the snapshot before what the newest has lost, and then from all journals', async () => {
    const { files } = history();
    const store = (files.get('store.json') ?? '')
      .replace('{"id":"2"', '["id":"2"')
      .replace('"sequence":2', '"sequence":3');
    const lacking = [...files].filter(([name]) => name !== 'journal-2.jsonl');
    const { ended, found } = await repaired([...lacking, ['store.json', store]]);
    assert.deepEqual(titles(found), all);
    assert.match(ended.stderr, /store\.json, line 4: it cannot be read/);
    assert.match(ended.stderr, /store\.json, lines 2 to 7: saved, but perhaps not as they were written/);
  });

  test('saves what is in the journals when no snapshot is left, and what is in the snapshots when no journal is', async () => {
    const { files } = history();
    const journals = [...files].filter(([name]) => name.startsWith('journal'));
    const { found } = await repaired(journals);
    assert.deepEqual(titles(found), { 3: 'Third', 4: 'Four', 5: 'Five' });
    const snapshots = [...files].filter(([name]) => name.startsWith('store'));
    const other = await repaired(snapshots);
    assert.deepEqual(titles(other.found), { 1: 'One', 2: 'Two', 3: 'Three', 4: 'Four' });
  });

  test('is refused where there is something already, and where nothing is', async () => {
    const { data, fresh } = directoryOf(history().files);
    const cases: readonly [string[], number, RegExp][] = [
      [['--repair', data], 2, /is the data directory or in it/],
      [['--repair', join(data, 'sub')], 2, /is the data directory or in it/],
      [['--repair', temporaryWithFile()], 1, /is not empty/],
      [['--repair'], 2, /--repair needs a value/],
      [['--repair', fresh, '--accept-edits'], 2, /do not go together/],
    ];
    for (const [args, , message] of cases) {
      const { status, stderr } = await call(['check', '--data', data, ...args]);
      assert.equal(status, 1);
      assert.match(stderr, message);
    }
    assert.match((await call(['check', '--data', fresh, '--repair', `${fresh}2`])).stderr, /is not there/);
    assert.ok(!existsSync(fresh) && !existsSync(`${fresh}2`));
  });

  function temporaryWithFile(): string {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'file'), '');
    return directory;
  }
});

describe('check --accept-edits', () => {
  /** Edits store.json, has the edits taken in, and gives what is there then. */
  async function edited(
    edit: (text: string) => string,
    made = history(),
  ): Promise<{ ended: Ended; data: string; found?: Recovered; before: History }> {
    const { data } = directoryOf(made.files);
    const path = join(data, 'store.json');
    writeFileSync(path, edit(readFileSync(path, 'utf8')));
    const former = contents(data);
    const ended = await call(['check', '--accept-edits', '--data', data]);
    if (ended.status !== 0) {
      assert.deepEqual(contents(data), former, 'a refusal changes nothing');
      return { ended, data, before: made };
    }
    const found = await recover({ directory: data });
    assert.deepEqual(found.told, []);
    return { ended, data, found, before: made };
  }

  const line = (text: string, id: string): string =>
    text.split('\n').find((each) => each.startsWith(`{"id":"${id}"`)) ?? '';

  test('takes in a value, and gives its item another revision', async () => {
    const { ended, found, before, data } = await edited((text) => text.replace('"Two"', '"Second"'));
    assert.equal(ended.status, 0, ended.stderr);
    assert.match(ended.stdout, /^taken in: \/articles; /);
    if (found === undefined) assert.fail();
    assert.deepEqual(titles(found), { ...all, 2: 'Second' });
    assert.equal(found.lineage, before.lineage);
    const [was, is] = [before.state.read(articles, '2'), found.state.read(articles, '2')];
    assert.ok((is?.revision ?? 0) > before.state.revision);
    assert.ok((is?.modified ?? 0) > (was?.modified ?? 0));
    assert.equal(is?.sequence, was?.sequence);
    assert.ok(found.state.list(articles, 0, 1).revision > before.state.revision);
    assert.deepEqual([...contents(data).keys()].filter((name) => !name.startsWith('nonces')).sort(), [
      'journal-4.jsonl',
      'store.json',
    ]);
    JSON.parse(readFileSync(join(data, 'store.json'), 'utf8'));
    const next = found.state.prepare({ kind: 'create', collection: articles, value: {}, at: begun });
    assert.equal(next?.entry.id, '6');
  });

  test('lets an item be taken out, and one be added, whatever the commas', async () => {
    const { ended, found } = await edited((text) => {
      const added = `{"id":"new","value":${JSON.stringify(article('New'))}}`;
      return text.replace(`${line(text, '4')}\n`, `${added}\n`).replace(`${line(text, '1')}\n`, '');
    });
    assert.equal(ended.status, 0, ended.stderr);
    if (found === undefined) assert.fail();
    assert.deepEqual(titles(found), { 2: 'Two', 3: 'Third', 5: 'Five', new: 'New' });
  });

  test('lets a change in the journal stand, and says so', async () => {
    const { ended, found } = await edited((text) => text.replace('"Three"', '"Drei"'));
    assert.equal(ended.status, 0, ended.stderr);
    assert.match(ended.stderr, /line 5: the journal has a later change of \/articles\/3, which stands/);
    if (found === undefined) assert.fail();
    assert.deepEqual(titles(found), all);
  });

  test('lets a whole block be taken out', async () => {
    const made = history();
    made.add({ kind: 'put', collection: '/other', id: 'x', expected: 'absent', value: {}, at: begun });
    made.snapshot();
    const { ended, found } = await edited(
      (text) => text.replace(/\{"crc":"[0-9a-f]{8}","collection":"\/articles"[\s\S]*?\n\]\},\n/, ''),
      made,
    );
    assert.equal(ended.status, 0, ended.stderr);
    if (found === undefined) assert.fail();
    assert.deepEqual(titles(found), {});
    assert.ok(found.state.read('/other', 'x') !== undefined);
  });

  test('does nothing where nothing was edited', async () => {
    const { data } = directoryOf(history().files);
    const before = contents(data);
    const { status, stdout } = await call(['check', '--accept-edits', '--data', data]);
    assert.deepEqual({ status, stdout }, { status: 0, stdout: 'nothing was edited\n' });
    assert.deepEqual(contents(data), before);
  });

  const twice = (text: string): string =>
    text.replace(line(text, '2'), `${line(text, '2')}\n${line(text, '2')}`);
  const refusals: readonly [what: string, edit: (text: string) => string, message: RegExp][] = [
    ['text that is not JSON', (text) => text.replace('"Two"', '"Two'), /line 4, at byte \d+: column \d+: /],
    [
      'a value that does not fit',
      (text) => text.replace('"Two"', '{"a":"b"}'),
      /line 4: \/articles\/2 does not fit/,
    ],
    [
      'a value that is none',
      (text) => text.replace(/"value":\{"title":"Two".*?\}\}/, '"value":null'),
      /line 4, .*its value is not an object/,
    ],
    ['an item that stands twice', twice, /line 5: \/articles has an item "2" already, in line 4/],
    [
      'a sequence',
      (text) => text.replace('"id":"2","sequence":2', '"id":"2","sequence":9'),
      /line 4: no item has a sequence as high as 9/,
    ],
    [
      'an order',
      (text) => text.replace('"id":"2","sequence":2', '"id":"2","sequence":1'),
      /line 4: its sequence, 1, is not above/,
    ],
    [
      'a revision',
      (text) => text.replace('"sequence":2,"revision":2', '"sequence":2,"revision":99'),
      /its revision, 99, was never drawn/,
    ],
    [
      'an id that the store could give',
      (text) => text.replace('{"id":"2"', '{"id":"8"'),
      /the store has yet to give the id 8/,
    ],
    [
      'a date',
      (text) => text.replace(/("id":"2".*?"modified":)"[^"]*"/, '$1"yesterday"'),
      /line 4, .*modified is not a date/,
    ],
    [
      'a member that is not known',
      (text) => text.replace('{"id":"2"', '{"colour":"red","id":"2"'),
      /line 4, .*has a member that is not known/,
    ],
    [
      'a new item with an id that is there',
      (text) => text.replace(line(text, '2'), `${line(text, '2')}\n{"id":"1","value":{}}`),
      /line 5: .* "1" already, in line 3/,
    ],
    [
      'lines that are laid out anew',
      (text) => JSON.stringify(JSON.parse(text), null, 2),
      /is of a version without checksums/,
    ],
    [
      'a lineage',
      (text) => text.replace('k3x9', 'zzzz').replace('"Two"', '"Second"'),
      /its lineage is another/,
    ],
  ];
  for (const [what, edit, message] of refusals) {
    test(`refuses ${what}`, async () => {
      const { ended } = await edited(edit);
      assert.equal(ended.status, 1, ended.stdout);
      assert.match(ended.stderr, message);
    });
  }

  test('is refused while a server has the directory', async () => {
    const { data } = directoryOf(history().files);
    const { lockDirectory } = await import('../../src/store/lock.ts');
    const lock = await lockDirectory(data);
    const { status, stderr } = await call(['check', '--accept-edits', '--data', data]);
    await lock.release();
    assert.equal(status, 1);
    assert.match(stderr, /is in use by process/);
    rmSync(data, { recursive: true });
  });
});
