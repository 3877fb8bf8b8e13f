import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { kindOf } from '../../../src/store/files/data-files.ts';

const page = readFileSync(new URL('../../../docs/data-format.md', import.meta.url), 'utf8');

/** The names of files in a text, with numbers in place of their variables. */
function namesIn(text: string): string[] {
  return [...text.matchAll(/`((?:NAME|[a-z]+)[.-][A-Za-z.-]+)\/?`/g)].map(([, name = '']) =>
    name.replace(/\bN\b/g, '7').replace('PID', '42').replace('NAME', 'x.json'),
  );
}

test('every file that the page of the format describes is in the list', () => {
  const headings = page.split('\n').filter((line) => line.startsWith('## '));
  const rows = page.split('## Other files')[1]?.split('\n## ')[0]?.split('\n') ?? [];
  const cells = rows.map((row) => row.split('|')[1] ?? '');
  const names = namesIn([...headings, ...cells].join('\n'));
  assert.ok(names.length >= 12, names.join());
  assert.deepEqual(
    names.filter((name) => kindOf(name) === undefined),
    [],
  );
});

test('a file of another program is not in the list', () => {
  const others = [
    'notes.txt',
    'store.jsonl.bak',
    'journal-x.jsonl',
    'tls.pem',
    'lock.',
    'lock.5.json',
    'xusers.json',
  ];
  for (const name of [...others, 'users.json2', 'copy.tmp.d', 'torn.bin', 'x.tmp'])
    assert.equal(kindOf(name), undefined, name);
});
