import assert from 'node:assert/strict';
import test from 'node:test';
import { createRequest } from '../../src/http/message.ts';
import { action, json, readBytes } from '../../src/index.ts';
import { createControllableService } from '../../src/service/service.ts';

const patchType = 'application/merge-patch+json';
const reads = [{ ...readBytes, type: patchType }];

function serve(resource: object, onError: (error: unknown) => void = () => {}) {
  const service = createControllableService({
    collections: {},
    resources: { '/orders/{id}': resource },
    onError,
  });
  return async (method: string, parts: { content?: string; type?: string; target?: string } = {}) => {
    const { content, type, target = '/orders/1' } = parts;
    const fields: [string, string][] = type === undefined ? [] : [['Content-Type', type]];
    const response = await service.respond(
      createRequest({ method, target, headers: fields, ...(content !== undefined && { body: content }) }),
    );
    const named = new Map(response.headers.map(([name, value]) => [name.toLowerCase(), value]));
    return {
      status: response.status,
      text: String(response.body ?? ''),
      field: (name: string) => named.get(name),
    };
  };
}

const PATCH = action<unknown, Uint8Array>('anyone', ({ body: content }) => json({ sent: String(content) }), {
  reads,
});

test('a resource in code can implement PATCH, and Accept-Patch lists its media types', async () => {
  const send = serve({ GET: action('anyone', () => json({})), PATCH });
  const patched = await send('PATCH', { content: '{"a":1}', type: patchType });
  assert.deepEqual([patched.status, patched.text], [200, '{"sent":"{\\"a\\":1}"}']);
  const options = await send('OPTIONS');
  assert.equal(options.field('allow'), 'HEAD, GET, PATCH, OPTIONS');
  assert.equal(options.field('accept-patch'), patchType);
  const refused = await send('PATCH', { content: '{}', type: 'application/json' });
  assert.deepEqual([refused.status, refused.field('accept-patch')], [415, patchType]);
  assert.equal((await send('PATCH')).status, 400, 'without content');
  assert.equal((await send('PUT')).field('allow'), 'HEAD, GET, PATCH, OPTIONS');
  assert.equal((await send('OPTIONS', { target: '*' })).field('allow'), 'HEAD, GET, PATCH, OPTIONS');
});

test('a resource in code can implement any method, and one that no resource implements returns 501', async () => {
  const send = serve({ methods: { PROPFIND: action('anyone', () => json({ found: true })), purge: PATCH } });
  assert.equal((await send('PROPFIND')).text, '{"found":true}');
  assert.equal((await send('purge', { content: '1', type: patchType })).status, 200);
  assert.equal((await send('OPTIONS')).field('allow'), 'PROPFIND, purge, OPTIONS');
  assert.deepEqual(
    [(await send('PATCH')).status, (await send('propfind')).status, (await send('GET')).status],
    [501, 501, 405],
  );
  assert.equal((await send('PROPFIND', { target: '/' })).status, 405);
});

test('invalid and reserved method names, and methods without a function, are rejected', () => {
  const of = (methods: unknown) => () => serve({ methods });
  const handler = action('anyone', () => json({}));
  assert.throws(of({ 'A B': handler }), /methods\.A B of the resource at \/orders\/\{id\} is not a method/);
  assert.throws(of({ HEAD: handler }), /methods\.HEAD of the resource .* is derived, or has no path/);
  assert.throws(of({ CONNECT: handler }), /methods\.CONNECT of the resource .* is derived, or has no path/);
  assert.throws(of({ GET: handler }), /methods\.GET .* is a member of the resource itself/);
  assert.throws(of({ PROPFIND: {} }), /methods\.PROPFIND\.handle of the resource .* must be a function/);
});

test('an action without reads that accesses the request content fails with 500 and a clear error', async () => {
  const errors: unknown[] = [];
  const POST = action('anyone', ({ body: content }) => json({ has: content !== undefined }));
  const send = serve({ POST }, (error) => errors.push(error));
  assert.equal((await send('POST')).text, '{"has":false}');
  assert.equal((await send('POST', { content: 'x', type: 'text/plain' })).status, 500);
  assert.match(String(errors[0]), /the content of POST \/orders\/1 was not read: its action has no reads/);
});

test('request content is optional with bodyOptional', async () => {
  const DELETE = action<unknown, Uint8Array>(
    'anyone',
    ({ body: content }) => json({ sent: content === undefined ? null : String(content) }),
    { reads, bodyOptional: true },
  );
  const send = serve({ DELETE });
  assert.equal((await send('DELETE')).text, '{"sent":null}');
  assert.equal((await send('DELETE', { content: 'x', type: patchType })).text, '{"sent":"x"}');
});
