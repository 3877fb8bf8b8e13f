import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { createRequest } from '../../src/http/message.ts';
import { action, readBytes, text } from '../../src/index.ts';
import { createControllableService } from '../../src/service/service.ts';

/** Content that takes zlib tens of milliseconds. */
const content = Array.from({ length: 60_000 }, (_, at) => `line ${(at * 7919) % 60_000}`).join('\n');

function openService() {
  return createControllableService({
    collections: {},
    resources: {
      '/long': { GET: action('anyone', () => text(content)) },
      '/length': {
        POST: action('anyone', ({ body: sent }) => text(String(sent?.length)), { reads: [readBytes] }),
      },
    },
  });
}

const asked = createRequest({ method: 'GET', target: '/long', headers: [['Accept-Encoding', 'gzip']] });

test('the service compresses one response at a time', async () => {
  const service = openService();
  const begun: number[] = [];
  const hook = createHook({ init: (id, type) => void (type === 'ZLIB' && begun.push(id)) }).enable();
  let answered = 0;
  const ahead: number[] = [];
  const replies = Array.from({ length: 12 }, async () => {
    const reply = await service.respond(asked);
    ahead.push(begun.length - answered);
    answered += 1;
    return reply;
  });
  for (const reply of await Promise.all(replies)) {
    assert.ok(reply.body instanceof Uint8Array);
    assert.equal(gunzipSync(reply.body).toString(), content);
  }
  hook.disable();
  // When a response is ready, the next one has begun at most.
  assert.ok(Math.max(...ahead) <= 2, `${ahead}`);
});

test('further responses are sent uncompressed while many wait for compression', async () => {
  const service = openService();
  const replies = await Promise.all(Array.from({ length: 40 }, () => service.respond(asked)));
  const coded = replies.filter(({ headers: fields }) => fields.some(([name]) => name === 'Content-Encoding'));
  assert.ok(coded.length >= 10 && coded.length < 40, `${coded.length} of 40 are compressed`);
  for (const reply of replies.filter((each) => !coded.includes(each))) {
    assert.equal(reply.body, content);
    const fields = new Map(reply.headers);
    assert.match(fields.get('Vary') ?? '', /Accept-Encoding/);
    assert.doesNotMatch(fields.get('ETag') ?? '', /-gzip/);
  }
  const later = await service.respond(asked);
  assert.equal(new Map(later.headers).get('Content-Encoding'), 'gzip');
});

test('many concurrent requests with compressed content all succeed, except one with truncated content', async () => {
  const service = openService();
  const request = {
    method: 'POST',
    target: '/length',
    headers: [
      ['Content-Type', 'text/plain'],
      ['Content-Encoding', 'gzip'],
    ] as const,
  };
  const sent = gzipSync(content);
  const requests = Array.from({ length: 40 }, () => createRequest({ ...request, body: sent }));
  const broken = createRequest({ ...request, body: sent.subarray(0, 100) });
  const replies = await Promise.all([broken, ...requests].map((each) => service.respond(each)));
  const [refused, ...others] = replies;
  assert.equal(refused?.status, 400);
  for (const { status, body: length } of others)
    assert.deepEqual([status, String(length)], [200, String(content.length)]);
});
