import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { attack, createAttempts, createSigner } from 'countersign/attack';
import { signedFetch } from 'countersign/client';
import { createReceiver } from './receiver.mjs';

const credentials = { scheme: { preset: 'stripe' }, secret: 'whsec_5WbX8d' };
const body = '{ "id": "evt_1", "type": "payment.succeeded", "amount": 12.50 }';
const headers = { 'Content-Type': 'application/json' };

/** Starts the receiver. Returns its URL and the events that it received. */
async function start(t) {
  const events = [];
  const server = createReceiver({ secret: credentials.secret, onEvent: (event) => events.push(event) });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${server.address().port}/payments`, events };
}

test('the receiver handles an event once, however often it is delivered', async (t) => {
  const { url, events } = await start(t);
  for (let delivery = 1; delivery <= 2; delivery += 1)
    assert.equal((await signedFetch(url, { ...credentials, method: 'POST', headers, body })).status, 200);
  assert.deepEqual(events, [{ id: 'evt_1', type: 'payment.succeeded', amount: 12.5 }]);
});

test('the receiver refuses what the sender did not sign', async (t) => {
  const { url } = await start(t);
  const attempts = createAttempts({ method: 'POST', url, headers, body }, createSigner(credentials), {
    window: '5m',
  });
  const report = await attack(url, attempts);
  assert.ok(report.passed, String(report));
});
