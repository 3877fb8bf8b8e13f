import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { recover } from '../../src/store/recover.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

test('the files in docs/data-format.md are read as the page describes them', async (context) => {
  const directory = temporaryDirectory(context);
  const page = readFileSync(new URL('../../docs/data-format.md', import.meta.url), 'utf8');
  const [, header = '', change = '', snapshot = ''] = Array.from(
    page.matchAll(/^```(?:json|console)\n(.*?)^```$/gms),
    ([, text = '']) => text,
  );
  writeFileSync(join(directory, 'journal-3.jsonl'), header + change);
  writeFileSync(join(directory, 'store.jsonl'), snapshot);
  const { storeId, state, sequence, reports } = await recover({ directory });
  assert.deepEqual([storeId, sequence, reports], ['k3x9', 6, []]);
  const { entries } = state.list('/articles', 0, 10);
  assert.deepEqual(
    entries.map(({ id, revision, value }) => [id, revision, value]),
    [
      ['1', 8, { title: 'B' }],
      ['5', 7, { title: 'C' }],
    ],
  );
});
