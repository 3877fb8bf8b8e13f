import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openPostgresStore } from '../../src/postgres/index.ts';
import type { TransferPart } from '../../src/store/store.ts';
import { missingPostgres, type Server, startServer } from '../support/postgres/server.ts';
import { create, put, remove, requireEntry } from '../support/store/contract.ts';

if (missingPostgres === false) {
  const server = await startServer();
  describe('the content of a store on PostgreSQL', () => describeTransfers(server));
} else {
  test('the content of a store on PostgreSQL', { skip: missingPostgres }, () => {});
}

async function* each(parts: readonly TransferPart[]): AsyncGenerator<TransferPart> {
  yield* parts;
}

async function all(parts: AsyncIterable<TransferPart>): Promise<TransferPart[]> {
  const found: TransferPart[] = [];
  for await (const part of parts) found.push(part);
  return found;
}

function describeTransfers(server: Server): void {
  const filled = async () => {
    const store = await openPostgresStore(server.pool(), { schema: server.schema() });
    await Promise.all(Array.from({ length: 1200 }, (_, n) => create(store, '/many', { n })));
    for (const id of ['x\0', '3', '4', '6']) requireEntry(await store.apply(put('/a', id, 'absent', { id })));
    const gone = requireEntry(await store.apply(put('/a', '8', 'absent', { gone: true })));
    await store.apply(remove('/a', '8', gone.revision));
    await create(store, '/a', { text: 'x'.repeat(2_000_000) });
    return store;
  };

  test('is the same after an export and an import', async () => {
    const store = await filled();
    const parts = await all(store.exportState());
    const copy = await openPostgresStore(server.pool(), { schema: server.schema() });
    assert.equal(await copy.importState(each(parts), 0), true);
    assert.equal(copy.storeId, store.storeId);
    const exported = await all(copy.exportState());
    assert.deepEqual(exported, parts);
    assert.deepEqual(await copy.list('/many', 0, 2000), await store.list('/many', 0, 2000));
    const ids = async (from: typeof store) =>
      (await Promise.all([1, 2, 3, 4].map(() => create(from, '/a')))).map(({ id, sequence }) => [
        id,
        sequence,
      ]);
    assert.deepEqual(await ids(copy), await ids(store));
    const revisions = parts.flatMap((part) => (part.kind === 'item' ? [part.entry.revision] : []));
    assert.ok((await create(copy, '/new')).revision > Math.max(...revisions));
    await Promise.all([store.close(), copy.close()]);
  });

  test('is exported as a snapshot during concurrent changes', async () => {
    const store = await filled();
    const before = await all(store.exportState());
    const parts: TransferPart[] = [];
    for await (const part of store.exportState()) {
      if (parts.length === 1) await create(store, '/many');
      if (parts.length === 2) await store.apply(put('/a', 'x\0', 'present', { changed: true }));
      parts.push(part);
    }
    assert.deepEqual(parts, before);
    await store.close();
  });

  test('is not replaced by an import', async () => {
    const store = await filled();
    const before = await all(store.exportState());
    assert.equal(await store.importState(each([{ kind: 'store', storeId: 'x', revision: 1 }]), 0), false);
    assert.deepEqual(await all(store.exportState()), before);
    await store.close();
  });

  test('is imported completely or not at all', async () => {
    const store = await openPostgresStore(server.pool(), { schema: server.schema() });
    const numbers = { counter: 1, sequence: 1, revision: 1, modified: 1 };
    const item = { id: '1', sequence: 1, revision: 1, modified: 1, value: {} };
    const parts: TransferPart[] = [
      { kind: 'store', storeId: 'x', revision: 7 },
      { kind: 'collection', path: '/a', chosen: [], ...numbers },
      { kind: 'item', collection: '/a', entry: item },
      { kind: 'item', collection: '/a', entry: item },
    ];
    await assert.rejects(store.importState(each(parts), 0), { name: 'StoreError' });
    assert.deepEqual((await store.list('/a', 0, 10)).revision, 0);
    assert.notEqual(store.storeId, 'x');
    assert.equal(await store.importState(each(parts.slice(0, 3)), 0), true);
    assert.deepEqual(await store.read('/a', '1'), item);
    assert.equal((await create(store, '/a')).revision, 8);
    await store.close();
  });

  test('is imported with a time until which no nonce is fresh', async () => {
    const store = await openPostgresStore(server.pool(), { schema: server.schema() });
    const [now, until] = [Date.now(), Date.now() + 60_000];
    assert.equal(await store.importState(each([]), until), true);
    const claimed = await store.nonces.claim('demo', 'n', until, now);
    assert.ok(typeof claimed === 'object' && 'knownFrom' in claimed, JSON.stringify(claimed));
    assert.equal(await store.nonces.claim('demo', 'n', until + 1, now), 'fresh');
    await store.close();
  });
}
