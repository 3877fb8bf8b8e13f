import assert from 'node:assert/strict';
import test from 'node:test';
import { get, judgeRequest, openScheme, signed, start } from '../../support/schemes/message-scheme.ts';
import { signingKey } from '../../support/schemes/rfc9421.ts';

test('a signature is accepted until the time in expires', async () => {
  const { judge, clock } = openScheme();
  const request = signed(get, { expires: start + 5 });
  clock.advance(5999);
  assert.equal((await judge(request)).outcome, 'good ann');
  clock.advance(1);
  assert.equal((await judge(request)).outcome, 'date-out-of-window');
});

test('the parameter expires does not replace the window', async () => {
  const late = signed(get, { created: start - 301, expires: start + 1000 });
  assert.equal(await judgeRequest(late), 'date-out-of-window');
});

test('a nonce is accepted once per user, whatever key signs', async () => {
  const { judge } = openScheme();
  assert.equal((await judge(signed(get, { nonce: 'n1' }))).outcome, 'good ann');
  const otherKey = signed(get, { nonce: 'n1', key: signingKey('test-key-ed25519') });
  assert.equal((await judge(otherKey)).outcome, 'nonce-replayed');
  const bob = { id: 'bob', algorithm: 'hmac-sha256', secret: 'second-secret-of-bob' } as const;
  assert.equal((await judge(signed(get, { nonce: 'n1', key: bob }))).outcome, 'good bob');
});

test('a nonce can be required, or ignored', async () => {
  const required = openScheme({ options: { nonce: 'required' } });
  assert.equal((await required.judge(signed(get))).outcome, 'signature-insufficient');
  assert.equal((await required.judge(signed(get, { nonce: 'n' }))).outcome, 'good ann');
  const off = openScheme({ options: { nonce: 'off' } });
  for (let time = 0; time < 2; time += 1)
    assert.equal((await off.judge(signed(get, { nonce: 'n' }))).outcome, 'good ann');
});
