import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDouble } from '../../src/double/index.ts';
import { createRequest } from '../../src/http/message.ts';
import type { AccessLogEntry } from '../../src/index.ts';
import { createControllableService } from '../../src/service/service.ts';
import { StoreError } from '../../src/store/errors.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { openService } from '../support/service/open-service.ts';

test('a health check gets 200 without credentials, and 503 with the reason if the service is not healthy', async () => {
  let reason: string | undefined;
  const { ask } = openService({ health: { path: '/health', check: () => reason } });
  const ready = await ask('GET', '/health');
  assert.deepEqual([ready.status, ready.text], [200, '{"status":"ready"}']);
  assert.equal(ready.field('Cache-Control'), 'no-store');
  assert.equal((await ask('HEAD', '/health')).status, 200);
  assert.equal((await ask('POST', '/health')).status, 405);
  reason = 'The disk is broken.';
  const failed = await ask('GET', '/health', { fields: { Accept: 'application/json' } });
  assert.equal(failed.status, 503);
  assert.equal(failed.member('type'), '/problems/not-healthy');
  assert.equal(failed.member('detail'), 'The disk is broken.');
  assert.equal((await ask('GET', '/health/ready')).status, 503);
});

test('a readiness check gets 503 while the store cannot be reached, and a health check 200', async () => {
  const store = createMemoryStore({ storeId: 'k3x9' });
  const state = { isReachable: true };
  const { read } = store;
  store.read = (...parts) => {
    if (!state.isReachable)
      throw new StoreError('failed', 'the database cannot be reached', { reported: true });
    return read(...parts);
  };
  const entries: AccessLogEntry[] = [];
  const log = (entry: AccessLogEntry): unknown => entries.push(entry);
  const { ask } = openService({ store, onRequest: log, health: { path: '/health' } });
  const ready = await ask('GET', '/health/ready');
  assert.deepEqual([ready.status, ready.text, entries.length], [200, '{"status":"ready"}', 0]);
  state.isReachable = false;
  assert.equal((await ask('GET', '/health')).status, 200);
  const refused = await ask('GET', '/health/ready', { fields: { Accept: 'application/json' } });
  assert.deepEqual([refused.status, refused.member('type')], [503, '/problems/not-healthy']);
  const item = await ask('GET', '/articles/1');
  assert.deepEqual([item.status, item.field('Retry-After')], [503, '5']);
});

test('a health check gets 503 while the service stops', async () => {
  const { ask, service } = openService({ health: { path: '/health' } });
  await service.close({ grace: 0 });
  const { status, close, field } = await ask('GET', '/health');
  assert.deepEqual([status, close, field('Retry-After')], [503, true, '5']);
});

test('health checks are not limited by a quota, and are logged only if they fail', async () => {
  const entries: AccessLogEntry[] = [];
  let reason: string | undefined;
  const { ask } = openService({
    quota: '1/1h',
    onRequest: (entry) => entries.push(entry),
    health: { path: '/health', check: () => reason },
  });
  for (let sent = 0; sent < 3; sent += 1) {
    const answer = await ask('GET', '/health');
    assert.deepEqual([answer.status, answer.field('RateLimit')], [200, '']);
  }
  assert.deepEqual(entries, []);
  reason = 'broken';
  await ask('GET', '/health');
  assert.deepEqual(
    entries.map(({ status }) => status),
    [503],
  );
  assert.equal((await ask('GET', '/articles')).status, 200);
});

test('with a base path, health checks without it return 200, and are neither limited nor logged', async () => {
  const entries: AccessLogEntry[] = [];
  const service = createControllableService({
    basePath: '/api',
    quota: '1/1h',
    health: { path: '/health' },
    onRequest: (entry) => entries.push(entry),
  });
  for (let sent = 0; sent < 2; sent += 1) {
    const { status } = await service.respond(createRequest({ method: 'GET', target: '/health' }));
    assert.equal(status, 200);
  }
  assert.deepEqual(entries, []);
});

test('the journal of a double contains no health checks', async () => {
  await using double = await startDouble({ health: { path: '/health' }, https: false });
  assert.equal((await double.fetch('/health')).status, 200);
  assert.equal((await fetch(`${double.url}/health`)).status, 200);
  assert.equal(double.journal.length, 0);
});

test('an invalid health path, or the path of a collection, is rejected', () => {
  for (const path of ['health', '/health/', ''])
    assert.throws(
      () => createControllableService({ health: { path } }),
      /health\.path must be a path such as \/health, without a slash at the end$/,
    );
  assert.throws(() => createControllableService({ health: { path: '/articles' } }), RangeError);
});
