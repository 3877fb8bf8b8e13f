import assert from 'node:assert/strict';
import type { Store, StoreChange, UniqueRules } from '../store.ts';
import { create, creation, ids, put, remove, requireEntry } from './changes.ts';
import { callSimultaneously, checksOf } from './check.ts';

const sku: UniqueRules = [['sku']];
const together: UniqueRules = [['name', 'shop']];

const uniqueCheck = checksOf(
  'a unique value, if the store checks them,',
  (store): store is Store => store.checksUnique === true,
);

/** Returns a change of a collection with unique values. */
function unique(change: StoreChange, rules = sku): StoreChange {
  return { ...change, unique: rules };
}

/** The checks of unique values. */
export const uniqueChecks = [
  uniqueCheck('belongs to one of 100 items that are created at once', async (_, session) => {
    const results = await callSimultaneously(session, 100, (each, n) =>
      each.apply(
        unique(n % 2 === 0 ? creation('/a', { sku: 'x', n }) : put('/a', `p${n}`, 'absent', { sku: 'x', n })),
      ),
    );
    const made = results.filter((each) => each.applied).map(requireEntry);
    assert.equal(made.length, 1);
    const conflict = { fields: ['sku'], id: made[0]?.id };
    for (const each of results) if (!each.applied) assert.deepEqual(each, { applied: false, conflict });
    assert.deepEqual(ids(await (await session.restart()).list('/a', 0, 10)), [made[0]?.id]);
  }),

  uniqueCheck('belongs to one of 100 items that are changed at once', async (store, session) => {
    const items = await Promise.all(
      Array.from({ length: 100 }, (_, n) => store.apply(unique(creation('/a', { sku: `s${n}` })))),
    );
    const results = await callSimultaneously(session, 100, (each, n) =>
      each.apply(unique(put('/a', requireEntry(items[n] ?? { applied: false }).id, 'present', { sku: 'x' }))),
    );
    assert.equal(results.filter(({ applied }) => applied).length, 1);
  }),

  uniqueCheck('is free again after its item was changed or deleted', async (store, session) => {
    const first = requireEntry(await store.apply(unique(creation('/a', { sku: 'x' }))));
    const changed = requireEntry(
      await store.apply(unique(put('/a', first.id, first.revision, { sku: 'y' }))),
    );
    requireEntry(await store.apply(unique(creation('/a', { sku: 'x' }))));
    const later = await session.restart();
    const taken = await later.apply(unique(creation('/a', { sku: 'y' })));
    assert.deepEqual(taken, { applied: false, conflict: { fields: ['sku'], id: first.id } });
    requireEntry(await later.apply(unique(remove('/a', first.id, changed.revision))));
    requireEntry(await later.apply(unique(creation('/a', { sku: 'y' }))));
  }),

  uniqueCheck('stays with its item, and is compared in its collection only', async (store) => {
    const { id } = requireEntry(await store.apply(unique(creation('/a', { sku: 'x' }))));
    requireEntry(await store.apply(unique(put('/a', id, 'present', { sku: 'x', n: 1 }))));
    requireEntry(await store.apply(unique(creation('/b', { sku: 'x' }))));
    requireEntry(await store.apply(unique(creation('/a', {}))));
    requireEntry(await store.apply(unique(creation('/a', {}))));
  }),

  uniqueCheck('consists of all fields of a rule', async (store) => {
    const add = (value: object) => store.apply(unique(creation('/a', { ...value }), together));
    const { id } = requireEntry(await add({ name: 'x', shop: 'y' }));
    requireEntry(await add({ name: 'x', shop: 'z' }));
    requireEntry(await add({ name: 'x,"y"', shop: 'y' }));
    requireEntry(await add({ name: 'x' }));
    requireEntry(await add({ name: 'x' }));
    const conflict = { fields: ['name', 'shop'], id };
    assert.deepEqual(await add({ name: 'x', shop: 'y' }), { applied: false, conflict });
  }),

  uniqueCheck('is found in items that were stored without the rule', async (store) => {
    const one = await create(store, '/a', { sku: 'x', text: 'a\0b' });
    const other = await create(store, '/a', { sku: 'x' });
    const add = () => store.apply(unique(creation('/a', { sku: 'x' })));
    assert.deepEqual(await add(), { applied: false, conflict: { fields: ['sku'], id: one.id } });
    requireEntry(await store.apply(unique(remove('/a', one.id, one.revision))));
    assert.deepEqual(await add(), { applied: false, conflict: { fields: ['sku'], id: other.id } });
    requireEntry(await store.apply(put('/a', other.id, 'present', { sku: 'y' })));
    const { id } = requireEntry(await add());
    requireEntry(await store.apply(unique(put('/a', other.id, 'present', { sku: 'z' }))));
    assert.deepEqual(await add(), { applied: false, conflict: { fields: ['sku'], id } });
  }),

  uniqueCheck('does not prevent the repetition of its request', async (store) => {
    if (store.receipt === undefined) return;
    // A store may remove a receipt that has expired by its own clock.
    const receipt = { key: 'once', fingerprint: 'f', until: Date.UTC(3000, 0) };
    requireEntry(await store.apply({ ...unique(creation('/a', { sku: 'x' })), receipt }));
    const repeated = await store.apply({ ...unique(creation('/a', { sku: 'x' })), receipt });
    assert.deepEqual(repeated, { applied: false });
  }),
];
