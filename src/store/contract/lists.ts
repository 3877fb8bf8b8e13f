import assert from 'node:assert/strict';
import { nextTurn } from '../../timers.ts';
import type { Store, StoredItem } from '../store.ts';
import { at, create, ids, put, remove, requireEntry } from './changes.ts';
import { callSimultaneously, storeCheck } from './check.ts';

const writers = 64;
const creationsEach = 8;

/** The checks of lists. */
export const listChecks = [
  storeCheck('a list is empty, with revision 0, if the collection was never changed', async (store) => {
    const nothing = { entries: [], more: false, revision: 0, modified: 0 };
    assert.deepEqual(await store.list('/a', 0, 10), nothing);
    await store.apply(put('/a', 'x', 7, {}));
    assert.deepEqual(await store.list('/a', 0, 10), nothing);
  }),

  storeCheck('a list has pages of every size at every depth, in the order of creation', async (store) => {
    const made = await Promise.all(Array.from({ length: 1300 }, (_, n) => create(store, '/a', { n })));
    const inOrder = made.toSorted((one, other) => one.sequence - other.sequence);
    const gone = inOrder.filter((_, index) => index % 3 === 0 || (index > 400 && index < 1000));
    await Promise.all(gone.map(({ id, revision }) => store.apply(remove('/a', id, revision))));
    const left = inOrder.filter((entry) => !gone.includes(entry));
    const depths = [0, 1, 398, 399, 511, 699, 998, 999, 1297, 1298, 1299].map(
      (index) => inOrder[index]?.sequence ?? 0,
    );
    for (const after of [0, ...depths, (inOrder.at(-1)?.sequence ?? 0) + 5000]) {
      const following = left.filter(({ sequence }) => sequence > after);
      for (const limit of [1, 2, 50, 500, 2000, Math.max(1, following.length)]) {
        const page = await store.list('/a', after, limit);
        assert.deepEqual(page.entries, following.slice(0, limit), `after ${after}, limit ${limit}`);
        assert.equal(page.more, following.length > limit, `after ${after}, limit ${limit}`);
      }
    }
  }),

  storeCheck('a list has all items when it is read few bytes at a time', async (store, session) => {
    for (let n = 0; n < 300; n += 1) await create(store, '/a', { n, text: 'x'.repeat(n % 100) });
    for (const each of [store, await session.restart()]) {
      for (const bytes of [1, 1000, 1_000_000]) {
        const found: StoredItem[] = [];
        for (let more = true; more; ) {
          const page = await each.list('/a', found.at(-1)?.sequence ?? 0, 50, bytes);
          assert.ok(page.entries.length > 0 && page.entries.length <= 50);
          found.push(...page.entries);
          more = page.more;
        }
        assert.deepEqual(
          found.map(({ value }) => value['n']),
          Array.from({ length: 300 }, (_, n) => n),
        );
      }
    }
  }),

  storeCheck(
    'a list has the revision and time of its last change, which never decrease',
    async (store, session) => {
      const made = await create(store, '/a');
      await store.apply({ ...remove('/a', made.id, made.revision), at: at + 5000 });
      const emptied = await store.list('/a', 0, 10);
      assert.ok(emptied.revision > made.revision);
      assert.equal(emptied.modified, at + 5000);
      await store.apply({ kind: 'create', collection: '/a', value: {}, at: at - 60_000 });
      const page = await (await session.restart()).list('/a', 0, 10);
      assert.equal(page.modified, at + 5000);
      assert.ok(page.revision > emptied.revision);
    },
  ),

  storeCheck('a listener is called with each change of its collection until it is removed', async (store) => {
    if (store.watch === undefined) return;
    const made = await create(store, '/a');
    const calls: unknown[] = [];
    const others: number[] = [];
    const end = store.watch('/a', (...call) => calls.push(call));
    const endOther = store.watch('/a', (sequence) => others.push(sequence));
    const changed = requireEntry(await store.apply(put('/a', made.id, made.revision, { n: 1 })));
    await create(store, '/b');
    await store.apply(put('/a', made.id, made.revision, { n: 2 }));
    await store.apply(remove('/a', made.id, changed.revision));
    const { revision } = await store.list('/a', 0, 10);
    end();
    const last = await create(store, '/a');
    endOther();
    assert.deepEqual(calls, [
      [made.sequence, changed, changed.revision],
      [made.sequence, undefined, revision],
    ]);
    assert.deepEqual(others, [made.sequence, made.sequence, last.sequence]);
  }),

  storeCheck('a list of one collection does not depend on another', async (store) => {
    const made = await create(store, '/a');
    const before = await store.list('/a', 0, 10);
    for (const path of ['/b', '/a/', '/A', '/a/1', '']) await create(store, path);
    assert.deepEqual(await store.list('/a', 0, 10), before);
    assert.deepEqual(before.entries, [made]);
  }),

  storeCheck('a list has a change once its promise has resolved', async (_, session) => {
    const [store] = session.engines;
    for (const reader of session.engines) {
      const made = await create(store, '/a');
      assert.equal((await reader.list('/a', 0, 1000)).entries.at(-1)?.id, made.id);
      const changed = requireEntry(await store.apply(put('/a', made.id, made.revision, { n: 1 })));
      assert.deepEqual(await reader.read('/a', made.id), changed);
    }
  }),

  storeCheck('a list that is read while many writers create never skips an item', async (_, session) => {
    let isDone = false;
    const reading = session.engines.map((store) => readWhile(store, () => !isDone));
    const made = await callSimultaneously(session, writers, createSome).finally(() => {
      isDone = true;
    });
    const created = made.flat().toSorted((one, other) => one.sequence - other.sequence);
    assert.equal(created.length, writers * creationsEach);
    for (const found of await Promise.all(reading))
      assert.deepEqual(ids({ entries: found }), ids({ entries: created }));
  }),
];

async function createSome(store: Store, writer: number): Promise<StoredItem[]> {
  const made: StoredItem[] = [];
  for (let n = 0; n < creationsEach; n += 1) {
    made.push(await create(store, '/a', { writer, n }));
    if (n % 3 === 0) await nextTurn();
  }
  return made;
}

/** Reads pages, each after the last item of the previous one, until the writers are done and nothing follows. */
async function readWhile(store: Store, areWriting: () => boolean): Promise<StoredItem[]> {
  const found: StoredItem[] = [];
  for (let more = true; more; ) {
    more = areWriting();
    const page = await store.list('/a', found.at(-1)?.sequence ?? 0, 7);
    found.push(...page.entries);
    more ||= page.more;
    await nextTurn();
  }
  return found;
}
