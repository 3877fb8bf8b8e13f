import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { type CollectionDeclaration, defineCollection } from '../../src/collections/declaration.ts';
import { createStoredDataCheck, StoredDataError } from '../../src/collections/stored-data-check.ts';
import type { Entry } from '../../src/store/store.ts';
import { call, run } from '../support/cli/command.ts';
import { begun, History } from '../support/store/history.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const kept: Entry = { id: '1', sequence: 1, revision: 1, modified: 0, value: { text: 'a', size: '1.00' } };

function judging(fields: CollectionDeclaration['fields']): () => void {
  const collection = defineCollection('/users/{name}/notes', { element: 'notes', item: 'note', fields });
  const judge = createStoredDataCheck([collection]);
  return () => judge('/users/ann/notes', kept);
}

test('what still can be written fits, also where a rule was added that it breaks', () => {
  const size = { type: 'decimal', fractionDigits: 2 } as const;
  assert.doesNotThrow(judging({ text: { type: 'text' }, size }));
  assert.doesNotThrow(
    judging({ text: { type: 'text', pattern: '[b-z]' }, other: { type: 'date', required: true } }),
  );
  assert.doesNotThrow(judging({}));
});

test('what cannot be written any more is named with its path and field', () => {
  const attributes = { unit: { type: 'text' } } as const;
  for (const text of [
    { type: 'text', attributes },
    { type: 'list', of: 'text' },
    { type: 'element', fields: {} },
  ] as const) {
    assert.throws(
      judging({ text }),
      (error) => error instanceof StoredDataError && /\/users\/ann\/notes\/1 .* text /.test(error.message),
    );
  }
});

test('items of a collection that is declared no more are passed over', () => {
  assert.doesNotThrow(() => createStoredDataCheck([])('/users/ann/notes', kept));
  assert.doesNotThrow(() => createStoredDataCheck([])('/%zz', kept));
});

test('a start and a check are refused where an item does not fit, and store.json stays as it was', async () => {
  const data = temporaryDirectory();
  const file = join(data, 'store.json');
  const made = new History();
  made.add({ kind: 'create', collection: '/articles', value: { title: ['a'] }, at: begun });
  made.snapshot();
  for (const [name, content] of made.files) writeFileSync(join(data, name), content, { mode: 0o600 });
  const before = readFileSync(file, 'utf8');
  const told =
    /\/articles\/1 does not match its declaration: the stored value of title .*"countersign export" and "countersign import"/;
  const checked = await call(['check', '--data', data]);
  assert.equal(checked.status, 1);
  assert.match(checked.stderr, told);
  const started = await run(['--data', data, '--port', '0']);
  assert.equal(started.status, 1);
  assert.match(started.stderr, told);
  assert.equal(started.stdout, '');
  assert.equal(readFileSync(file, 'utf8'), before);
});
