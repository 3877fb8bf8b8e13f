import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Receipt, Store, StoreChange, StoredReceipt } from '../../../src/store/store.ts';

/** The time of the changes. */
export const at = Date.UTC(2024, 1, 29, 12);
const hour = 3_600_000;

/** Returns a receipt that is stored for an hour. */
export function buildReceipt(key: string, more: Partial<Receipt> = {}): Receipt {
  return { key, fingerprint: `fingerprint of ${key}`, until: at + hour, user: 'ann', ...more };
}

/** A change without its kind's own members. */
const common = { collection: '/notes', at };

/** Returns a creation with a receipt. */
export function creation(key: string, text: string, more: Partial<Receipt> = {}): StoreChange {
  return { ...common, kind: 'create', value: { text }, receipt: buildReceipt(key, more) };
}

/** The length of the item of such a creation, as JSON. */
function computeSize(text: string): number {
  return JSON.stringify({ text }).length;
}

/** A store that is new and empty, and a way to open it again. */
interface OpenedStore {
  readonly store: Store;
  reopen?(): Promise<Store>;
}

/** Returns the change of a receipt. */
export async function found(store: Store, key: string, now = at): Promise<StoredReceipt | undefined> {
  assert.ok(store.receipt !== undefined);
  return store.receipt(key, now);
}

/** Describes what the published contract leaves open: the exact size of receipts. */
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
    withStore('counts the unexpired receipts of each user', async (store, reopen) => {
      await store.apply(creation('a', 'one'));
      await store.apply(creation('b', 'two', { until: at + 2 * hour }));
      await store.apply(creation('c', 'three', { user: 'bob' }));
      for (const again of [async () => store, reopen]) {
        const opened = await again();
        assert.ok(opened.receiptsOf !== undefined);
        const ofBoth = { count: 2, size: computeSize('one') + computeSize('two'), freeAt: at + hour };
        assert.deepEqual(await opened.receiptsOf('ann', at), ofBoth);
        assert.deepEqual(await opened.receiptsOf('bob', at), {
          count: 1,
          size: computeSize('three'),
          freeAt: at + hour,
        });
        assert.deepEqual(await opened.receiptsOf('eve', at), { count: 0, size: 0, freeAt: undefined });
      }
      const opened = await reopen();
      assert.deepEqual(await opened.receiptsOf?.('ann', at + hour), {
        count: 1,
        size: computeSize('two'),
        freeAt: at + 2 * hour,
      });
    });
  });
}
