import assert from 'node:assert/strict';
import { create, put, remove, requireEntry } from './changes.ts';
import { callSimultaneously, storeCheck } from './check.ts';

/** The checks of assigned ids, sequences and revisions. */
export const idChecks = [
  storeCheck('assigned ids count up from 1 in each collection', async (store) => {
    const assigned: string[] = [];
    for (const path of ['/a', '/a', '/b', '/a']) assigned.push((await create(store, path)).id);
    assert.deepEqual(assigned, ['1', '2', '1', '3']);
  }),

  storeCheck('assigned ids skip those that clients chose, deleted or not', async (store, session) => {
    const deleted = requireEntry(await store.apply(put('/a', '2', 'absent', {})));
    await store.apply(put('/a', '3', 'absent', {}));
    await store.apply(put('/a', '5', 'absent', {}));
    await store.apply(remove('/a', '2', deleted.revision));
    const later = await session.restart();
    assert.deepEqual([(await create(later, '/a')).id, (await create(later, '/a')).id], ['1', '4']);
    assert.equal((await create(await session.restart(), '/a')).id, '6');
  }),

  storeCheck('assigned ids do not skip ids that only resemble numbers', async (store) => {
    for (const id of ['01', '1.0', '+1', '1e0', ' 1', '٣', '9007199254740993', '9'.repeat(128)]) {
      requireEntry(await store.apply(put('/a', id, 'absent', {})));
    }
    assert.equal((await create(store, '/a')).id, '1');
  }),

  storeCheck('assigned ids are never reused after a deletion', async (store, session) => {
    for (let round = 0; round < 3; round += 1) {
      const made = await create(store, '/a');
      await store.apply(remove('/a', made.id, made.revision));
    }
    assert.equal((await create(await session.restart(), '/a')).id, '4');
  }),

  storeCheck(
    'assigned ids, sequences and revisions differ for simultaneous creations',
    async (_, session) => {
      const made = await callSimultaneously(session, 100, (store) => create(store, '/a'));
      const numbers = made.map(({ id }) => Number(id)).sort((one, other) => one - other);
      assert.deepEqual(
        numbers,
        Array.from({ length: 100 }, (_, index) => index + 1),
      );
      assert.equal(new Set(made.map(({ sequence }) => sequence)).size, 100);
      assert.equal(new Set(made.map(({ revision }) => revision)).size, 100);
    },
  ),

  storeCheck('revisions increase over all collections and restarts', async (store, session) => {
    const revisions = [(await create(store, '/a')).revision, (await create(store, '/b')).revision];
    const deleted = await create(store, '/a');
    await store.apply(remove('/a', deleted.id, deleted.revision));
    revisions.push(deleted.revision, (await store.list('/a', 0, 10)).revision);
    const later = await session.restart();
    revisions.push((await create(later, '/b')).revision);
    revisions.push(requireEntry(await later.apply(put('/a', '1', 'present', {}))).revision);
    assert.deepEqual(
      revisions,
      [...new Set(revisions)].sort((one, other) => one - other),
    );
  }),

  storeCheck('the id of the store identifies it, also after a restart', async (store, session) => {
    const { storeId } = store;
    assert.equal(typeof storeId, 'string');
    assert.notEqual(storeId, '');
    assert.ok(session.engines.every((each) => each.storeId === storeId));
    assert.equal((await session.restart()).storeId, storeId);
  }),
];
