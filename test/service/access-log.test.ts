import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRequest } from '../../src/http/message.ts';
import type { AccessLogEntry } from '../../src/index.ts';
import { createControllableService } from '../../src/service/service.ts';
import { article, openService } from '../support/service/open-service.ts';

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

function logged() {
  const entries: AccessLogEntry[] = [];
  return { entries, log: (entry: AccessLogEntry): void => void entries.push(entry) };
}

test('an entry has the address, the ids, the bytes of content and the user agent', async () => {
  const { entries, log } = logged();
  const { ask } = openService({ onRequest: log });
  const fields = { 'X-Request-Id': 'abc-1', traceparent, 'User-Agent': 'client/1.0' };
  const content = article('Tea');
  const created = await ask('POST', '/articles', { user: 'ann', content, fields });
  await ask('HEAD', '/articles/1');
  await ask('GET', '/articles/1', { fields: { 'If-None-Match': '*' } });
  const [first, head, unmodified] = entries;
  assert.deepEqual(
    { ...first, time: 0, microseconds: 0 },
    {
      time: 0,
      method: 'POST',
      path: '/articles',
      status: 201,
      principal: 'ann',
      scheme: 'hmac',
      microseconds: 0,
      problem: undefined,
      peer: '127.0.0.1',
      requestId: 'abc-1',
      traceparent,
      bytesReceived: content.length,
      bytesSent: created.bytes.length,
      userAgent: 'client/1.0',
    },
  );
  assert.deepEqual([head?.bytesSent, unmodified?.status, unmodified?.bytesSent], [0, 304, 0]);
});

test('a request without a valid X-Request-Id has a new id, and an invalid traceparent is ignored', async () => {
  const { entries, log } = logged();
  const { ask } = openService({ onRequest: log });
  await ask('GET', '/articles');
  await ask('GET', '/articles', { fields: { 'X-Request-Id': 'a"b', traceparent: `${traceparent}x` } });
  await ask('GET', '/articles', { fields: { 'X-Request-Id': 'a'.repeat(129) } });
  const ids = entries.map(({ requestId }) => requestId);
  const [prefix = ''] = (ids[0] ?? '').split('-');
  assert.match(prefix, /^[0-9a-f]{16}$/);
  assert.deepEqual(ids, [`${prefix}-1`, `${prefix}-2`, `${prefix}-3`]);
  assert.equal(entries[1]?.traceparent, undefined);
});

test('the user agent is truncated to 256 characters', async () => {
  const { entries, log } = logged();
  await openService({ onRequest: log }).ask('GET', '/', { fields: { 'User-Agent': 'a'.repeat(5000) } });
  assert.equal(entries[0]?.userAgent?.length, 256);
});

test('behind a trusted proxy, the address is that of the client', async () => {
  const { entries, log } = logged();
  const service = createControllableService({ onRequest: log, trustProxy: ['10.0.0.1/32'] });
  const fields = [['X-Forwarded-For', '192.0.2.7']] as const;
  for (const peer of ['10.0.0.1', '10.0.0.2'])
    await service.respond(createRequest({ method: 'GET', target: '/', peer, headers: fields }));
  assert.deepEqual(
    entries.map(({ peer }) => peer),
    ['192.0.2.7', '10.0.0.2'],
  );
});

test('responses have no X-Request-Id by default, and with requestId the id of the log entry', async () => {
  const plain = logged();
  const { ask } = openService({ onRequest: plain.log });
  assert.equal((await ask('GET', '/', { fields: { 'X-Request-Id': 'abc' } })).field('X-Request-Id'), '');
  const { entries, log } = logged();
  const identified = openService({ onRequest: log, requestId: true });
  assert.equal(
    (await identified.ask('GET', '/', { fields: { 'X-Request-Id': 'abc' } })).field('X-Request-Id'),
    'abc',
  );
  const created = await identified.ask('GET', '/nothing', { fields: { 'X-Request-Id': 'a\u0080b' } });
  assert.equal(created.field('X-Request-Id'), entries[1]?.requestId);
  assert.match(created.field('X-Request-Id'), /^[0-9a-f]{16}-1$/);
  const without = openService({ requestId: true });
  assert.match((await without.ask('GET', '/')).field('X-Request-Id'), /^[0-9a-f]{16}-1$/);
});
