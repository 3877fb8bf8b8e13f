import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openPostgresStore, type PostgresStore } from '../../src/postgres/index.ts';
import { storeContract } from '../../src/store/contract/index.ts';
import type { StoreResult } from '../../src/store/store.ts';
import { missingPostgres, type Pool, type Server, startServer } from '../support/postgres/server.ts';
import { seeded } from '../support/seeded.ts';
import { create, ids, put, remove, requireEntry } from '../support/store/contract.ts';
import { intercept } from './intercept.ts';

const at = Date.UTC(2013, 3, 20, 12, 59, 24);

if (missingPostgres === false) {
  const server = await startServer();
  const [one, other] = [server.pool(), server.pool()];
  const open = (schema: string, pool = one): Promise<PostgresStore> =>
    openPostgresStore(pool, { schema, endClient: false });
  describe('a store on PostgreSQL', () => describeContract(server, [one, other]));
  describe('a value in PostgreSQL', () => describeValues(() => open(server.schema())));
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

  test('may have a megabyte, and then ends a page early', async () => {
    const store = await open();
    // More would take longer than a change may on a busy machine.
    const text = 'x\\"'.repeat(250_000);
    for (let n = 0; n < 3; n += 1) await create(store, '/a', { text });
    const page = await store.list('/a', 0, 10, 1_000_000);
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

  test('of a receipt may contain any character', async () => {
    const store = await open();
    const receipt = { key: 'k\0', fingerprint: 'f\ud800', user: 'u\0', until: Date.now() + 60_000 };
    requireEntry(await store.apply({ kind: 'create', collection: '/a', value: {}, at, receipt }));
    assert.deepEqual((await store.receipt('k\0', at))?.receipt, receipt);
    assert.equal((await store.receiptsOf('u\0', at)).count, 1);
    await store.close();
  });
}

function describeTwo(open: () => Promise<[PostgresStore, PostgresStore]>): void {
  const successes = (done: readonly PromiseSettledResult<StoreResult>[]): number =>
    done.filter((each) => each.status === 'fulfilled' && each.value.applied).length;

  test('never deadlock', async () => {
    const stores = await open();
    const attempts = Array.from({ length: 100 }, (_, n) => {
      const [place, turn] = [n % 8, n % 2];
      const receipt = { key: `k${n % 50}`, fingerprint: '', until: Date.now() + 60_000 };
      const collection = `/${turn === 0 ? place : 7 - place}`;
      return stores[turn === 0 ? 0 : 1].apply({ kind: 'create', collection, value: {}, at, receipt });
    });
    assert.equal(successes(await Promise.allSettled(attempts)), 50);
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
