import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createManualClock } from '../../src/clock.ts';
import { openPostgresStore } from '../../src/postgres/index.ts';
import { StoreError } from '../../src/store/errors.ts';
import { missingPostgres, password, type Server, startServer } from '../support/postgres/server.ts';
import { create } from '../support/store/contract.ts';

if (missingPostgres === false) {
  const server = await startServer();
  describe('the schema of a store on PostgreSQL', () => describeSchemas(server));
  describe('a store on PostgreSQL', () => describeRefusals(server));
  describe('the clock of a host', () => describeClock(server));
} else {
  test('opening a store on PostgreSQL', { skip: missingPostgres }, () => {});
}

function describeSchemas(server: Server): void {
  test('is created by one of several processes that start at once', async () => {
    const schema = server.schema();
    const stores = await Promise.all(
      Array.from({ length: 5 }, () => openPostgresStore(server.pool({ max: 3 }), { schema })),
    );
    assert.equal(new Set(stores.map(({ storeId }) => storeId)).size, 1);
    await Promise.all(stores.map((store) => create(store, '/a')));
    assert.equal((await stores[0]?.list('/a', 0, 10))?.entries.length, 5);
    await Promise.all(stores.map((store) => store.close()));
  });

  test('may exist already, and then requires no right to create a schema', async () => {
    const schema = server.schema();
    await server.query(`CREATE ROLE plain LOGIN PASSWORD '${password}'`);
    await server.query(`CREATE SCHEMA ${schema} AUTHORIZATION plain`);
    const store = await openPostgresStore(server.pool({ user: 'plain' }), { schema });
    await create(store, '/a');
    await store.close();
  });

  for (const schema of ['a"b', "a'b", '$cs$', 'a$cs', 'Größe; DROP TABLE x --', '%s {} \\', 'select']) {
    test(`can have the name ${schema}`, async () => {
      const pool = server.pool();
      const store = await openPostgresStore(pool, { schema, endClient: false });
      await create(store, '/a');
      const until = Date.now() + 60_000;
      assert.equal(await store.nonces.claim('demo', 'n', until, Date.now()), 'fresh');
      const version = await store.documents.replace('a', Buffer.from('x'), undefined);
      assert.equal((await store.documents.read('a'))?.version, version);
      await store.close();
      const again = await openPostgresStore(pool, { schema });
      assert.equal((await again.list('/a', 0, 10)).entries.length, 1);
      await again.close();
      const names = await server.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
      assert.equal(names.length, 1);
    });
  }

  test('is rejected with a RangeError if its name is invalid', async () => {
    for (const schema of ['', 'a\0b', '\ud800', 'x'.repeat(64), 'ä'.repeat(32), 'pg_x']) {
      await assert.rejects(openPostgresStore(server.pool(), { schema }), RangeError);
    }
  });

  test('is rejected and unchanged if a newer version of Countersign created it', async () => {
    const schema = server.schema();
    await (await openPostgresStore(server.pool(), { schema })).close();
    await server.query(`UPDATE ${schema}.meta SET version = 99`);
    await assert.rejects(openPostgresStore(server.pool(), { schema }), {
      code: 'newer',
      message: `the schema "${schema}" has version 99, which a newer version of countersign created; this one supports version 3`,
    });
    assert.deepEqual(await server.query(`SELECT version FROM ${schema}.meta`), [{ version: 99 }]);
  });

  test('is migrated from version 1, with its items', async () => {
    const schema = server.schema();
    const first = await openPostgresStore(server.pool(), { schema });
    await create(first, '/a', { sku: 'x' });
    await first.close();
    await server.query(`DROP TABLE ${schema}.unique_keys`);
    await server.query(`DROP TABLE ${schema}.item_references`);
    await server.query(`ALTER TABLE ${schema}.collections DROP COLUMN uniques, DROP COLUMN refs`);
    await server.query(`UPDATE ${schema}.meta SET version = 1`);
    const second = await openPostgresStore(server.pool(), { schema });
    const change = {
      kind: 'create',
      collection: '/a',
      value: { sku: 'x' },
      at: 0,
      unique: [['sku']],
    } as const;
    const conflict = { fields: ['sku'], id: '1' };
    assert.deepEqual(await second.apply(change), { applied: false, conflict });
    await second.close();
    assert.deepEqual(await server.query(`SELECT version FROM ${schema}.meta`), [{ version: 3 }]);
  });

  test('is created completely or not at all', async () => {
    const schema = server.schema();
    await server.query(`CREATE SCHEMA ${schema}`);
    await server.query(`CREATE TABLE ${schema}.documents (n integer)`);
    await assert.rejects(openPostgresStore(server.pool(), { schema }), { code: 'refused' });
    const tables = await server.query('SELECT relname FROM pg_class WHERE relnamespace = $1::regnamespace', [
      schema,
    ]);
    assert.deepEqual(tables, [{ relname: 'documents' }]);
  });
}

function describeRefusals(server: Server): void {
  const refusal = async (client: Parameters<typeof openPostgresStore>[0]): Promise<StoreError> => {
    const error: unknown = await openPostgresStore(client).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof StoreError, String(error));
    assert.doesNotMatch(`${error.stack} ${JSON.stringify(error)}`, new RegExp(`${password}|wrong|postgres:`));
    assert.doesNotMatch(error.message, /\n/);
    assert.equal(error.cause, undefined);
    return error;
  };

  test('reports an unreachable server', async () => {
    const error = await refusal(server.pool({ host: '/nowhere' }));
    assert.deepEqual([error.code, error.message], ['unreachable', 'PostgreSQL cannot be reached (ENOENT)']);
  });

  test('reports an invalid URL without showing it', async () => {
    const error = await refusal(server.pool({ connectionString: `postgres://u:${password}@[/x` }));
    assert.deepEqual([error.code, error.message], ['unreachable', 'the connection URL is invalid']);
  });

  test('reports a wrong password without showing it', async () => {
    const error = await refusal(server.pool({ password: 'wrong-password' }));
    assert.deepEqual(
      [error.code, error.message],
      ['refused', 'PostgreSQL refused the user or the password (28P01)'],
    );
  });

  test('reports an unknown database without showing its name', async () => {
    const error = await refusal(server.pool({ database: password }));
    assert.equal(
      error.message,
      'PostgreSQL refused the name of the database: there is none of this name (3D000)',
    );
  });

  test('reports an unsuitable default transaction isolation', async () => {
    const options = '-c default_transaction_isolation=serializable';
    const error = await refusal(server.pool({ options }));
    assert.equal(error.code, 'unsuitable');
    assert.match(error.message, /default transaction isolation is "serializable", not "read committed"/);
  });

  test('reports an unsuitable encoding of the database', async () => {
    await server.query(
      `CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
    );
    const error = await refusal(server.pool({ database: 'latin' }));
    assert.equal(error.code, 'unsuitable');
    assert.match(error.message, /LATIN1/);
  });

  test('stores changes durably even if synchronous_commit is off by default', async () => {
    const schema = server.schema();
    const store = await openPostgresStore(server.pool({ options: '-c synchronous_commit=off' }), {
      schema,
    });
    const { revision } = await create(store, '/a');
    await store.close();
    await server.crash();
    await server.start();
    const again = await openPostgresStore(server.pool(), { schema });
    assert.equal((await again.read('/a', '1'))?.revision, revision);
    await again.close();
  });
}

function describeClock(server: Server): void {
  test('is reported at the start, and again at most once a minute, if it differs by more than a second', async () => {
    const schema = server.schema();
    const clock = createManualClock(Date.now() - 300_000);
    const reports: string[] = [];
    const waiting: (() => void)[] = [];
    const onWarning = (line: string): void => {
      reports.push(line);
      waiting.shift()?.();
    };
    const store = await openPostgresStore(server.pool(), { schema, clock, onWarning });
    assert.match(
      reports.join('\n'),
      /^the clock of this host is (299|300|301)\.\d s behind that of PostgreSQL; [^\n]*$/,
    );
    clock.advance(30_000);
    await store.read('/a', '1');
    clock.advance(29_999);
    const reported = new Promise<void>((resolve) => waiting.push(resolve));
    await store.read('/a', '1');
    assert.equal(reports.length, 1);
    do {
      clock.advance(10_001);
      await store.read('/a', '1');
    } while (reports.length === 1);
    await reported;
    assert.match(reports[1] ?? '', /behind/);
    clock.set(Date.now() + 60_000);
    while (reports.length === 2) {
      clock.advance(60_001);
      await store.read('/a', '1');
    }
    assert.match(reports[2] ?? '', /ahead of/);
    await store.close();
  });

  test('is not reported if it is correct', async () => {
    const reports: string[] = [];
    const store = await openPostgresStore(server.pool(), {
      schema: server.schema(),
      onWarning: (line) => reports.push(line),
    });
    await create(store, '/a');
    await store.close();
    assert.deepEqual(reports, []);
  });
}
