import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreError } from '../../src/store/errors.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import type { Store } from '../../src/store/store.ts';
import { openServer, refresh, tokensFor } from '../support/oauth/server.ts';

const records = '/users/ann/financialrecords';

test('revokeGrants revokes only grants that match all members', async () => {
  const server = openServer();
  const { service } = server;
  const ann = await tokensFor(server);
  const bob = await tokensFor(server, {}, 'bob');
  const statuses = async (): Promise<number[]> => [
    (await server.ask('GET', records, { bearer: ann.access })).status,
    (await server.ask('GET', '/users/bob/financialrecords', { bearer: bob.access })).status,
  ];
  await service.revokeGrants({ user: 'ann', client: 'rival' });
  await service.revokeGrants({ grant: 'unknown' });
  assert.deepEqual(await statuses(), [200, 200]);
  await service.revokeGrants({ user: 'ann', client: 'app' });
  assert.deepEqual(await statuses(), [401, 200]);
  assert.equal((await refresh(server, ann.refresh)).status, 400);
  await service.revokeGrants({ client: 'app' });
  assert.deepEqual(await statuses(), [401, 401]);
});

test('a token that is issued after a revocation is valid', async () => {
  const server = openServer();
  await tokensFor(server);
  await server.service.revokeGrants({ user: 'ann' });
  const { access } = await tokensFor(server);
  assert.equal((await server.ask('GET', records, { bearer: access })).status, 200);
});

test('a selection without a member, or with an unknown one, is rejected', async () => {
  const { service } = openServer();
  const cases: readonly [selection: object, message: string][] = [
    [{}, 'a selection of grants must have a grant, user or client'],
    [{ usr: 'ann' }, 'usr is not a member of a selection of grants; did you mean "user"?'],
    [{ user: 7 }, 'user of a selection of grants must be text, is 7'],
  ];
  for (const [selection, message] of cases)
    await assert.rejects(service.revokeGrants(selection), { name: 'RangeError', message });
});

test('if the store fails, revokeGrants rejects, the tokens are invalid, and a later call succeeds', async () => {
  const memory = createMemoryStore({ storeId: 'a' });
  let isFull = false;
  const store: Store = {
    storeId: memory.storeId,
    read: (...all) => memory.read(...all),
    list: (...all) => memory.list(...all),
    apply: (change) => (isFull ? Promise.reject(new StoreError('full', 'no space')) : memory.apply(change)),
    close: () => memory.close(),
  };
  const server = openServer({ store });
  const { access } = await tokensFor(server);
  isFull = true;
  await assert.rejects(server.service.revokeGrants({ user: 'ann' }), { name: 'StoreError', code: 'failed' });
  assert.equal((await server.ask('GET', records, { bearer: access })).status, 401);
  isFull = false;
  await server.service.revokeGrants({ user: 'ann' });
  const left = await memory.list('oauth:grants', 0, 10);
  assert.deepEqual(left.entries, []);
});
