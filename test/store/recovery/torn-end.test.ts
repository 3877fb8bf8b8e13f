import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../../src/clock.ts';
import { type JournaledStore, openJournaledStore } from '../../../src/store/durable.ts';
import { recover } from '../../../src/store/recover.ts';
import type { CompactionLimits } from '../../../src/store/snapshot/compaction.ts';
import { create, ids } from '../../support/store/contract.ts';
import { faultyDisk } from '../../support/store/faulty-disk.ts';
import { PowerLossDisk } from '../../support/store/power-loss-disk.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

async function open(
  directory: string,
  more: {
    limits?: CompactionLimits;
    disk?: ReturnType<typeof faultyDisk>;
    onWarning?: (line: string) => void;
  } = {},
): Promise<JournaledStore> {
  return openJournaledStore({
    directory,
    recovered: await recover({ directory }),
    newStoreId: () => 'first',
    durability: 'fsync',
    clock: systemClock,
    onWarning: (line) => assert.fail(line),
    ...more,
  });
}

/** The titles in store.jsonl as a person finds them. */
async function readable(directory: string): Promise<string[]> {
  const text = await readFile(join(directory, 'store.jsonl'), 'utf8').catch(() => '');
  return Array.from(text.matchAll(/\{"id":"([0-9]+)"/g), ([, id = '']) => id);
}

async function generation(directory: string): Promise<number> {
  return (await recover({ directory })).generation;
}

async function begun(context: TestContext): Promise<{ directory: string; store: JournaledStore }> {
  const directory = temporaryDirectory(context);
  const store = await open(directory);
  await create(store, '/a');
  await create(store, '/a');
  return { directory, store };
}

test('store.jsonl has all items after an orderly close', async (context) => {
  const { directory, store } = await begun(context);
  assert.deepEqual(await readable(directory), []);
  await store.close();
  assert.deepEqual(await readable(directory), ['1', '2']);
  const again = await open(directory);
  assert.deepEqual(ids(await again.list('/a', 0, 10)), ['1', '2']);
  await create(again, '/a');
  await again.close();
  assert.deepEqual(await readable(directory), ['1', '2', '3']);
});

test('a close without changes writes no new snapshot', async (context) => {
  const { directory, store } = await begun(context);
  await store.close();
  const before = await generation(directory);
  await (await open(directory)).close();
  assert.equal(await generation(directory), before);
});

test('changes above the maximum size for a snapshot on close remain in the journals', async (context) => {
  const directory = temporaryDirectory(context);
  const store = await open(directory, { limits: { minBytes: 1e9, ratio: 1, maxBytesOnClose: 100 } });
  await create(store, '/a');
  await store.close();
  assert.deepEqual(await readable(directory), []);
  assert.deepEqual(ids((await recover({ directory })).state.list('/a', 0, 10)), ['1']);
});

test('a close on a full disk loses no changes', async (context) => {
  const directory = temporaryDirectory(context);
  const disk = faultyDisk();
  const messages: string[] = [];
  const store = await open(directory, { disk, onWarning: (line) => messages.push(line) });
  await create(store, '/a');
  disk.failNext('create', 'ENOSPC');
  await store.close();
  assert.match(messages.join(), /no new snapshot was written/);
  assert.deepEqual(ids((await recover({ directory })).state.list('/a', 0, 10)), ['1']);
});

test('a deletion and the changes of the same step are recovered completely, or not at all', async (context) => {
  const directory = temporaryDirectory(context);
  const store = await open(directory);
  const references = [{ from: '/orders', field: 'product', to: '/products' }];
  const product = await create(store, '/products');
  for (const _ of [1, 2, 3]) await create(store, '/orders', { product: '1' });
  const before = (await recover({ directory })).journals.at(-1)?.bytes ?? 0;
  const at = 0;
  const also = ['1', '2', '3'].map((id, n) => {
    const change = { collection: '/orders', id, expected: n + 2, at };
    return n === 1
      ? ({ ...change, kind: 'put', value: {} } as const)
      : ({ ...change, kind: 'delete' } as const);
  });
  const deletion = {
    kind: 'delete',
    collection: '/products',
    id: '1',
    expected: product.revision,
    at,
  } as const;
  assert.ok((await store.apply({ ...deletion, references, also })).applied);
  const [last] = (await recover({ directory })).journals;
  assert.ok(last !== undefined);
  const content = await readFile(last.path);
  for (let length = before; length <= last.bytes; length += 1) {
    const disk = new PowerLossDisk(new Map([[basename(last.path), content.subarray(0, length)]]));
    const { state } = await recover({ directory, disk });
    const isWhole: boolean = length === last.bytes;
    assert.deepEqual(ids(state.list('/products', 0, 10)), isWhole ? [] : ['1'], `${length}`);
    const orders = state.list('/orders', 0, 10).entries.map(({ id, value }) => [id, value]);
    const product = { product: '1' };
    const all = ['1', '2', '3'].map((id) => [id, product]);
    assert.deepEqual(orders, isWhole ? [['2', {}]] : all);
  }
  await store.close();
});
