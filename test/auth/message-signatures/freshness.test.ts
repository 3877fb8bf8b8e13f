import assert from 'node:assert/strict';
import test from 'node:test';
import {
  annsSecret,
  get,
  openScheme,
  outcomeOf,
  problemOf,
  signed,
  start,
} from '../../support/signature/message-scheme.ts';
import { signingKey } from '../../support/signature/rfc9421.ts';

test('the time of the signature must be within the window', async () => {
  for (const [off, outcome] of [
    [-300, 'good ann'],
    [300, 'good ann'],
    [-301, 'date-out-of-window'],
    [301, 'date-out-of-window'],
  ] as const)
    assert.equal(await outcomeOf(signed(get, { created: start + off })), outcome, String(off));
  assert.equal(
    await outcomeOf(signed(get, { created: start - 11 }), { options: { window: 10 } }),
    'date-out-of-window',
  );
});

test('a signature is accepted until the time in expires', async () => {
  const { judge, clock } = openScheme();
  const request = signed(get, { expires: start + 5 });
  clock.advance(5999);
  assert.equal((await judge(request)).outcome, 'good ann');
  clock.advance(1);
  const { verdict } = await judge(request);
  assert.equal(problemOf(verdict).type, 'date-out-of-window');
  assert.match(problemOf(verdict).detail, /expired 1 s ago/);
});

test('a signature with a nonce from before the start of the server is refused', async () => {
  const setting = { notBefore: start * 1000 + 900 };
  assert.equal(await outcomeOf(signed(get, { nonce: 'n' }), setting), 'good ann');
  assert.equal(
    await outcomeOf(signed(get, { nonce: 'n', created: start - 1 }), setting),
    'date-out-of-window',
  );
  assert.equal(await outcomeOf(signed(get, { created: start - 1 }), setting), 'good ann');
});

test('a nonce is accepted once for each user', async () => {
  const { judge } = openScheme();
  const request = signed(get, { nonce: 'n1' });
  const { outcome, trace } = await judge(request);
  assert.deepEqual([outcome, trace.passed.at(-1)], ['good ann', 'nonce']);
  assert.equal((await judge(request)).outcome, 'nonce-replayed');
  assert.equal(
    (await judge(signed(get, { nonce: 'n1', key: signingKey('test-key-ed25519') }))).outcome,
    'nonce-replayed',
  );
  const bob = { id: 'bob', algorithm: 'hmac-sha256', secret: 'second-secret-of-bob' } as const;
  assert.equal((await judge(signed(get, { nonce: 'n1', key: bob }))).outcome, 'good bob');
});

test('a nonce is claimed only by a request that is accepted otherwise', async () => {
  const { judge } = openScheme();
  assert.equal(
    (await judge(signed(get, { nonce: 'n', key: { ...annsSecret, secret: 'x' } }))).outcome,
    'credentials-refused',
  );
  assert.equal(
    (await judge(signed(get, { nonce: 'n', created: start - 400 }))).outcome,
    'date-out-of-window',
  );
  assert.equal((await judge(signed(get, { nonce: 'n' }))).outcome, 'good ann');
});

test('a nonce can be required, or ignored', async () => {
  const required = openScheme({ options: { nonce: 'required' } });
  assert.equal((await required.judge(signed(get))).outcome, 'signature-insufficient');
  assert.equal((await required.judge(signed(get, { nonce: 'n' }))).outcome, 'good ann');
  const off = openScheme({ options: { nonce: 'off' } });
  for (let time = 0; time < 2; time += 1)
    assert.equal((await off.judge(signed(get, { nonce: 'n' }))).outcome, 'good ann');
});

test('a nonce has 1 to 256 characters', async () => {
  assert.equal(await outcomeOf(signed(get, { nonce: 'n'.repeat(256) })), 'good ann');
  assert.equal(await outcomeOf(signed(get, { nonce: 'n'.repeat(257) })), 'malformed-credentials');
  assert.equal(await outcomeOf(signed(get, { nonce: '' })), 'malformed-credentials');
});
