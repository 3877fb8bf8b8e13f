import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createManualClock } from '../../src/clock.ts';
import { openPostgresStore, type PostgresStore } from '../../src/postgres/index.ts';
import type { Receipt, StoreChange, StoreResult } from '../../src/store/store.ts';
import { storeContract } from '../../src/store-contract/index.ts';
import { missingPostgres, type Pool, type Server, startServer } from '../support/postgres/server.ts';
import { seeded } from '../support/seeded.ts';
import { create, ids, put, remove, requireEntry } from '../support/store/contract.ts';
import { intercept } from './intercept.ts';

const at = Date.UTC(2013, 3, 20, 12, 59, 24);
const rounds = 100;

if (missingPostgres === false) {
  const server = await startServer();
  const [one, other] = [server.pool(), server.pool()];
  const open = (schema: string, pool = one): Promise<PostgresStore> =>
    openPostgresStore(pool, { schema, endClient: false });
  describe('a store on PostgreSQL', () => describeContract(server, [one, other]));
  describe('a value in PostgreSQL', () => describeValues(() => open(server.schema())));
  const past = { clock: createManualClock(at), onWarning: () => {}, endClient: false };
  describe('a receipt in PostgreSQL', () =>
    describeReceipts(() => openPostgresStore(one, { ...past, schema: server.schema() })));
  describe('two processes on one database', () =>
    describeTwo(async () => {
      const schema = server.schema();
      return [await open(schema), await open(schema, other)];
    }));
  describe('the client of a store on PostgreSQL', () => describeClients(server));
  describe('a batch', () => describeBatches(server));
} else {
  test('a store on PostgreSQL', { skip: missingPostgres }, () => {});
}

/** Runs the published contracts, with a second process on the same database. */
function describeContract(server: Server, [one, other]: readonly [Pool, Pool]): void {
  const { seed } = seeded();
  const schemas = new WeakMap<object, string>();
  const openIn = async (schema: string, pool: Pool): Promise<PostgresStore> => {
    const store = await openPostgresStore(pool, { schema, endClient: false });
    schemas.set(store, schema);
    return store;
  };
  const findSchema = (store: object): string => schemas.get(store) ?? '';
  const open = (): Promise<PostgresStore> => openIn(server.schema(), one);
  for (const { name, run } of storeContract)
    test(`${name} (SEED=${seed})`, () =>
      run(open, {
        seed,
        reopen: (closed) => openIn(findSchema(closed), one),
        peer: (opened) => openIn(findSchema(opened), other),
      }));
}

function describeValues(open: () => Promise<PostgresStore>): void {
  test('may contain any character, as may names, ids and collections', async () => {
    const store = await open();
    const texts = [
      '\0',
      'a\0b',
      '\ud800',
      '\udc00x',
      '\u{1f511}',
      '\\',
      '\\u0000',
      '"',
      '\n\t\u2028',
      "'",
      '$cs$',
      '%',
      '{}',
      '\u007f\u0080',
      'é',
    ];
    for (const text of texts) {
      const value = { [`n${text}`]: text, list: [text, { [text]: true }] };
      const made = requireEntry(await store.apply(put(`/${text}`, `i${text}`, 'absent', value)));
      assert.deepEqual(await store.read(`/${text}`, `i${text}`), made);
      const { entries } = await store.list(`/${text}`, 0, 10);
      assert.deepEqual(entries, [made], JSON.stringify(text));
      assert.deepEqual(requireEntry(await store.apply(remove(`/${text}`, `i${text}`, made.revision))), made);
    }
    await store.close();
  });

  test('preserves the order of its members and every number', async () => {
    const store = await open();
    const value = {
      z: 1,
      a: 2,
      '10': 3,
      numbers: [0.1, 1e21, 5e-324, 1.7976931348623157e308, 2 ** 53, 123456789012345680, -0.5, 1e-7],
      empty: '',
      none: [],
      nested: { b: { a: {} }, a: [[[]]] },
    };
    const { id } = await create(store, '/a', value);
    assert.equal(JSON.stringify((await store.read('/a', id))?.value), JSON.stringify(value));
    await store.close();
  });

  test('may have several megabytes, and then ends a page early', async () => {
    const store = await open();
    const text = 'x\\"'.repeat(1_000_000);
    for (let n = 0; n < 3; n += 1) await create(store, '/a', { text });
    const page = await store.list('/a', 0, 10, 4_000_000);
    assert.deepEqual([ids(page), page.more], [['1'], true]);
    assert.deepEqual(page.entries[0]?.value, { text });
    await store.close();
  });

  test('is rejected alone in its batch if the id of its item is too long for an index', async () => {
    const store = await open();
    const long = put('/a', 'x'.repeat(3000), 'absent', {});
    const done = await Promise.allSettled([long, put('/a', 'y', 'absent', {})].map((c) => store.apply(c)));
    assert.deepEqual(
      done.map(({ status }) => status),
      ['rejected', 'fulfilled'],
    );
    assert.equal(await store.read('/a', 'x'.repeat(3000)), undefined);
    await store.close();
  });

  test('never has an earlier modification time if the clock is set back', async () => {
    const store = await open();
    await create(store, '/a');
    const made = requireEntry(await store.apply({ ...put('/a', '1', 'present', {}), at: at - 5000 }));
    assert.equal(made.modified, at);
    await store.close();
  });
}

function describeReceipts(open: () => Promise<PostgresStore>): void {
  const receipt: Receipt = { key: 'k\0', fingerprint: 'f\ud800', until: at + 1000 };
  const creation = (given: Receipt): StoreChange => ({
    kind: 'create',
    collection: '/a',
    value: { n: 1 },
    at,
    receipt: given,
  });

  test('is stored with its change and returned until it expires', async () => {
    const store = await open();
    const entry = requireEntry(await store.apply(creation(receipt)));
    const made = { receipt, kind: 'create', created: true, collection: '/a', entry } as const;
    assert.deepEqual(await store.receipt('k\0', at + 999), made);
    assert.equal(await store.receipt('k\0', at + 1000), undefined);
    assert.equal(await store.receipt('other', at), undefined);
    await store.close();
  });

  test('contains the deleted item, and whether a replacement created an item', async () => {
    const store = await open();
    const added = requireEntry(await store.apply({ ...put('/a', 'x', 'absent', { n: 1 }), receipt }));
    assert.equal((await store.receipt(receipt.key, at))?.created, true);
    const second = { ...receipt, key: 'second' };
    const replaced = requireEntry(
      await store.apply({ ...put('/a', 'x', added.revision, { n: 2 }), receipt: second }),
    );
    assert.equal((await store.receipt('second', at))?.created, false);
    const third = { ...receipt, key: 'third' };
    await store.apply({ ...remove('/a', 'x', replaced.revision), receipt: third });
    const deletion = await store.receipt('third', at);
    assert.deepEqual([deletion?.kind, deletion?.entry], ['delete', replaced]);
    await store.close();
  });

  test('prevents other changes with its key until it expires, even concurrent ones', async () => {
    const store = await open();
    const attempts = Array.from({ length: 10 }, () => store.apply(creation(receipt)));
    assert.equal((await Promise.all(attempts)).filter(({ applied }) => applied).length, 1);
    assert.deepEqual(ids(await store.list('/a', 0, 10)), ['1']);
    const later = { ...creation({ ...receipt, until: at + 5000 }), at: at + 1000 };
    assert.equal((await store.apply(later)).applied, true);
    assert.equal((await store.receipt(receipt.key, at + 4999))?.entry.id, '2');
    await store.close();
  });

  test('counts towards the receipts of its user until it expires', async () => {
    const store = await open();
    for (const [n, user] of ['one\0', 'one\0', 'other'].entries()) {
      const counted = { ...receipt, key: `k${n}`, until: at + 1000 * (n + 1), user };
      await store.apply(creation(counted));
      assert.deepEqual((await store.receipt(`k${n}`, at))?.receipt, counted);
    }
    await store.apply(creation(receipt));
    const two = await store.receiptsOf('one\0', at);
    const one = await store.receiptsOf('one\0', at + 1000);
    assert.deepEqual([two.count, two.freeAt], [2, at + 1000]);
    assert.deepEqual([one.count, one.freeAt], [1, at + 2000]);
    assert.ok(one.size !== undefined && one.size > 0 && two.size === 2 * one.size);
    assert.deepEqual(await store.receiptsOf('nobody', at), { count: 0, size: 0, freeAt: undefined });
    await store.close();
  });

  test('is not stored if its change does not apply', async () => {
    const store = await open();
    const change = { ...put('/a', 'x', 'present', {}), receipt };
    assert.deepEqual(await store.apply(change), { applied: false });
    assert.equal(await store.receipt(receipt.key, at), undefined);
    await store.close();
  });
}

function describeTwo(open: () => Promise<[PostgresStore, PostgresStore]>): void {
  const successes = (done: readonly PromiseSettledResult<StoreResult>[]): number =>
    done.filter((each) => each.status === 'fulfilled' && each.value.applied).length;

  /** Offers one change per store and round, and expects one success in each. */
  const race = async (changeOf: (round: number, store: number) => StoreChange): Promise<void> => {
    const stores = await open();
    assert.equal(stores[0].storeId, stores[1].storeId);
    for (let round = 0; round < rounds; round += 1) {
      const attempts = stores.map((store, index) => store.apply(changeOf(round, index)));
      assert.equal(successes(await Promise.allSettled(attempts)), 1, `round ${round}`);
    }
    await Promise.all(stores.map((store) => store.close()));
  };

  test('make exactly one of two changes that expect the same revision', async () => {
    const [first, second] = await open();
    let { revision } = await create(first, '/a');
    for (let round = 0; round < rounds; round += 1) {
      const change = put('/a', '1', revision, { round });
      const done = await Promise.all([first.apply(change), second.apply(change)]);
      const made = done.filter((each) => each.applied).map(requireEntry);
      assert.equal(made.length, 1, `round ${round}`);
      revision = made[0]?.revision ?? 0;
    }
    await Promise.all([first.close(), second.close()]);
  });

  test('make exactly one of two changes with the same receipt', () =>
    race((round) => ({
      kind: 'create',
      collection: '/a',
      value: {},
      at,
      receipt: { key: `k${round}`, fingerprint: '', until: Date.now() + 60_000 },
    })));

  test('create exactly one of two items with the same id', () =>
    race((round, store) => put('/a', `x${round}`, 'absent', { store })));

  test('never deadlock', async () => {
    const stores = await open();
    const attempts = Array.from({ length: 400 }, (_, n) => {
      const [place, turn] = [n % 8, n % 2];
      const receipt = { key: `k${n % 50}`, fingerprint: '', until: Date.now() + 60_000 };
      const collection = `/${turn === 0 ? place : 7 - place}`;
      return stores[turn === 0 ? 0 : 1].apply({ kind: 'create', collection, value: {}, at, receipt });
    });
    assert.equal(successes(await Promise.allSettled(attempts)), 50);
    await Promise.all(stores.map((store) => store.close()));
  });

  test('never list an item before one with a lower sequence while 64 writers create items', async () => {
    const stores = await open();
    let writing = 64;
    const writers = Array.from({ length: 64 }, async (_, writer) => {
      const store = stores[writer % 2 === 0 ? 0 : 1];
      for (let n = 0; n < 20; n += 1) await create(store, '/a', { n, writer });
      writing -= 1;
    });
    const seen: number[] = [];
    const readOn = async (): Promise<number> => {
      const { entries } = await stores[0].list('/a', seen.at(-1) ?? 0, 7);
      seen.push(...entries.map(({ sequence }) => sequence));
      return entries.length;
    };
    while (writing > 0) await readOn();
    await Promise.all(writers);
    while ((await readOn()) > 0);
    assert.deepEqual(
      seen,
      Array.from({ length: 64 * 20 }, (_, n) => n + 1),
    );
    const revisions = (await stores[1].list('/a', 0, 2000)).entries.map(({ revision }) => revision);
    assert.ok(revisions.every((revision, index) => revision > (revisions[index - 1] ?? 0)));
    await Promise.all(stores.map((store) => store.close()));
  });
}

function describeClients(server: Server): void {
  test('may be a single connection, connected or not', async () => {
    for (const connected of [true, false]) {
      const client = server.client();
      if (connected) await client.connect();
      const store = await openPostgresStore(client, { schema: server.schema() });
      await create(store, '/a');
      assert.deepEqual(ids(await store.list('/a', 0, 10)), ['1']);
      await store.close();
    }
  });

  test('requires only the method query', async () => {
    const pool = server.pool();
    const query: Pool['query'] = (text, values) => pool.query(text, values);
    const store = await openPostgresStore({ query }, { schema: server.schema() });
    await create(store, '/a');
    assert.deepEqual(ids(await store.list('/a', 0, 10)), ['1']);
    await store.close();
    await pool.end();
  });

  test('is ended by close, after all pending changes were made', async () => {
    const pool = server.pool();
    const schema = server.schema();
    const store = await openPostgresStore(pool, { schema });
    const pending = Array.from({ length: 50 }, () => create(store, '/a'));
    await store.close();
    assert.equal((await Promise.all(pending)).length, 50);
    await assert.rejects(store.apply(put('/a', 'x', 'absent', {})), { name: 'StoreError' });
    await assert.rejects(Promise.resolve(pool.query('SELECT 1', [])));
    const [row] = await server.query(`SELECT count(*)::integer AS count FROM ${schema}.items`);
    assert.equal(row?.['count'], 50);
  });
}

function describeBatches(server: Server): void {
  /** A pool that counts the calls of a function. */
  const counting = (name: string): { pool: Pool; calls: () => number } => {
    let calls = 0;
    const pool = intercept(server.pool(), {
      query(execute, text) {
        if (text.startsWith('SELECT') && text.includes(`${name}(`)) calls += 1;
        return execute();
      },
    });
    return { pool, calls: () => calls };
  };

  test('makes all changes of one turn of the event loop in one round trip', async () => {
    const { pool, calls } = counting('apply_changes');
    const store = await openPostgresStore(pool, { schema: server.schema() });
    await Promise.all(Array.from({ length: 64 }, () => create(store, '/a')));
    assert.equal(calls(), 1);
    await store.close();
  });

  test('reads all items of one turn of the event loop in one round trip', async () => {
    const items = counting('read_items');
    const store = await openPostgresStore(items.pool, { schema: server.schema() });
    await create(store, '/a');
    const found = await Promise.all(['1', '2', '1'].map((id) => store.read('/a', id)));
    assert.deepEqual(
      found.map((entry) => entry?.id),
      ['1', undefined, '1'],
    );
    assert.equal(items.calls(), 1);
    await store.close();
  });

  test('with a change that the database rejects makes the other changes', async () => {
    const schema = server.schema();
    const store = await openPostgresStore(server.pool(), { schema });
    await create(store, '/a');
    await server.query(`ALTER TABLE ${schema}.items ADD CHECK (value NOT LIKE '%bad%')`);
    const texts = ['one', 'bad', 'two'];
    const done = await Promise.allSettled(texts.map((text) => create(store, '/a', { text })));
    assert.deepEqual(
      done.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.deepEqual(ids(await store.list('/a', 0, 10)), ['1', '2', '3']);
    await store.close();
  });
}
