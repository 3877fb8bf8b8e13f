import assert from 'node:assert/strict';
import type { Store, StoreChange, StoredItem, StoreResult } from '../store.ts';
import { create, put, remove, requireEntry } from './changes.ts';
import { callSimultaneously, storeCheck } from './check.ts';

function selectApplied(results: readonly StoreResult[]): StoreResult[] {
  return results.filter(({ applied }) => applied);
}

/** Increments a number as several clients would: reads it, and tries again if it was changed in between. */
async function increment(store: Store): Promise<void> {
  for (;;) {
    const entry = await store.read('/a', '1');
    assert.ok(entry !== undefined);
    const value = { n: Number(entry.value['n']) + 1 };
    if ((await store.apply(put('/a', '1', entry.revision, value))).applied) return;
  }
}

/** Changes of one item that are made at once beside an item with the id 1, `made`, and of which one is applied. */
const races: readonly (readonly [
  what: string,
  id: string,
  change: (made: StoredItem, n: number) => StoreChange,
])[] = [
  ['replacements of the same revision', '1', ({ revision }, n) => put('/a', '1', revision, { n })],
  ['creations of the same id', 'x', (_, n) => put('/a', 'x', 'absent', { n })],
  ['deletions', '1', ({ revision }) => remove('/a', '1', revision)],
];

/** The checks of compare-and-set. */
export const expectationChecks = [
  storeCheck('compare-and-set changes nothing if the item is in another state', async (store) => {
    const made = await create(store, '/a');
    const stale: StoreChange[] = [
      put('/a', '1', 'absent', { n: 9 }),
      put('/a', '1', made.revision + 1, { n: 9 }),
      put('/a', '2', made.revision, { n: 9 }),
      put('/a', '2', 0, { n: 9 }),
      remove('/a', '1', made.revision + 1),
      remove('/a', '2', made.revision),
      remove('/a', '2', 0),
      remove('/none', '1', made.revision),
    ];
    const before = await store.list('/a', 0, 10);
    for (const change of stale) assert.deepEqual(await store.apply(change), { applied: false });
    assert.deepEqual(await store.list('/a', 0, 10), before);
    assert.equal((await create(store, '/a')).id, '2');
  }),

  storeCheck('compare-and-set admits one of a replacement and a deletion', async (store, session) => {
    for (let round = 0; round < 10; round += 1) {
      const made = await create(store, '/a');
      const replacement = put('/a', made.id, made.revision, { n: 2 });
      const deletion = remove('/a', made.id, made.revision);
      const results = await callSimultaneously(session, 2, (each, n) =>
        each.apply((n + round) % 2 === 0 ? replacement : deletion),
      );
      assert.equal(selectApplied(results).length, 1);
      const isReplaced = results[round % 2]?.applied;
      assert.equal((await store.read('/a', made.id)) !== undefined, isReplaced);
    }
  }),

  ...races.map(([what, id, change]) =>
    storeCheck(`compare-and-set admits one of 100 ${what}`, async (store, session) => {
      const made = await create(store, '/a');
      const results = await callSimultaneously(session, 100, (each, n) => each.apply(change(made, n)));
      const entry = (await store.read('/a', id)) ?? made;
      assert.deepEqual(selectApplied(results), [{ applied: true, entry }]);
    }),
  ),

  storeCheck('compare-and-set loses no increment of simultaneous clients', async (store, session) => {
    await create(store, '/a', { n: 0 });
    await callSimultaneously(session, 16, async (each) => {
      for (let n = 0; n < 5; n += 1) await increment(each);
    });
    assert.deepEqual((await store.read('/a', '1'))?.value, { n: 80 });
  }),

  storeCheck(
    'all 100 simultaneous replacements that expect `present` are applied',
    async (store, session) => {
      const made = await create(store, '/a');
      const results = await callSimultaneously(session, 100, (each, n) =>
        each.apply(put('/a', '1', 'present', { n })),
      );
      const entries = results.map(requireEntry).toSorted((one, other) => one.revision - other.revision);
      assert.deepEqual(
        results.map((result) => requireEntry(result).value['n']),
        Array.from({ length: 100 }, (_, n) => n),
      );
      assert.ok(entries.every(({ sequence }) => sequence === made.sequence));
      assert.ok(entries.every(({ revision }, n) => revision > (entries[n - 1]?.revision ?? made.revision)));
      assert.deepEqual(await store.read('/a', '1'), entries.at(-1));
      const later = await session.restart();
      assert.deepEqual(await later.read('/a', '1'), entries.at(-1));
      assert.deepEqual((await later.list('/a', 0, 10)).entries, entries.slice(-1));
    },
  ),

  storeCheck('a replacement that expects `present` does not create an item', async (store) => {
    assert.deepEqual(await store.apply(put('/a', 'x', 'present', {})), { applied: false });
    const made = await create(store, '/a');
    await store.apply(remove('/a', '1', made.revision));
    assert.deepEqual(await store.apply(put('/a', '1', 'present', { n: 2 })), { applied: false });
    assert.equal(await store.read('/a', '1'), undefined);
  }),
];
