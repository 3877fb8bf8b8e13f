import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import type { SchemeDeclarations } from '../../src/auth/scheme-declarations.ts';
import { createManualClock } from '../../src/clock.ts';
import { action } from '../../src/pipeline/resource.ts';
import { createService } from '../../src/service/service.ts';
import { requireInstalled, unlessInstalled } from '../support/auth/declared.ts';

const now = Date.UTC(2026, 10, 22, 12);
const seconds = String(now / 1000);

/** Starts a service with webhook receivers on a free port. */
async function start(
  context: TestContext,
  schemes: SchemeDeclarations,
): Promise<{ url: string; received: string[] }> {
  const received: string[] = [];
  const service = createService({
    clock: createManualClock(now),
    users: {
      ann: { secret: `whsec_${Buffer.from('the secret of the webhooks').toString('base64')}` },
      bob: { secret: 'the secret of bob' },
    },
    schemes,
    resources: {
      '/hooks': {
        POST: action('authenticated', ({ principal }) => {
          received.push(principal?.scheme ?? '');
          return { status: 204 };
        }),
      },
    },
  });
  const { url } = await service.listen({ port: 0 });
  context.after(() => service.close());
  return { url: new URL('/hooks', url).href, received };
}

const hub: SchemeDeclarations = { hub: { preset: 'github', user: 'bob' } };
const bytes = Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x0d, 0x0a, 0x7d]);
const hubSignature = `sha256=${createHmac('sha256', 'the secret of bob').update(bytes).digest('hex')}`;

test('over a socket, a signature covers the content bytes as sent, with Content-Length and in chunks', async (context) => {
  const { url, received } = await start(context, hub);
  const headers = { 'X-Hub-Signature-256': hubSignature };
  const whole = await fetch(url, { method: 'POST', headers, body: bytes });
  assert.equal(whole.status, 204);
  const chunks = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes.subarray(0, 3));
      controller.enqueue(bytes.subarray(3));
      controller.close();
    },
  });
  const chunked = await fetch(url, { method: 'POST', headers, body: chunks, duplex: 'half' });
  assert.equal(chunked.status, 204);
  const changed = await fetch(url, { method: 'POST', headers, body: bytes.subarray(1) });
  assert.equal(changed.status, 401);
  assert.match(changed.headers.get('www-authenticate') ?? '', /hub realm=/);
  assert.deepEqual(received, ['hub', 'hub']);
});

test(
  'over a socket, a webhook of the package standardwebhooks is accepted once, and so is its retry',
  unlessInstalled('standardwebhooks'),
  async (context) => {
    const { url } = await start(context, {
      hooks: { preset: 'standard-webhooks', user: 'ann', replay: 'refuse' },
    });
    const {
      Webhook,
    }: { Webhook: new (secret: string) => { sign(id: string, at: Date, text: string): string } } =
      requireInstalled('standardwebhooks');
    const webhook = new Webhook(`whsec_${Buffer.from('the secret of the webhooks').toString('base64')}`);
    const send = async (at: number): Promise<number> => {
      const body = '{"type":"contact.created","name":"Zo\u00eb"}';
      const headers = {
        'webhook-id': 'msg_1',
        'webhook-timestamp': String(at / 1000),
        'webhook-signature': webhook.sign('msg_1', new Date(at), body),
      };
      return (await fetch(url, { method: 'POST', headers, body })).status;
    };
    assert.deepEqual([await send(now), await send(now), await send(now + 5000)], [204, 401, 204]);
  },
);

test('credentials of two declared schemes in one request are rejected with 400', async (context) => {
  const { url, received } = await start(context, { ...hub, shop: { preset: 'shopify', user: 'bob' } });
  const shop = createHmac('sha256', 'the secret of bob').update(bytes).digest('base64');
  const headers = { 'X-Hub-Signature-256': hubSignature, 'X-Shopify-Hmac-Sha256': shop };
  assert.equal((await fetch(url, { method: 'POST', headers, body: bytes })).status, 400);
  assert.deepEqual(received, []);
});

test('two declared schemes share the nonces of a user', async (context) => {
  const partner = {
    message: '{timestamp}.{nonce}.{body}',
    signature: { field: 'X-Signature' },
    user: { field: 'X-Api-Key' },
    timestamp: { field: 'X-Timestamp' },
    nonce: { field: 'X-Nonce' },
  } as const;
  const { url } = await start(context, { partner, other: { ...partner, signature: { field: 'X-Other' } } });
  const send = async (field: string): Promise<number> => {
    const signature = createHmac('sha256', 'the secret of bob').update(`${seconds}.n1.{}`).digest('hex');
    const headers = { 'X-Api-Key': 'bob', 'X-Timestamp': seconds, 'X-Nonce': 'n1', [field]: signature };
    return (await fetch(url, { method: 'POST', headers, body: '{}' })).status;
  };
  assert.deepEqual(
    [await send('X-Signature'), await send('X-Signature'), await send('X-Other')],
    [204, 401, 401],
  );
});

test('an API key over plain HTTP is refused with 403', async (context) => {
  const { url, received } = await start(context, {
    key: { user: { field: 'X-Api-Key' }, secret: { field: 'X-Api-Secret' } },
  });
  const headers = { 'X-Api-Key': 'bob', 'X-Api-Secret': 'the secret of bob' };
  assert.equal((await fetch(url, { method: 'POST', headers })).status, 403);
  assert.deepEqual(received, []);
});
