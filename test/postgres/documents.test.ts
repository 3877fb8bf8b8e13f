import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { describe, test } from 'node:test';
import { openPostgresStore, type PostgresStore } from '../../src/postgres/index.ts';
import { missingPostgres, type Pool, type Server, startServer } from '../support/postgres/server.ts';

if (missingPostgres === false) {
  const server = await startServer();
  const [one, other] = [server.pool(), server.pool()];
  describe('a document in PostgreSQL', () =>
    describeDocuments(
      (schema, pool = 0) => openPostgresStore(pool === 0 ? one : other, { schema, endClient: false }),
      server,
    ));
  describe('a changed document', () => describeWatchers(server));
} else {
  test('documents in PostgreSQL', { skip: missingPostgres }, () => {});
}

const bytes = (text: string): Uint8Array => Buffer.from(text);

function describeDocuments(
  open: (schema: string, pool?: number) => Promise<PostgresStore>,
  server: Server,
): void {
  test('is absent at first, and is created, replaced and read unchanged', async () => {
    const { documents, close } = parts(await open(server.schema()));
    assert.equal(await documents.read('users.json'), undefined);
    const binary = Uint8Array.from({ length: 1000 }, (_, n) => n % 256);
    const first = await documents.replace('users.json', binary, undefined);
    assert.ok(first !== undefined);
    const read = await documents.read('users.json');
    assert.deepEqual([Buffer.from(read?.content ?? []), read?.version], [Buffer.from(binary), first]);
    const second = await documents.replace('users.json', bytes(''), first);
    assert.notEqual(second, first);
    assert.equal((await documents.read('users.json'))?.content.length, 0);
    assert.equal(await documents.read('clients.json'), undefined);
    await close();
  });

  test('is not replaced if its version differs from the expected one', async () => {
    const { documents, close } = parts(await open(server.schema()));
    assert.equal(await documents.replace('a', bytes('x'), 'none'), undefined);
    const version = await documents.replace('a', bytes('x'), undefined);
    assert.equal(await documents.replace('a', bytes('y'), undefined), undefined);
    assert.equal(await documents.replace('a', bytes('y'), `${version}0`), undefined);
    assert.deepEqual(Buffer.from((await documents.read('a'))?.content ?? []), Buffer.from('x'));
    await close();
  });

  test('is replaced by exactly one of two processes in each of 50 rounds', async () => {
    const schema = server.schema();
    const stores = [await open(schema), await open(schema, 1)];
    let version: string | undefined;
    for (let round = 0; round < 50; round += 1) {
      const expected = version;
      const made = await Promise.all(
        stores.map(({ documents }) => documents.replace('a', bytes(`${round}`), expected)),
      );
      const versions = made.filter((each) => each !== undefined);
      assert.equal(versions.length, 1, `round ${round}`);
      [version] = versions;
    }
    await Promise.all(stores.map((store) => store.close()));
  });

  test('has a location that names the schema', async () => {
    const schema = server.schema();
    const store = await open(schema);
    assert.equal(store.documents.location, `PostgreSQL, schema "${schema}"`);
    await store.close();
  });
}

function describeWatchers(server: Server): void {
  /** Replaces a document several times. Each time, a watcher of another store must be called, and then read it. */
  const announce = async (watching: PostgresStore, changing: PostgresStore): Promise<void> => {
    const events = new EventEmitter();
    const first = once(events, 'change');
    const stop = watching.documents.watch(() => events.emit('change'));
    await first;
    let version: string | undefined;
    for (let round = 0; round < 3; round += 1) {
      const called = once(events, 'change');
      version = await changing.documents.replace('a', bytes(`${round}`), version);
      await called;
      assert.equal((await watching.documents.read('a'))?.version, version);
    }
    stop();
  };

  test('is found by another process within a second', async () => {
    const schema = server.schema();
    const stores = await Promise.all(
      [server.pool(), server.pool()].map((p) => openPostgresStore(p, { schema })),
    );
    const [watching, changing] = stores;
    assert.ok(watching !== undefined && changing !== undefined);
    await announce(watching, changing);
    await Promise.all(stores.map((store) => store.close()));
  });

  test('is found if the client has no connect', async () => {
    const schema = server.schema();
    const pool = server.pool();
    const query: Pool['query'] = (text, values) => pool.query(text, values);
    const watching = await openPostgresStore({ query }, { schema });
    const changing = await openPostgresStore(pool, { schema });
    await announce(watching, changing);
    await watching.close();
    await changing.close();
  });

  test('is found after all connections were lost', async () => {
    const schema = server.schema();
    const pool = server.pool({ application_name: 'listener' });
    const watching = await openPostgresStore(pool, { schema });
    const changing = await openPostgresStore(server.pool(), { schema });
    const events = new EventEmitter();
    const first = once(events, 'change');
    const stop = watching.documents.watch(() => events.emit('change'));
    await first;
    const called = once(events, 'change');
    await server.terminate('listener');
    await changing.documents.replace('a', bytes('x'), undefined);
    await called;
    stop();
    await watching.close();
    await changing.close();
  });
}

function parts(store: PostgresStore) {
  return { documents: store.documents, close: () => store.close() };
}
