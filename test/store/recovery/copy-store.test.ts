import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { incompleteCopyName } from '../../../src/store/files/directory.ts';
import { lockDirectory } from '../../../src/store/files/lock.ts';
import { copyStore } from '../../../src/store/recovery/copy-store.ts';
import { begun, History } from '../../support/store/history.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** Changes in a snapshot and in the journal after it. */
function history(): History {
  const made = new History();
  const create = (text: string) =>
    made.add({ kind: 'create', collection: '/notes', value: { text }, at: begun });
  create('a');
  made.snapshot();
  create('b');
  create('c');
  return made;
}

/** Creates a directory with these files, of which `changed` replaces some; undefined removes one. */
function createDirectory(
  files: ReadonlyMap<string, string>,
  changed: Record<string, string | undefined> = {},
): string {
  const directory = temporaryDirectory();
  const all = { ...Object.fromEntries(files), ...changed };
  for (const [name, content] of Object.entries(all))
    if (content !== undefined) writeFileSync(join(directory, name), content, { mode: 0o600 });
  return directory;
}

function targetDirectory(): string {
  const to = join(temporaryDirectory(), 'copy');
  mkdirSync(to);
  return to;
}

const readJournal = ({ files }: History): string => files.get('journal-2.jsonl') ?? '';
const allocated = '\0'.repeat(2_000_000);

describe('the copy of a store', () => {
  test('has the same bytes without preallocated space, and mode 0600', async () => {
    const made = history();
    const from = createDirectory(made.files, { 'journal-2.jsonl': readJournal(made) + allocated });
    const lock = await lockDirectory(from);
    const to = targetDirectory();
    const { state, reports } = await copyStore(from, to);
    await lock.release();
    assert.deepEqual([reports, state.read('/notes', '3')?.value], [[], { text: 'c' }]);
    assert.deepEqual(readdirSync(to).sort(), ['journal-2.jsonl', 'store.json']);
    for (const [name, content] of made.files) {
      assert.equal(readFileSync(join(to, name), 'utf8'), content, name);
      assert.equal(statSync(join(to, name)).mode & 0o777, 0o600);
    }
  });

  const tails: readonly (readonly [string, string])[] = [
    ['an incomplete line', '{"crc":"00000000","seq":4,"dura'],
    ['an incomplete line before preallocated space', `{"crc":"00000000","seq":4,"dura${allocated}`],
  ];
  for (const [what, tail] of tails) {
    test(`omits ${what}, which a server may be writing`, async () => {
      const made = history();
      const from = createDirectory(made.files, { 'journal-2.jsonl': readJournal(made) + tail });
      const lock = await lockDirectory(from);
      const to = targetDirectory();
      const { reports } = await copyStore(from, to);
      await lock.release();
      assert.deepEqual(reports, []);
      assert.equal(readFileSync(join(to, 'journal-2.jsonl'), 'utf8'), readJournal(made));
    });
  }

  test('uses the previous snapshot while the current one is being replaced', async () => {
    const made = history();
    const files = { 'store.json': undefined, 'store.previous.json': made.files.get('store.json') };
    const from = createDirectory(made.files, files);
    const to = targetDirectory();
    const { state } = await copyStore(from, to);
    assert.equal(state.read('/notes', '3')?.value['text'], 'c');
    assert.deepEqual(readdirSync(to).sort(), ['journal-2.jsonl', 'store.json']);
  });

  test('has all changes if there is no snapshot yet', async () => {
    const made = new History();
    made.add({ kind: 'create', collection: '/notes', value: { text: 'a' }, at: begun });
    made.rotate();
    made.add({ kind: 'create', collection: '/notes', value: { text: 'b' }, at: begun });
    const { state } = await copyStore(createDirectory(made.files), targetDirectory());
    assert.equal(state.read('/notes', '2')?.value['text'], 'b');
  });

  test('of a directory after a crash is repaired as at a start', async () => {
    const made = history();
    const from = createDirectory(made.files, {
      'journal-2.jsonl': `${readJournal(made)}{"crc":"00000000","seq":4,`,
    });
    const to = targetDirectory();
    const { reports } = await copyStore(from, to);
    assert.equal(reports.length, 1);
    assert.equal(readFileSync(join(to, 'journal-2.jsonl'), 'utf8'), readJournal(made));
  });

  const damages: readonly (readonly [string, (journal: string) => string])[] = [
    ['a changed line before others', (journal) => journal.replace('"text":"b"', '"text":"x"')],
    [
      'NUL bytes before other lines',
      (journal) => journal.replace(/(?<=\n).*"text":"b".*\n/, (line) => '\0'.repeat(line.length)),
    ],
    ['a missing line', (journal) => journal.replace(/(?<=\n).*"text":"b".*\n/, '')],
  ];
  for (const [what, damage] of damages) {
    for (const inUse of [true, false]) {
      test(`is rejected for ${what}, ${inUse ? 'also while a server uses the directory' : 'without a server'}`, async () => {
        const made = history();
        const from = createDirectory(made.files, { 'journal-2.jsonl': damage(readJournal(made)) });
        const lock = inUse ? await lockDirectory(from) : undefined;
        await assert.rejects(copyStore(from, targetDirectory()), {
          name: 'StoreError',
          code: 'damaged',
          file: join(from, 'journal-2.jsonl'),
        });
        await lock?.release();
      });
    }
  }

  test('is rejected if a journal is missing, or if the source is an interrupted copy', async () => {
    const made = history();
    await assert.rejects(
      copyStore(createDirectory(made.files, { 'journal-2.jsonl': undefined }), targetDirectory()),
      {
        name: 'StoreError',
        code: 'damaged',
      },
    );
    await assert.rejects(
      copyStore(createDirectory(made.files, { [incompleteCopyName]: '' }), targetDirectory()),
      {
        name: 'StoreError',
        code: 'directory',
        message: /a backup or restore into it was interrupted; repeat it, or remove the directory$/,
      },
    );
  });
});
