import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { attack, createAttempts, createSigner } from 'countersign/attack';
import { signedFetch } from 'countersign/client';
import { assertAccepted, assertRefused, startDouble } from 'countersign/double';
import { createReceiver } from './receiver.mjs';
import { EventSender } from './sender.mjs';

const secret = 'whsec_5WbX8d';
const credentials = { scheme: { preset: 'stripe' }, secret };
const paid = '{ "id": "evt_1", "type": "payment.succeeded", "amount": 12.50 }';
const request = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: paid };

/** Starts a subscriber that verifies the events, and a sender that delivers to it. */
async function connect(t) {
  const double = await startDouble({
    now: '2026-03-01T12:00:00Z',
    users: { payments: { secret } },
    schemes: { events: { preset: 'stripe', user: 'payments' } },
    stubs: [{ match: { method: 'POST', path: '/payments' }, response: { status: 204 }, schemes: ['events'] }],
  });
  t.after(() => double.close());
  const now = () => double.clock.now();
  return { double, sender: new EventSender({ url: '/payments', secret, fetch: double.fetch, now }) };
}

test('the subscriber accepts an event', async (t) => {
  const { double, sender } = await connect(t);
  await sender.deliver(paid);
  assertAccepted(double.journal.last());
});

test('the subscriber refuses an event with a former secret', async (t) => {
  const { double, sender } = await connect(t);
  double.auth.rotateSecret('payments');
  assert.equal(await sender.deliver(paid), false);
  assertRefused(double.journal.last(), { status: 401, hint: /former secret/ });
});

/** Starts the receiver. Returns its URL and the events that it received. */
async function start(t) {
  const events = [];
  const server = createReceiver({ secret, onEvent: (event) => events.push(event) });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${server.address().port}/payments`, events };
}

test('the receiver handles an event once, however often it is delivered', async (t) => {
  const { url, events } = await start(t);
  for (let delivery = 1; delivery <= 2; delivery += 1)
    assert.equal((await signedFetch(url, { ...credentials, ...request })).status, 200);
  assert.deepEqual(events, [{ id: 'evt_1', type: 'payment.succeeded', amount: 12.5 }]);
});

test('the receiver refuses what the sender did not sign', async (t) => {
  const { url } = await start(t);
  const attempts = createAttempts({ ...request, url }, createSigner(credentials), { window: '5m' });
  const report = await attack(url, attempts);
  assert.ok(report.passed, String(report));
});
