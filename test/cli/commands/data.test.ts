import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { lockDirectory } from '../../../src/store/files/lock.ts';
import { call } from '../../support/cli/command.ts';
import { begun, History } from '../../support/store/history.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const article = { title: 'One', price: { currency: 'EUR', value: '1.00' } };

/** What is in the data directory when a command is refused. */
const states = {
  none: () => {},
  empty: (data: string) => void mkdirSync(data, { mode: 0o700 }),
  whole: (data: string) => fill(data),
  journaled: (data: string) => fill(data, false),
  damaged(data: string) {
    fill(data);
    const snapshot = join(data, 'store.jsonl');
    writeFileSync(snapshot, readFileSync(snapshot, 'utf8').replace('"title":', '"tilte":'));
  },
  interrupted(data: string) {
    fill(data);
    writeFileSync(join(data, 'copy.incomplete'), '', { mode: 0o600 });
  },
  lacking(data: string) {
    fill(data);
    renameSync(join(data, 'journal-2.jsonl'), join(data, 'journal-3.jsonl'));
  },
} as const;

/** Writes a store of one article, in a snapshot or only in a journal. */
function fill(data: string, snapshot = true): void {
  mkdirSync(data, { mode: 0o700 });
  const made = new History();
  made.add({ kind: 'create', collection: '/articles', value: article, at: begun });
  if (snapshot) made.snapshot();
  for (const [name, content] of made.files) writeFileSync(join(data, name), content, { mode: 0o600 });
}

const nested = /must not be .*DATA, in it, or a directory that contains it/;
const noStore = /is not a data directory: it has no store\.jsonl and no journal/;
const absent = /the data directory .*DATA does not exist/;
const broken = /DATA\/store\.jsonl cannot be used: /;

/** Commands that are refused: DATA is the data directory, NEW does not exist, and EMPTY and FULL are other directories. */
const refusals: readonly (readonly [state: keyof typeof states, words: string, message: RegExp])[] = [
  ['whole', 'backup DATA', nested],
  ['whole', 'backup DATA/NEW', nested],
  ['whole', 'backup DATA/..', nested],
  ['whole', 'backup FULL', /FULL is not empty; backup requires a new or empty directory/],
  ['none', 'backup NEW', absent],
  ['empty', 'backup NEW', noStore],
  ['interrupted', 'backup NEW', /a backup or restore into it was interrupted; repeat it, or remove the dir/],
  ['lacking', 'backup NEW', /journal-2\.jsonl cannot be used: it is missing/],
  ['damaged', 'backup NEW', broken],
  ['none', 'restore NEW', /^countersign: .*NEW does not exist\n$/],
  ['none', 'restore FULL/file', /FULL\/file cannot be read \(ENOTDIR\)/],
  ['none', 'restore EMPTY', /EMPTY is not a data directory: it has no store\.jsonl/],
  ['whole', 'restore DAMAGED --replace', /DAMAGED\/store\.jsonl cannot be used: /],
  ['whole', 'export --output DATA/file', /is in the data directory/],
  ['whole', 'export --output FULL/file', /FULL\/file already exists/],
  ['none', 'export', absent],
  ['empty', 'export', /has no store to export/],
  ['damaged', 'export', broken],
  ['none', 'import --input NEW', /^countersign: .*NEW cannot be read \(ENOENT\)\n$/],
  ['whole', 'import', /has items; import requires a data directory without items/],
  ['journaled', 'import', /has items; import requires a data directory without items/],
  ['whole', 'check --repair DATA', nested],
  ['whole', 'check --repair DATA/NEW', nested],
  ['whole', 'check --repair FULL', /FULL is not empty/],
  ['none', 'check --repair NEW', /DATA does not exist/],
  ['damaged', 'check', /DATA\/store\.jsonl cannot be used: .*countersign check --repair NEWDIR/],
];

const place = temporaryDirectory();
const target = (name: string) => join(place, name);
states.empty(target('EMPTY'));
states.damaged(target('DAMAGED'));
mkdirSync(target('FULL'));
writeFileSync(join(target('FULL'), 'file'), 'kept');

/** The names and contents of all files but those of the lock. */
function contents(directory: string): [string, string][] | undefined {
  if (!existsSync(directory)) return undefined;
  return readdirSync(directory)
    .filter((name) => !name.startsWith('lock.'))
    .map((name) => [name, readFileSync(join(directory, name), 'latin1')]);
}

/** Runs a command on a data directory, where it must end with one line and status 1 or 2, and change nothing. */
async function refused(data: string, words: string, message: RegExp, input: string): Promise<void> {
  const before = contents(data);
  const args = words
    .split(' ')
    .map((word) =>
      /[A-Z]/.test(word) ? (word.startsWith('DATA') ? join(data, word.slice(4)) : target(word)) : word,
    );
  const { status, stdout, stderr } = await call([...args, '--data', data], { input });
  assert.ok(status === 1 || status === 2, stderr);
  assert.equal(stdout, '');
  assert.match(stderr.replaceAll(place, ''), /^countersign: [^\n]*\n$/);
  assert.match(stderr.replaceAll(data, '/DATA'), message);
  assert.deepEqual(contents(data), before);
  assert.equal(existsSync(target('NEW')), false);
  assert.deepEqual(contents(target('FULL')), [['file', 'kept']]);
}

describe('a command of the data prints one line and changes nothing', () => {
  const item = JSON.stringify({ collection: '/articles', id: '1', value: article });
  const text = `{"format":"countersign-export","version":1}\n${item}\n{"end":true}\n`;
  for (const [state, words, message] of refusals)
    test(`${words}, where DATA is ${state}`, async () => {
      const data = join(temporaryDirectory(), 'data');
      states[state](data);
      await refused(data, words, message, text);
    });

  for (const words of ['restore DAMAGED --replace', 'export', 'import', 'check --repair NEW'])
    test(`${words}, while a process uses DATA`, async () => {
      const data = join(temporaryDirectory(), 'data');
      states.whole(data);
      const lock = await lockDirectory(data);
      await refused(
        data,
        words,
        new RegExp(`/DATA is in use by process ${process.pid}(; stop it first)?\n$`),
        text,
      );
      await lock.release();
    });
});
