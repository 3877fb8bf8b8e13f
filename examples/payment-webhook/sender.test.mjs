import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccepted, assertRefused, startDouble } from 'countersign/double';
import { EventSender } from './sender.mjs';

const secret = 'whsec_5WbX8d';
const paid = '{ "id": "evt_1", "type": "payment.succeeded", "amount": 12.50 }';

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
