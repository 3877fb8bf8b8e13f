import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { defineScheme } from 'countersign';
import { startDouble } from 'countersign/double';
import { ExchangeClient } from './exchange-client.mjs';

/** The scheme of the exchange, as its documentation describes it. */
const exchange = defineScheme({
  headers: ['API-Key', 'API-Sign'],
  needsBody: true,
  key: 'base64',
  parse: ({ headers, body }) => ({
    user: headers.get('API-Key'),
    signature: headers.get('API-Sign'),
    nonce: new URLSearchParams(String(body)).get('nonce'),
  }),
  message: ({ path, body }, { nonce }) => [
    ['path', path],
    [
      'digest',
      createHash('sha256')
        .update(nonce + body)
        .digest(),
    ],
  ],
  sign: (message, key) => createHmac('sha512', key).update(message).digest('base64'),
  format: ({ user, signature }) => ({ headers: { 'API-Key': user, 'API-Sign': signature } }),
});

// The example of the documentation
const secret = 'kQH5HW/8p1uGOVjbgWA7FunAmGO8lsSUXNsu3eow76sz84Q18fWxnyRzBHCd3pd5nE9qa99HAZtuZuj6F1huXg==';
let double;
let client;

before(async () => {
  double = await startDouble({
    users: { trader: { secret } },
    schemes: { exchange },
    now: '2026-03-01T12:00:00Z',
  });
  double.stub(
    { method: 'POST', path: '/0/private/Balance' },
    { body: { error: [], result: { ZEUR: '100.0000' } } },
  );
  double.stub({ method: 'POST', path: '/0/private/AddOrder' }, ({ body }) =>
    Number(body.get('volume')) > 1
      ? { body: { error: ['EOrder:Insufficient funds'] } }
      : { body: { error: [], result: { txid: ['OUF4EM-FRGI2-MQMWZD'] } } },
  );
  client = new ExchangeClient({ url: double.url, key: 'trader', secret, now: () => double.clock.now() });
});
after(() => double.close());

/** Rejects with the reason why the last request was refused. */
function explain(error) {
  throw new Error(`${error.message}\n${double.journal.last()}`);
}

test('reads the balance', async () => {
  assert.deepEqual(await client.balance().catch(explain), { ZEUR: '100.0000' });
});

test('orders, each time with a new nonce', async () => {
  assert.deepEqual(await client.buy('XBTEUR', '0.5').catch(explain), ['OUF4EM-FRGI2-MQMWZD']);
  assert.deepEqual(await client.buy('XBTEUR', '0.5').catch(explain), ['OUF4EM-FRGI2-MQMWZD']);
});

test('rejects with the error of the exchange', async () => {
  await assert.rejects(client.buy('XBTEUR', '2'), /Insufficient funds/);
});
