import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createManualClock } from '../../src/clock.ts';
import { openPostgresStore, type PostgresStore } from '../../src/postgres/index.ts';
import { nonceContract } from '../../src/store/contract/index.ts';
import type { NonceStore } from '../../src/store/nonces/nonces.ts';
import { missingPostgres, type Server, startServer } from '../support/postgres/server.ts';
import { create } from '../support/store/contract.ts';

const start = Date.UTC(2013, 3, 20, 12, 59, 24);
const [window, minute] = [600_000, 60_000];

if (missingPostgres === false) {
  const server = await startServer();
  const pools = [server.pool(), server.pool()] as const;
  const open = (schema: string, clock = createManualClock(start), pool = 0): Promise<PostgresStore> =>
    openPostgresStore(pools[pool] ?? pools[0], { schema, clock, endClient: false, onWarning: () => {} });
  describe('a nonce in PostgreSQL', () => describeClaims(server, open));
  describe('expired rows', () => describeExpiry(server, open));
} else {
  test('nonces in PostgreSQL', { skip: missingPostgres }, () => {});
}

type Open = (
  schema: string,
  clock?: ReturnType<typeof createManualClock>,
  pool?: number,
) => Promise<PostgresStore>;

function describeClaims(server: Server, open: Open): void {
  for (const { name, run } of nonceContract)
    test(`follows the contract with two hosts: ${name}`, async () => {
      const schema = server.schema();
      const stores: PostgresStore[] = [];
      const openOn = async (pool: number): Promise<NonceStore> => {
        const store = await open(schema, createManualClock(start), pool);
        stores.push(store);
        return store.nonces;
      };
      await run(() => openOn(0), { peer: () => openOn(1), reopen: () => openOn(1), now: () => start });
      await Promise.all(stores.map((store) => store.close()));
    });

  test('is stored as a digest only', async () => {
    const schema = server.schema();
    const store = await open(schema);
    await store.nonces.claim('wombat-user', 'wombat-nonce', start + window, start);
    const rows = await server.query(`SELECT nonces::text AS row FROM ${schema}.nonces`);
    assert.equal(rows.length, 1);
    const [digest] = await server.query(`SELECT octet_length(digest) AS length FROM ${schema}.nonces`);
    assert.equal(digest?.['length'], 32);
    assert.doesNotMatch(JSON.stringify(rows), /wombat|776f6d626174/);
    await store.close();
  });

  test('is seen if its time is after every date, and fresh with a fraction of a millisecond', async () => {
    const { nonces, close } = await opened(server, open);
    assert.equal(await nonces.claim('demo', 'm', 1e300, start), 'seen');
    assert.equal(await nonces.claim('demo', 'm', start + 0.5, start), 'fresh');
    await close();
  });
}

function describeExpiry(server: Server, open: Open): void {
  /** Uses the store until a query returns rows. Each use may start the maintenance, which is due after ten seconds. */
  const until = async (
    { store, clock }: { store: PostgresStore; clock: ReturnType<typeof createManualClock> },
    text: string,
  ): Promise<void> => {
    while ((await server.query(text)).length === 0) {
      clock.advance(10_000);
      await store.read('/a', '1');
    }
  };

  test('are deleted in bounded steps, and a nonce that expires before the mark is seen', async () => {
    const schema = server.schema();
    const clock = createManualClock(start);
    const store = await open(schema, clock);
    const claims = Array.from({ length: 2500 }, (_, n) =>
      store.nonces.claim('demo', `n${n}`, start + minute, start),
    );
    assert.deepEqual(new Set(await Promise.all(claims)), new Set(['fresh']));
    assert.equal(await store.nonces.claim('demo', 'later', start + 5 * window, start), 'fresh');
    await store.apply({
      kind: 'create',
      collection: '/a',
      value: {},
      at: start,
      receipt: { key: 'k', fingerprint: '', until: start + minute },
    });
    await server.query(`UPDATE ${schema}.batches SET made = made - interval '11 minutes'`);
    clock.advance(window);
    const left = `SELECT 1 FROM ${schema}.meta WHERE 1 = (SELECT count(*) FROM ${schema}.nonces)
      AND 0 = (SELECT count(*) FROM ${schema}.receipts) AND 0 = (SELECT count(*) FROM ${schema}.batches)`;
    await until({ store, clock }, left);
    // A clock that is set back makes the dates of deleted nonces acceptable again.
    clock.set(start);
    assert.equal(await store.nonces.claim('demo', 'n0', start + minute, start), 'seen');
    assert.equal(await store.nonces.claim('demo', 'new', start + minute, start), 'seen');
    assert.equal(await store.nonces.claim('demo', 'later', start + 5 * window, start), 'seen');
    assert.equal(await store.nonces.claim('demo', 'new', start + 5 * window, start), 'fresh');
    await store.close();
  });

  test('are determined by the clock of the database if that of the host is ahead', async () => {
    const schema = server.schema();
    const clock = createManualClock(Date.now() + 24 * 60 * minute);
    const store = await open(schema, clock);
    const now = Date.now();
    await store.nonces.claim('demo', 'n', now + window, clock.now());
    await until({ store, clock }, `SELECT 1 FROM ${schema}.meta WHERE mark > 0`);
    const [meta] = await server.query(`SELECT mark::text AS mark FROM ${schema}.meta`);
    assert.ok(Number(meta?.['mark']) <= Date.now() - minute + 1);
    assert.equal(await store.nonces.claim('demo', 'm', Date.now() + window, clock.now()), 'fresh');
    await store.close();
  });

  test('are not deleted within a minute after they expire', async () => {
    const schema = server.schema();
    const clock = createManualClock(start);
    const store = await open(schema, clock);
    await store.nonces.claim('demo', 'n', start + minute, start);
    clock.advance(2 * minute - 1);
    await create(store, '/a');
    await store.close(); // waits for the maintenance
    const rows = await server.query(`SELECT 1 FROM ${schema}.nonces`);
    assert.equal(rows.length, 1);
  });
}

async function opened(server: Server, open: Open) {
  const store = await open(server.schema());
  return { store, nonces: store.nonces, close: () => store.close() };
}
