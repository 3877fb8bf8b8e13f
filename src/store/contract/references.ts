import assert from 'node:assert/strict';
import type { Deletion, ReferenceRules, Store, StoreChange, StoredItem } from '../store.ts';
import { at, create, creation, ids, put, remove, requireEntry } from './changes.ts';
import { callSimultaneously, checksOf } from './check.ts';

const references: ReferenceRules = [
  { from: '/users/{name}/orders', field: 'product', to: '/products' },
  { from: '/products', field: 'parent', to: '/products' },
];
const orders = '/users/a%20b/orders';

/** A store with the method that the checks need. */
type ReferringStore = Store & Required<Pick<Store, 'referrers'>>;

const referenceCheck = checksOf('a reference, if the store checks them,', isReferring);

function isReferring(store: Store): store is ReferringStore {
  return store.referrers !== undefined;
}

/** Returns a change of collections with references. */
function referring(change: StoreChange): StoreChange {
  return { ...change, references };
}

/** Returns the deletion of an item, with changes in the same step. */
function removal({ id, revision }: StoredItem, also?: Deletion['also']): StoreChange {
  return { kind: 'delete', collection: '/products', id, expected: revision, at, references, also };
}

/** Returns the deletion of an order. */
function orderRemoval({ id, revision }: StoredItem): Deletion {
  return { kind: 'delete', collection: orders, id, expected: revision, at };
}

/** Adds a product, and an order of it. */
async function addBoth(store: Store): Promise<readonly [product: StoredItem, order: StoredItem]> {
  const product = await create(store, '/products', { text: 'a\0b' });
  const order = requireEntry(await store.apply(referring(creation(orders, { product: product.id }))));
  return [product, order];
}

/** Returns the ids of the items that refer to a product. */
async function referrersOf(store: ReferringStore, id: string, most = 10): Promise<string[]> {
  const found = await store.referrers(references, '/products', id, most);
  return found.map(({ collection, item }) => `${collection}/${item.id}`);
}

/** The checks of references. */
export const referenceChecks = [
  referenceCheck('to a missing item is not stored', async (store) => {
    const missing = { field: 'product', collection: '/products', id: '1' };
    const wrong = { applied: false, missing };
    assert.deepEqual(await store.apply(referring(creation(orders, { product: '1' }))), wrong);
    const { id } = await create(store, '/products');
    const order = requireEntry(await store.apply(referring(put(orders, 'x', 'absent', { product: id }))));
    assert.deepEqual(await store.apply(referring(put(orders, 'x', 'present', { product: '2' }))), {
      applied: false,
      missing: { ...missing, id: '2' },
    });
    assert.deepEqual(await store.read(orders, 'x'), order);
    requireEntry(await store.apply(referring(creation(orders, {}))));
    requireEntry(await store.apply(referring(creation('/others', { product: '2' }))));
  }),

  referenceCheck('to the item itself is stored, and does not prevent its deletion', async (store) => {
    const own = requireEntry(
      await store.apply(referring(put('/products', 'a"b', 'absent', { parent: 'a"b' }))),
    );
    requireEntry(await store.apply(removal(own)));
    assert.deepEqual(await store.apply(referring(put('/products', 'c', 'absent', { parent: 'a"b' }))), {
      applied: false,
      missing: { field: 'parent', collection: '/products', id: 'a"b' },
    });
  }),

  referenceCheck(
    'prevents the deletion of its item until it is changed or deleted',
    async (store, session) => {
      const [product, order] = await addBoth(store);
      assert.deepEqual(await store.apply(removal(product)), { applied: false });
      assert.deepEqual(await referrersOf(store, product.id), [`${orders}/${order.id}`]);
      const found = await store.referrers(references, '/products', product.id, 1);
      assert.deepEqual(found, [{ collection: orders, item: order }]);
      requireEntry(await store.apply(referring(put(orders, order.id, 'present', {}))));
      assert.deepEqual(await referrersOf(store, product.id), []);
      const second = requireEntry(await store.apply(referring(creation(orders, { product: product.id }))));
      const later = await session.restart();
      assert.deepEqual(await later.apply(removal(product)), { applied: false });
      requireEntry(await later.apply({ ...remove(orders, second.id, second.revision) }));
      requireEntry(await later.apply(removal(product)));
    },
  ),

  referenceCheck('is found if it was stored without the rules', async (store) => {
    const product = await create(store, '/products');
    const order = await create(store, orders, { product: product.id });
    assert.deepEqual(await store.apply(removal(product)), { applied: false });
    assert.deepEqual(await referrersOf(store, product.id), [`${orders}/${order.id}`]);
    await create(store, orders, { product: product.id });
    assert.equal((await referrersOf(store, product.id)).length, 2);
    assert.equal((await referrersOf(store, product.id, 1)).length, 1);
  }),

  referenceCheck('and its item are deleted in one step, or none of them', async (store, session) => {
    const [product, order] = await addBoth(store);
    const outdated = { ...orderRemoval(order), expected: order.revision + 100 };
    assert.deepEqual(await store.apply(removal(product, [outdated])), { applied: false });
    const other = requireEntry(await store.apply(referring(creation(orders, { product: product.id }))));
    assert.deepEqual(await store.apply(removal(product, [orderRemoval(order)])), { applied: false });
    assert.deepEqual(await store.read(orders, order.id), order);
    const cleared = { kind: 'put', collection: orders, id: other.id, expected: other.revision, at } as const;
    const also = [orderRemoval(order), { ...cleared, value: { text: 'kept' } }];
    assert.deepEqual(requireEntry(await store.apply(removal(product, also))), product);
    const later = await session.restart();
    assert.equal(await later.read('/products', product.id), undefined);
    const { entries } = await later.list(orders, 0, 10);
    assert.deepEqual(
      entries.map(({ id, value }) => ({ id, value })),
      [{ id: other.id, value: { text: 'kept' } }],
    );
    const [left] = entries;
    assert.ok(left !== undefined && left.revision > other.revision);
  }),

  referenceCheck('never dangles when items are created and deleted at once', async (store, session) => {
    for (let round = 0; round < 10; round += 1) {
      const product = await create(store, '/products');
      const results = await callSimultaneously(session, 20, (each, n) =>
        each.apply(n === 11 ? removal(product) : referring(creation(orders, { product: product.id }))),
      );
      const made = results.filter(({ applied }, n) => applied && n !== 11).length;
      const isDeleted = results[11]?.applied === true;
      assert.equal((await store.read('/products', product.id)) === undefined, isDeleted);
      assert.equal(made > 0, !isDeleted);
    }
  }),

  referenceCheck('does not prevent the repetition of its request', async (store) => {
    if (store.receipt === undefined) return;
    const receipt = { key: 'once', fingerprint: 'f', until: Date.UTC(3000, 0) };
    const [product, order] = await addBoth(store);
    const change = { ...removal(product, [orderRemoval(order)]), receipt };
    requireEntry(await store.apply(change));
    assert.deepEqual(await store.apply(change), { applied: false });
    assert.deepEqual(ids(await store.list('/products', 0, 10)), []);
    assert.equal((await store.receipt('once', at))?.kind, 'delete');
  }),
];
