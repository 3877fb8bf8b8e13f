import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkStoredData, clearValidationMarker } from '../../../src/cli/serve/validation-marker.ts';
import { defineCollection } from '../../../src/collections/declaration.ts';
import { State } from '../../../src/store/state/state.ts';
import { make } from '../../support/store/snapshot.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const notes = (type: 'text' | 'integer') =>
  defineCollection('/notes', { element: 'notes', item: 'note', fields: { text: { type, required: true } } });

/** A state with so many notes, the last of which does not fit. */
function stateOf(count: number): State {
  const state = new State();
  for (let number = 1; number <= count; number += 1)
    make(state, {
      kind: 'create',
      collection: '/notes',
      value: number < count ? { text: 'a' } : { text: { a: 'b' } },
      at: 0,
    });
  return state;
}

test('what is kept is judged once for the same declarations, and again for others', async () => {
  const directory = temporaryDirectory();
  const [good, bad] = [stateOf(10_001), stateOf(10_000)];
  const last = good.read('/notes', '10001');
  make(good, { kind: 'delete', collection: '/notes', id: '10001', expected: last?.revision ?? 0, at: 0 });
  await assert.rejects(checkStoredData(directory, bad, [notes('text')]), { name: 'StoredDataError' });
  assert.deepEqual(readdirSync(directory), []);
  await checkStoredData(directory, good, [notes('text')]);
  await checkStoredData(directory, bad, [notes('text')]); // nothing was looked at
  await assert.rejects(
    checkStoredData(directory, bad, []).then(() => checkStoredData(directory, bad, [notes('text')])),
    {
      name: 'StoredDataError',
    },
  );
  assert.ok(!existsSync(join(directory, 'judged.json')), 'a start that came to nothing leaves no word');
  await checkStoredData(directory, good, [notes('text')]);
  await clearValidationMarker(directory);
  await assert.rejects(checkStoredData(directory, bad, [notes('text')]), { name: 'StoredDataError' });
});

test('few items are judged each time, and no file is kept for them', async () => {
  const directory = temporaryDirectory();
  await checkStoredData(directory, new State(), [notes('text')]);
  assert.deepEqual(readdirSync(directory), []);
  await assert.rejects(checkStoredData(directory, stateOf(2), [notes('text')]), { name: 'StoredDataError' });
});
