import assert from 'node:assert/strict';
import type { Receipt, Store, StoreChange, StoredReceipt } from '../store.ts';
import { create, creation, put, remove, requireEntry } from './changes.ts';
import { callSimultaneously, checksOf, type Session } from './check.ts';

/** How long (ms) a receipt is stored in these checks. */
const lifetime = 600_000;

/** A store with receipts. */
type WithReceipts = Store & Required<Pick<Store, 'receipt'>>;

const receiptCheck = checksOf('a receipt, if the store has any,', hasReceipts);

function hasReceipts(store: Store): store is WithReceipts {
  return store.receipt !== undefined;
}

function receiptFor(key: string, { now }: Session<Store>): Receipt {
  return { key, fingerprint: `content of ${key}`, until: now + lifetime };
}

async function found(store: Store, key: string, now: number): Promise<StoredReceipt | undefined> {
  assert.ok(hasReceipts(store));
  return store.receipt(key, now);
}

async function sizeFor(store: WithReceipts, user: string, now: number): Promise<number | undefined> {
  return (await store.receiptsOf?.(user, now))?.size;
}

/** The checks of receipts. */
export const receiptChecks = [
  receiptCheck('is stored with its change, also across a restart', async (store, session) => {
    const { now } = session;
    const existing = await create(store, '/a', { n: 1 });
    const cases: readonly {
      readonly key: string;
      readonly change: StoreChange;
      readonly created: boolean;
    }[] = [
      { key: 'creation', change: creation('/a', { n: 2 }), created: true },
      { key: 'new id', change: put('/a', 'x', 'absent', { n: 3 }), created: true },
      { key: 'replacement', change: put('/a', existing.id, existing.revision, { n: 4 }), created: false },
    ];
    const expected: StoredReceipt[] = [];
    for (const { key, change, created } of cases) {
      const receipt = receiptFor(key, session);
      const entry = requireEntry(await store.apply({ ...change, at: now, receipt }));
      expected.push({ receipt, kind: change.kind, created, collection: '/a', entry });
      assert.deepEqual(await store.receipt(key, now), expected.at(-1));
    }
    const later = await session.restart();
    for (const each of expected) assert.deepEqual(await found(later, each.receipt.key, now), each);
    assert.equal(await found(later, 'other', now), undefined);
  }),

  receiptCheck('of a deletion has the item before it', async (store, session) => {
    const { now } = session;
    const entry = await create(store, '/a', { n: 1 });
    const receipt = receiptFor('deletion', session);
    await store.apply({ ...remove('/a', entry.id, entry.revision), at: now, receipt });
    const expected = { receipt, kind: 'delete', created: false, collection: '/a', entry };
    assert.deepEqual(await store.receipt('deletion', now), expected);
  }),

  receiptCheck('keeps its item although the item is changed later', async (store, session) => {
    const { now } = session;
    const receipt = receiptFor('first', session);
    const entry = requireEntry(await store.apply({ ...creation('/a', { n: 1 }), at: now, receipt }));
    const changed = requireEntry(await store.apply(put('/a', entry.id, entry.revision, { n: 2 })));
    await store.apply(remove('/a', entry.id, changed.revision));
    assert.deepEqual((await found(await session.restart(), 'first', now))?.entry, entry);
  }),

  receiptCheck('prevents another change with its key', async (store, session) => {
    const { now } = session;
    const receipt = receiptFor('once', session);
    const entry = requireEntry(await store.apply({ ...creation('/a', { n: 1 }), at: now, receipt }));
    const others = [
      creation('/a', { n: 2 }),
      put('/a', 'x', 'absent', {}),
      put('/a', entry.id, 'present', { n: 3 }),
      remove('/a', entry.id, entry.revision),
      creation('/b'),
    ];
    const again = { ...receipt, fingerprint: 'other content' };
    const expectNoChange = async (opened: Store): Promise<void> => {
      for (const change of others)
        assert.deepEqual(await opened.apply({ ...change, at: now, receipt: again }), { applied: false });
      assert.deepEqual((await opened.list('/a', 0, 10)).entries, [entry]);
      assert.deepEqual((await opened.list('/b', 0, 10)).entries, []);
      assert.deepEqual((await found(opened, 'once', now))?.receipt, receipt);
    };
    await expectNoChange(store);
    await expectNoChange(await session.restart());
  }),

  receiptCheck('admits one of 100 simultaneous changes with its key', async (store, session) => {
    const { now } = session;
    const receipt = receiptFor('once', session);
    const results = await callSimultaneously(session, 100, (each, n) =>
      each.apply({ ...creation('/a', { n }), at: now, receipt }),
    );
    const [entry, ...others] = results.flatMap((result) => (result.applied ? [result.entry] : []));
    assert.deepEqual(others, []);
    assert.deepEqual((await store.list('/a', 0, 200)).entries, [entry]);
    assert.deepEqual((await store.receipt('once', now))?.entry, entry);
  }),

  receiptCheck('is not stored if its change is not applied', async (store, session) => {
    const { now } = session;
    const receipt = receiptFor('once', session);
    const stale = put('/a', 'x', 'present', {});
    assert.deepEqual(await store.apply({ ...stale, at: now, receipt }), { applied: false });
    assert.equal(await store.receipt('once', now), undefined);
    requireEntry(await store.apply({ ...creation('/a'), at: now, receipt }));
  }),

  receiptCheck('counts for its user until it expires, if the store counts them', async (store, session) => {
    const { now } = session;
    if (store.receiptsOf === undefined) return;
    for (const [n, user] of ['ann', 'ann', 'bob'].entries()) {
      const until = now + (n + 1) * lifetime;
      const receipt = { ...receiptFor(`counted ${n}`, session), until, user };
      await store.apply({ ...creation('/a', { n }), at: now, receipt });
    }
    const countReceipts = async (user: string, at: number): Promise<readonly (number | undefined)[]> => {
      const counted = await store.receiptsOf?.(user, at);
      return [counted?.count, counted?.freeAt];
    };
    const later = now + lifetime + 1000;
    const size = await sizeFor(store, 'ann', now);
    assert.deepEqual(await countReceipts('ann', now), [2, now + lifetime]);
    assert.deepEqual(await countReceipts('bob', now), [1, now + 3 * lifetime]);
    assert.deepEqual(await countReceipts('ann', later), [1, now + 2 * lifetime]);
    assert.deepEqual(await countReceipts('nobody', now), [0, undefined]);
    const less = await sizeFor(store, 'ann', later);
    assert.ok(size === undefined || (less !== undefined && less > 0 && size > less));
  }),

  receiptCheck(
    'is not returned once it has expired, and its key can be used again',
    async (store, session) => {
      const { now } = session;
      const receipt = receiptFor('expiring', session);
      await store.apply({ ...creation('/a', { n: 1 }), at: now, receipt });
      const later = now + lifetime + 1000;
      assert.equal(await store.receipt('expiring', later), undefined);
      const next = { ...receipt, until: later + lifetime };
      const entry = requireEntry(
        await store.apply({ ...creation('/a', { n: 2 }), at: later, receipt: next }),
      );
      assert.deepEqual((await store.receipt('expiring', later))?.entry, entry);
    },
  ),
];
