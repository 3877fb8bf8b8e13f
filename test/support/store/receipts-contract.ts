import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Applied, Change, Receipt, ReceiptedChange, Store } from '../../../src/store/store.ts';
import { entryOf } from './contract.ts';

/** The time of the changes. */
export const at = Date.UTC(2024, 1, 29, 12);
const hour = 3_600_000;

/** Returns a receipt that is stored for an hour. */
export function receiptOf(key: string, more: Partial<Receipt> = {}): Receipt {
  return { key, fingerprint: `fingerprint of ${key}`, until: at + hour, user: 'ann', ...more };
}

/** A change without its kind's own members. */
const common = { collection: '/notes', at };

/** Returns a creation with a receipt. */
export function creation(key: string, text: string, more: Partial<Receipt> = {}): Change {
  return { ...common, kind: 'create', value: { text }, receipt: receiptOf(key, more) };
}

/** The length of the item of such a creation, as JSON. */
function sizeOf(text: string): number {
  return JSON.stringify({ text }).length;
}

/** A store that is new and empty, and a way to open it again. */
export interface OpenedStore {
  readonly store: Store;
  reopen?(): Promise<Store>;
}

/** Returns the change of a receipt. */
export async function found(store: Store, key: string, now = at): Promise<ReceiptedChange | undefined> {
  assert.ok(store.receipt !== undefined);
  return store.receipt(key, now);
}

/** Describes the receipts of any store. */
export function receiptsContract(name: string, open: () => Promise<OpenedStore>): void {
  /** Runs a test, which may open the store again. */
  const withStore = (
    sentence: string,
    run: (store: Store, reopen: () => Promise<Store>) => Promise<void>,
  ): void => {
    test(sentence, async () => {
      const opened = await open();
      let { store } = opened;
      const reopen = async (): Promise<Store> => {
        store = (await opened.reopen?.()) ?? store;
        return store;
      };
      try {
        await run(store, reopen);
      } finally {
        await store.close();
      }
    });
  };

  describe(name, () => {
    withStore('returns the change of each receipt as it was made', async (store, reopen) => {
      const created = entryOf(await store.apply(creation('a', 'one')));
      const put = { ...common, kind: 'put', id: '1' } as const;
      const replacement = { ...put, expected: created.revision, value: { text: 'two' } };
      const replaced = entryOf(await store.apply({ ...replacement, receipt: receiptOf('b') }));
      const chosen = { ...put, id: 'x', expected: 'absent', value: { text: 'three' } } as const;
      const added = entryOf(await store.apply({ ...chosen, receipt: receiptOf('c') }));
      const deletion = { ...common, kind: 'delete', id: '1', expected: replaced.revision } as const;
      const deleted = entryOf(await store.apply({ ...deletion, receipt: receiptOf('d') }));
      assert.deepEqual(deleted, replaced);
      const { collection } = common;
      for (const again of [async () => store, reopen, reopen]) {
        const opened = await again();
        const expected = [
          { receipt: receiptOf('a'), kind: 'create', created: true, collection, entry: created },
          { receipt: receiptOf('b'), kind: 'put', created: false, collection, entry: replaced },
          { receipt: receiptOf('c'), kind: 'put', created: true, collection, entry: added },
          { receipt: receiptOf('d'), kind: 'delete', created: false, collection, entry: replaced },
        ];
        const all = await Promise.all(['a', 'b', 'c', 'd'].map((key) => found(opened, key)));
        assert.deepEqual(all, expected);
        assert.equal(await found(opened, 'e'), undefined);
      }
    });

    withStore('makes no second change with a receipt of the same key', async (store, reopen) => {
      await store.apply(creation('a', 'one'));
      for (const again of [async () => store, reopen]) {
        const opened = await again();
        assert.deepEqual(await opened.apply(creation('a', 'two')), { applied: false });
        assert.equal((await opened.list('/notes', 0, 10)).entries.length, 1);
      }
    });

    withStore('makes one of many simultaneous changes with a receipt of the same key', async (store) => {
      const changes = Array.from({ length: 100 }, (_, number) => creation('a', String(number)));
      const applied = await Promise.all(changes.map((change) => store.apply(change)));
      const made = applied.filter((each): each is Applied & { applied: true } => each.applied);
      assert.equal(made.length, 1);
      const { entries } = await store.list('/notes', 0, 200);
      assert.deepEqual(entries, [made[0]?.entry]);
      assert.deepEqual((await found(store, 'a'))?.entry, made[0]?.entry);
    });

    withStore('stores no receipt of a change that is not made', async (store) => {
      const deletion = { ...common, kind: 'delete', id: '7', expected: 1 } as const;
      assert.deepEqual(await store.apply({ ...deletion, receipt: receiptOf('a') }), { applied: false });
      assert.equal(await found(store, 'a'), undefined);
      assert.ok((await store.apply(creation('a', 'one'))).applied);
    });

    withStore(
      'does not return a receipt once it has expired, and then makes a change again',
      async (store, reopen) => {
        await store.apply(creation('a', 'one'));
        const opened = await reopen();
        assert.ok(await found(opened, 'a', at + hour - 1));
        assert.equal(await found(opened, 'a', at + hour), undefined);
        const later = { ...creation('a', 'two', { until: at + 2 * hour }), at: at + hour };
        const second = entryOf(await opened.apply(later));
        assert.deepEqual((await found(await reopen(), 'a', at + hour))?.entry, second);
      },
    );

    withStore('counts the unexpired receipts of each user', async (store, reopen) => {
      await store.apply(creation('a', 'one'));
      await store.apply(creation('b', 'two', { until: at + 2 * hour }));
      await store.apply(creation('c', 'three', { user: 'bob' }));
      for (const again of [async () => store, reopen]) {
        const opened = await again();
        assert.ok(opened.receiptsOf !== undefined);
        const ofBoth = { count: 2, size: sizeOf('one') + sizeOf('two'), freeAt: at + hour };
        assert.deepEqual(await opened.receiptsOf('ann', at), ofBoth);
        assert.deepEqual(await opened.receiptsOf('bob', at), {
          count: 1,
          size: sizeOf('three'),
          freeAt: at + hour,
        });
        assert.deepEqual(await opened.receiptsOf('eve', at), { count: 0, size: 0, freeAt: undefined });
      }
      const opened = await reopen();
      assert.deepEqual(await opened.receiptsOf?.('ann', at + hour), {
        count: 1,
        size: sizeOf('two'),
        freeAt: at + 2 * hour,
      });
    });
  });
}
