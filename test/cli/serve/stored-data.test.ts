import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkStoredData } from '../../../src/cli/serve/stored-data.ts';
import { createManualClock } from '../../../src/clock.ts';
import { defineCollection } from '../../../src/collections/declaration.ts';
import { openJournaledStore } from '../../../src/store/durable.ts';
import { recover } from '../../../src/store/recover.ts';
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

/** Checks a state as a start does whose last journal has these declarations. */
function check(state: State, type: 'text' | 'integer', declarations?: string) {
  const journals = [{ generation: 1, path: '', bytes: 0, declarations }];
  return checkStoredData({ state, journals }, [notes(type)]);
}

test('stored items are checked once for the same declarations, and again for changed ones', () => {
  const [good, bad] = [createState(10_001), createState(10_000)];
  const last = good.read('/notes', '10001');
  make(good, { kind: 'delete', collection: '/notes', id: '10001', expected: last?.revision ?? 0, at: 0 });
  const summary = "1 item breaks today's rules: text of /notes/10000 must be a JSON string (not shown)";
  const mismatches = { items: 1, misfits: 1, hidden: 1, summary };
  assert.deepEqual(check(bad, 'text'), { mismatches, declarations: undefined });
  const { declarations } = check(good, 'text');
  assert.match(String(declarations), /^[0-9a-f]{64}$/);
  const unchecked = { mismatches: undefined, declarations };
  assert.deepEqual(check(bad, 'text', declarations), unchecked, 'nothing was compared');
  const changed = check(good, 'integer', declarations);
  assert.deepEqual([changed.mismatches?.items, changed.declarations], [10_000, undefined]);
});

test('a few items are checked each time', () => {
  assert.deepEqual(check(new State(), 'text'), { mismatches: undefined, declarations: undefined });
  assert.equal(check(createState(1), 'integer').mismatches?.items, 1);
});

test('the declarations stand in the journal until a start has others, or none', async (context) => {
  const directory = temporaryDirectory(context);
  const start = async (declarations: string | undefined): Promise<string> => {
    const recovered = await recover({ directory });
    const former = recovered.journals.at(-1)?.declarations ?? 'none';
    const store = await openJournaledStore({
      directory,
      recovered,
      declarations,
      newStoreId: () => 'x',
      durability: 'os',
      clock: createManualClock(0),
      onWarning: (line) => assert.fail(line),
      limits: { minBytes: Number.POSITIVE_INFINITY, ratio: 1 },
    });
    await store.apply({ kind: 'create', collection: '/notes', value: {}, at: 0 });
    await store.close();
    return `${former} ${recovered.state.collection('/notes')?.count ?? 0}`;
  };
  const seen: string[] = [];
  for (const declarations of [undefined, 'one', 'one', 'other', undefined, 'one', 'one'])
    seen.push(await start(declarations));
  assert.deepEqual(seen, ['none 1', 'none 2', 'one 3', 'one 4', 'other 5', 'none 6', 'one 7']);
});
