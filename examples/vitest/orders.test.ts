import { createHmac } from 'node:crypto';
import { defineScheme } from 'countersign';
import { attack, createAttempts, createSigner } from 'countersign/attack';
import { signedFetch } from 'countersign/client';
import { startDouble } from 'countersign/double';
import * as matchers from 'countersign/matchers';
import { expect, test } from 'vitest';
import { OrdersClient } from './orders-client.ts';
import document from './partner.json' with { type: 'json' };

expect.extend(matchers);
const [user, secret] = ['shop', 's3cret'];
// One definition verifies, signs, explains a mismatch and can be attacked.
const scheme = defineScheme({
  headers: ['X-Key', 'X-Time', 'X-Sig'],
  window: '5m',
  needsBody: true,
  parse: ({ headers }) => ({
    user: headers.get('X-Key'),
    date: Number(headers.get('X-Time')),
    signature: headers.get('X-Sig'),
  }),
  message: ({ method, target, body }, { date }) => [
    ['time', `${date}`],
    ['method', method],
    ['target', target],
    ['body', body],
  ],
  sign: (message, key) => createHmac('sha256', key).update(message).digest('hex'),
  format: ({ user, date, signature }) => ({
    headers: { 'X-Key': user, 'X-Time': `${date}`, 'X-Sig': signature },
  }),
});

test('the client orders from its partner', async () => {
  const stubs = [{ match: { path: '/rates/{currency}' }, response: { body: { rate: '1.08' } } }] as const;
  const users = { [user]: { secret } };
  await using double = await startDouble({ users, schemes: { scheme }, partner: document, stubs });
  const client = new OrdersClient({ url: double.url, user, secret });
  double.faults.next({ method: 'POST' }, { status: 503, retryAfter: 2 });
  await client.order('tea');
  expect(double.journal.all({ path: '/orders' }).map(({ status }) => status)).toEqual([503, 201]);
  double.partner.respond('createOrder', 409, { times: 1 });
  await expect(client.order('tea')).rejects.toThrow('409');
  double.clock.advance('11m'); // the client has to adjust its clock
  await client.order('milk');
  expect(double.journal.last()).toBeAccepted();
  double.auth.rotateSecret(user);
  await expect(client.order('tea')).rejects.toThrow('401');
  expect(double.journal.last()).toBeRefused({ status: 401, hint: /former secret/ });
  expect(double.partner.coverage().uncovered).toEqual([]);
});

test('our own server refuses what the partner did not sign', async () => {
  await using server = await startDouble({ users: { [user]: { secret } }, schemes: { scheme } });
  server.stub({ path: '/orders' }, { body: [] });
  const url = `${server.url}/orders`;
  expect((await signedFetch(url, { scheme, user, secret })).ok).toBe(true);
  const attempts = createAttempts({ url }, createSigner({ scheme, user, secret }), { window: '5m' });
  const report = await attack(url, attempts);
  expect(report.passed, String(report)).toBe(true);
}, 60_000);
