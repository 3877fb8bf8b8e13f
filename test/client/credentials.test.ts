import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { signRequest, signUrl } from '../../src/client/index.ts';
import { createManualClock } from '../../src/clock.ts';
import { startDouble } from '../../src/double/index.ts';

const now = Date.UTC(2026, 10, 22, 12);
const secret = 'secret of ann';
const password = 'password of ann';
const url = 'https://api.example/articles?limit=1';
describe('signRequest', () => {
  test('signs the body, so that the server rejects a changed body', async () => {
    await using double = await startDouble({
      now,
      users: { ann: { secret } },
      aliases: ['https://api.example'],
    });
    const headers = signRequest({
      method: 'POST',
      url,
      body: '{"title":"Tea"}',
      user: 'ann',
      secret,
      clock: double.clock,
    });
    const changed = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: '{"title":"Ink"}',
    };
    await double.fetch(url, changed);
    assert.equal(double.journal.last()?.problem?.type, 'digest-mismatch');
  });

  test('defaults to GET, and accepts the date as ms, a Date or text', () => {
    const scheme = { preset: 'stripe' } as const;
    const signing = { url, secret, clock: createManualClock(0) };
    const times = [now, new Date(now), '2026-11-22T12:00:00Z'];
    for (const date of times)
      assert.match(signRequest({ ...signing, scheme, date })['Stripe-Signature'] ?? '', /^t=1795348800,/);
    for (const date of times)
      assert.equal(signRequest({ ...signing, user: 'ann', date })['Date'], '22 nov 2026 12:00:00');
    const literal = signRequest({ ...signing, user: 'ann', date: 'no date at all' });
    assert.equal(literal['Date'], 'no date at all');
  });

  test('sends the key id in place of the user', () => {
    const scheme = { message: '{user}', signature: { field: 'X-Sig' }, user: { field: 'X-Key' } };
    const headers = signRequest({ url, scheme, user: 'ann', keyId: 'key-1', secret });
    assert.equal(headers['X-Key'], 'key-1');
  });

  test('returns the headers of signUrl for a scheme that changes neither the URL nor the body', () => {
    const options = { url, user: 'ann', secret, nonce: 'n', date: now };
    assert.deepEqual(signUrl(options), { url, headers: signRequest(options) });
  });
});

describe('signRequest rejects wrong options', () => {
  const mistakes: readonly (readonly [options: object, message: string])[] = [
    [
      { user: 'ann', secret, content: 'Tea' },
      'content is not a member of options; known are method, url, headers, body, target, date, nonce, id, clock, random, scheme, user, secret, form, dateField, signBody, password, token, client, privateKey, tokenSecret, signatureMethod, bodyHash, keyId, passphrase',
    ],
    [{ user: 'ann', secret, bdy: 'Tea' }, 'bdy is not a member of options; did you mean "body"?'],
    [{ user: 'ann' }, 'options.secret must be non-empty text, is missing'],
    [{ scheme: 'basic', user: 'ann', secret }, 'options.secret is not an option of the scheme basic'],
    [{ scheme: 'basic', user: 'ann' }, 'options.password must be non-empty text, is missing'],
    [{ scheme: 'bearer', token: '' }, 'options.token must be non-empty text, is empty'],
    [{ scheme: 'basik', user: 'ann' }, 'scheme must be an object; did you mean "basic"?'],
    [
      { scheme: { preset: 'stripe' }, secret, form: 'simple' },
      'options.form is not an option of the scheme stripe',
    ],
    [{ scheme: { preset: 'stripe' }, secret: 5 }, 'options.secret must be text'],
    [
      { scheme: { preset: 'stripe' }, secret, date: 'yesterday' },
      "options.date must be a Date, ms since 1970 or text such as '2026-03-01T12:00:00Z'",
    ],
  ];
  for (const [wrong, message] of mistakes)
    test(message, () => {
      assert.throws(
        () => Reflect.apply(signRequest, undefined, [{ url, ...wrong }]),
        (error: Error) => error instanceof RangeError && error.message.startsWith(message),
      );
    });

  test('a password or token is sent over HTTPS only, except to this host', () => {
    const plain = 'http://api.example/';
    const token = { scheme: 'bearer', token: 'a-token' } as const;
    assert.throws(() => signRequest({ url: plain, ...token }), /a token is sent over HTTPS only/);
    const basic = { scheme: 'basic', user: 'ann', password } as const;
    assert.throws(() => signRequest({ url: plain, ...basic }), /a password is sent over HTTPS only/);
    assert.doesNotThrow(() => signRequest({ url: 'http://localhost:8080/', ...token }));
  });
});
