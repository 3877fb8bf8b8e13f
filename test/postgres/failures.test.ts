import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { openPostgresStore, type PostgresStore } from '../../src/postgres/index.ts';
import { StoreError } from '../../src/store/errors.ts';
import type { StoredItem } from '../../src/store/store.ts';
import { nextTurn } from '../../src/timers.ts';
import { missingPostgres, password, type Server, startServer } from '../support/postgres/server.ts';
import { create, put, requireEntry } from '../support/store/contract.ts';
import { intercept } from './intercept.ts';

const at = Date.UTC(2013, 3, 20, 12, 59, 24);

if (missingPostgres === false) {
  const server = await startServer();
  describe('a store that loses PostgreSQL', () => describeLosses(server));
} else {
  test('a store that loses PostgreSQL', { skip: missingPostgres }, () => {});
}

/** Writers that go on until they are stopped, and what was acknowledged to them. */
class Load {
  readonly acknowledged: StoredItem[] = [];
  readonly failures: unknown[] = [];
  readonly #store: PostgresStore;
  readonly #writers: Promise<void>[];
  #stopped = false;
  #waiting: { count: number; resolve: () => void }[] = [];

  constructor(store: PostgresStore, writers: number) {
    this.#store = store;
    this.#writers = Array.from({ length: writers }, (_, writer) => this.#write(writer));
  }

  /** Resolves when `count` more changes were acknowledged. */
  more(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ count: this.acknowledged.length + count, resolve });
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#writers);
  }

  async #write(writer: number): Promise<void> {
    for (let n = 0; !this.#stopped; n += 1) {
      try {
        this.acknowledged.push(await create(this.#store, '/a', { name: `${writer}.${n}` }));
      } catch (error) {
        this.failures.push(error);
      }
      const reached = this.#waiting.filter(({ count }) => count <= this.acknowledged.length);
      this.#waiting = this.#waiting.filter((each) => !reached.includes(each));
      for (const { resolve } of reached) resolve();
    }
  }
}

/** Fails unless calls that give up after two seconds have done so. A busy machine is late; a call without a limit would never end. */
function assertSoon(begun: bigint): void {
  const seconds = Number(process.hrtime.bigint() - begun) / 1e9;
  assert.ok(seconds < 30, `${seconds} s`);
}

/** Checks that every acknowledged change is there, none is there twice, and no number was used twice. */
async function compare(store: PostgresStore, { acknowledged, failures }: Load): Promise<void> {
  const { entries } = await store.list('/a', 0, 1_000_000);
  const stored = new Map(entries.map((entry) => [entry.id, entry]));
  for (const entry of acknowledged) assert.deepEqual(stored.get(entry.id), entry);
  for (const numbers of [
    entries.map(({ value }) => value['name']),
    entries.map(({ revision }) => revision),
    entries.map(({ id }) => id),
  ]) {
    assert.equal(new Set(numbers).size, entries.length);
  }
  // A change whose outcome is unknown to its writer may have been made.
  assert.ok(entries.length <= acknowledged.length + failures.length);
  for (const failure of failures) {
    assert.ok(failure instanceof StoreError, String(failure));
    assert.equal(failure.code, 'failed');
  }
}

function describeLosses(server: Server): void {
  test('stores every acknowledged change exactly once if its connections are terminated under load', async () => {
    const name = 'terminated';
    const store = await openPostgresStore(server.pool({ application_name: name }), {
      schema: server.schema(),
    });
    const load = new Load(store, 32);
    for (let round = 0; round < 20; round += 1) {
      await load.more(50);
      await server.terminate(name);
    }
    await load.more(100);
    await load.stop();
    assert.deepEqual(load.failures, []);
    await compare(store, load);
    await store.close();
  });

  test('returns the result of a batch that was committed before the connection was lost', async () => {
    let loses = false;
    const pool = intercept(server.pool(), {
      async query(execute) {
        const result = await execute();
        if (!loses) return result;
        loses = false;
        throw new Error('Connection terminated unexpectedly');
      },
    });
    const store = await openPostgresStore(pool, { schema: server.schema() });
    /** Does something with the next connection lost after the query was executed. */
    const losing = async <T>(work: () => Promise<T>): Promise<T> => {
      await store.read('/a', '1');
      loses = true;
      const result = await work();
      assert.equal(loses, false);
      return result;
    };
    const made = await losing(() => Promise.all([create(store, '/a'), create(store, '/a')]));
    assert.deepEqual(
      made.map(({ id }) => id),
      ['1', '2'],
    );
    const until = Date.now() + 60_000;
    const claim = async () => store.nonces.claim('demo', 'm', until, Date.now());
    assert.equal(await losing(claim), 'fresh');
    assert.equal(await losing(claim), 'seen');
    requireEntry(await losing(() => store.apply(put('/a', 'x', 'absent', {}))));
    const version = await losing(() => store.documents.replace('d', Buffer.from('x'), undefined));
    assert.equal((await store.documents.read('d'))?.version, version);
    assert.equal((await losing(() => store.list('/a', 0, 10))).entries.length, 3);
    await store.close();
  });

  test('continues after PostgreSQL crashes and restarts under load', async () => {
    const schema = server.schema();
    const reports: string[] = [];
    const pool = server.pool();
    const store = await openPostgresStore(pool, { schema, onWarning: (line) => reports.push(line) });
    const load = new Load(store, 32);
    for (let round = 0; round < 2; round += 1) {
      await load.more(200);
      await server.crash();
      await server.start();
    }
    await load.more(200);
    await load.stop();
    await compare(store, load);
    const { revision } = await store.list('/a', 0, 1);
    assert.ok((await create(store, '/a')).revision > revision);
    await store.close();
    assert.equal(reports.length % 2, 0, reports.join('\n'));
  });

  test('rejects every call within two seconds with an error without secrets, reports it once, and recovers', async () => {
    const reports: string[] = [];
    const pool = server.pool();
    const store = await openPostgresStore(pool, {
      schema: server.schema(),
      onWarning: (line) => reports.push(line),
    });
    await create(store, '/a');
    await server.crash();
    const begun = process.hrtime.bigint();
    const attempts = await Promise.allSettled([
      ...Array.from({ length: 5 }, () => create(store, '/a')),
      store.read('/a', '1'),
      store.list('/a', 0, 10),
      store.receipt('k', at),
      store.documents.read('a'),
      store.documents.replace('a', Buffer.from('x'), undefined),
      Promise.resolve(store.nonces.claim('demo', 'n', Date.now() + 60_000, Date.now())),
    ]);
    assertSoon(begun);
    for (const attempt of attempts) {
      assert.equal(attempt.status, 'rejected');
      assert.ok(attempt.reason instanceof StoreError);
      assert.deepEqual([attempt.reason.code, attempt.reason.reported], ['failed', true]);
      assert.doesNotMatch(String(attempt.reason.stack), new RegExp(`${password}|countersign-pg|postgres://`));
    }
    assert.match(
      reports.join('\n'),
      /^PostgreSQL cannot be reached \(ENOENT\); requests get 503 until it can be used again$/,
    );
    await server.start();
    await create(store, '/a');
    assert.equal(reports.at(-1), 'PostgreSQL can be reached again');
    assert.equal(reports.length, 2);
    await store.close();
  });

  test('emits a process warning if there is no onWarning', async () => {
    const store = await openPostgresStore(server.pool(), { schema: server.schema() });
    const warned = once(process, 'warning');
    await server.crash();
    await assert.rejects(async () => store.read('/a', '1'));
    const [{ name, message }] = await warned;
    assert.equal(name, 'CountersignWarning');
    assert.match(String(message), /^PostgreSQL cannot be reached/);
    await server.start();
    await store.close();
  });

  test('rejects a change that waits for a lock within two seconds, and does not make it later', async () => {
    const schema = server.schema();
    const store = await openPostgresStore(server.pool(), { schema, onWarning: () => {} });
    const { revision } = await create(store, '/a');
    const blocker = server.client();
    await blocker.connect();
    await blocker.query('BEGIN', []);
    await blocker.query(`SELECT * FROM ${schema}.collections FOR UPDATE`, []);
    const first = store.apply(put('/a', '1', revision, { n: 1 }));
    await assert.rejects(first, StoreError);
    await assert.rejects(create(store, '/a'), StoreError);
    const [read] = await Promise.all([store.read('/a', '1'), blocker.query('COMMIT', [])]);
    assert.equal(read?.revision, revision);
    await create(store, '/b');
    await store.close();
    await blocker.end();
  });

  test('rejects calls within two seconds if PostgreSQL does not respond, even those that wait for a batch', async () => {
    let hangs = false;
    const closed: (boolean | undefined)[] = [];
    const pool = intercept(server.pool(), {
      query: (execute) => (hangs ? new Promise(() => {}) : execute()),
      release(close) {
        if (hangs) closed.push(close);
      },
    });
    const schema = server.schema();
    const store = await openPostgresStore(pool, { schema, onWarning: () => {} });
    await create(store, '/a');
    hangs = true;
    const begun = process.hrtime.bigint();
    const first = assert.rejects(create(store, '/a'), { name: 'StoreError', uncertain: true });
    await nextTurn();
    await nextTurn();
    // The first batch was sent.
    const second = assert.rejects(create(store, '/a'), StoreError);
    await Promise.all([first, second, assert.rejects(store.read('/a', '1'), StoreError)]);
    assert.ok(closed.length > 0 && closed.every((close) => close === true));
    assertSoon(begun);
    hangs = false;
    assert.equal((await create(store, '/a')).id, '2');
    await store.close();
  });

  test('needs no second connection, not even to watch documents', async () => {
    const store = await openPostgresStore(server.pool({ max: 1 }), { schema: server.schema() });
    const watched = new Promise<void>((resolve) => store.documents.watch(resolve));
    await Promise.all([watched, create(store, '/a'), store.read('/a', '1'), store.list('/a', 0, 1)]);
    await store.close();
  });

  test('rejects changes with the code full if the disk is full, and makes them when there is space', async () => {
    const schema = server.schema();
    const store = await openPostgresStore(server.pool(), { schema, onWarning: () => {} });
    await server.query(`CREATE FUNCTION ${schema}.full_disk() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN RAISE EXCEPTION ''no space'' USING ERRCODE = ''disk_full''; END'`);
    await server.query(
      `CREATE TRIGGER full_disk BEFORE INSERT ON ${schema}.items EXECUTE FUNCTION ${schema}.full_disk()`,
    );
    const attempts = await Promise.allSettled([create(store, '/a'), create(store, '/a')]);
    for (const attempt of attempts) {
      assert.equal(attempt.status, 'rejected');
      assert.ok(attempt.reason instanceof StoreError);
      assert.deepEqual([attempt.reason.code, attempt.reason.uncertain], ['full', false]);
    }
    await server.query(`DROP TRIGGER full_disk ON ${schema}.items`);
    assert.equal((await create(store, '/a')).id, '1');
    await store.close();
  });
}
