import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import { type Credentials, signRequest, signUrl } from '../../src/client/index.ts';
import { createManualClock } from '../../src/clock.ts';
import { type Double, startDouble } from '../../src/double/index.ts';

const now = Date.UTC(2026, 10, 22, 12);
const secret = 'secret of ann';
const password = 'password of ann';
const url = 'https://api.example/articles?limit=1';
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

function open(): Promise<Double> {
  return startDouble({
    now,
    users: { ann: { secret, password } },
    clients: { app: { secret: 'secret of app', grants: ['client_credentials'], scopes: ['read', 'write'] } },
    consumers: {
      partner: {
        secret: 'secret of partner',
        scopes: ['read', 'write'],
        users: '*',
        methods: ['HMAC-SHA256', 'HMAC-SHA512', 'PLAINTEXT'],
      },
      bank: {
        rsaPublicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
        scopes: ['read', 'write'],
        users: '*',
        methods: ['RSA-SHA256', 'RSA-SHA512'],
      },
    },
    schemes: { 'draft-cavage': {} },
    aliases: ['https://api.example'],
  });
}

/** What each scheme signs with, at a double. */
const credentials: Readonly<Record<string, (double: Double) => Promise<Credentials> | Credentials>> = {
  hmac: () => ({ user: 'ann', secret }),
  'hmac by its name': () => ({ scheme: 'hmac', user: 'ann', secret, dateField: 'X-Date' }),
  'hmac without the body': () => ({ user: 'ann', secret, signBody: false }),
  basic: () => ({ scheme: 'basic', user: 'ann', password }),
  async bearer(double) {
    const { accessToken } = await double.oauth2.issueToken({ user: 'ann', scope: 'read write' });
    return { scheme: 'bearer', token: accessToken };
  },
  async oauth1(double) {
    const { token, tokenSecret } = await double.oauth1.issueToken({ user: 'ann' });
    return { scheme: 'oauth1', client: 'partner', secret: 'secret of partner', token, tokenSecret };
  },
  'oauth1 without a token': () => ({ scheme: 'oauth1', client: 'partner', secret: 'secret of partner' }),
  'oauth1 with HMAC-SHA512 and a body hash': () => ({
    scheme: 'oauth1',
    client: 'partner',
    secret: 'secret of partner',
    signatureMethod: 'HMAC-SHA512',
    bodyHash: true,
  }),
  'oauth1 with PLAINTEXT': () => ({
    scheme: 'oauth1',
    client: 'partner',
    secret: 'secret of partner',
    signatureMethod: 'PLAINTEXT',
  }),
  'oauth1 with an RSA key': () => ({ scheme: 'oauth1', client: 'bank', privateKey, bodyHash: true }),
  async 'oauth1 with an RSA key and a token'(double) {
    const { token } = await double.oauth1.issueToken({ user: 'ann', client: 'bank' });
    return { scheme: 'oauth1', client: 'bank', privateKey, token, signatureMethod: 'RSA-SHA512' };
  },
  'draft-cavage': () => ({ scheme: { type: 'draft-cavage' }, user: 'ann', secret }),
};

describe('signRequest', () => {
  for (const [name, create] of Object.entries(credentials))
    test(`signs with ${name} as a server verifies it`, async () => {
      await using double = await open();
      const body = '{"title":"Tea","price":{"value":"3.50","currency":"EUR"}}';
      const type = { 'Content-Type': 'application/json' };
      const request = { method: 'POST', url, headers: type, body };
      const signature = signRequest({ ...request, clock: double.clock, ...(await create(double)) });
      const response = await double.fetch(url, { ...request, headers: { ...type, ...signature } });
      assert.equal(response.status, 201, String(double.journal.last()));
    });

  test('signs the body, so that the server rejects a changed body', async () => {
    await using double = await open();
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
