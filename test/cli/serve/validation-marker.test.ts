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
function createState(count: number): State {
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

test('stored items are checked once for the same declarations, and again for changed ones', async () => {
  const directory = temporaryDirectory();
  const [good, bad] = [createState(10_001), createState(10_000)];
  const last = good.read('/notes', '10001');
  make(good, { kind: 'delete', collection: '/notes', id: '10001', expected: last?.revision ?? 0, at: 0 });
  const summary = "1 item breaks today's rules: text of /notes/10000 must be a JSON string (not shown)";
  const found = { items: 1, misfits: 1, hidden: 1, summary };
  assert.deepEqual(await checkStoredData(directory, bad, [notes('text')]), found);
  assert.deepEqual(readdirSync(directory), []);
  assert.equal(await checkStoredData(directory, good, [notes('text')]), undefined);
  assert.equal(await checkStoredData(directory, bad, [notes('text')]), undefined, 'nothing was compared');
  assert.equal((await checkStoredData(directory, good, [notes('integer')]))?.items, 10_000);
  assert.ok(!existsSync(join(directory, 'judged.json')), 'a start with mismatches leaves no marker');
  assert.deepEqual(await checkStoredData(directory, bad, [notes('text')]), found);
  assert.equal(await checkStoredData(directory, good, [notes('text')]), undefined);
  await clearValidationMarker(directory);
  assert.deepEqual(await checkStoredData(directory, bad, [notes('text')]), found);
});

test('a few items are checked each time, and no marker is stored for them', async () => {
  const directory = temporaryDirectory();
  assert.equal(await checkStoredData(directory, new State(), [notes('text')]), undefined);
  assert.equal(
    await checkStoredData(directory, createState(1), [notes('integer')]).then((found) => found?.items),
    1,
  );
  assert.deepEqual(readdirSync(directory), []);
});
