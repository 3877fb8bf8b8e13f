// The clients of a double sign with every form of the declared language, and with the scheme of every provider.
import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import { signUrl } from '../../../src/client/index.ts';
import { type Double, type DoubleOptions, startDouble } from '../../../src/double/index.ts';
import { action } from '../../../src/pipeline/resource.ts';
import { presets } from '../../../src/schemes/declared/presets.ts';
import { keepSecret } from '../../support/transcript.ts';

const ed25519 = generateKeyPairSync('ed25519');
const ecdsa = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = (key: typeof ed25519.publicKey): string => key.export({ type: 'spki', format: 'pem' }).toString();
const secret = '3f9c1a7b5d2e8046c1f09b3a7d5e2846ab10cd32ef54768998badcfe10325476';
const passphrase = 'open sesame, a passphrase';
keepSecret(secret);
keepSecret(passphrase);

const user = {
  secret,
  keys: {
    hmac: { algorithm: 'hmac-sha256', secret: secret.replace('3f', 'd1'), passphrase },
    ed25519: { algorithm: 'ed25519', publicKey: pem(ed25519.publicKey) },
    ecdsa: { algorithm: 'ecdsa-p256-sha256', publicKey: pem(ecdsa.publicKey) },
    pss: { algorithm: 'rsa-pss-sha512', publicKey: pem(rsa.publicKey) },
    rsa: { algorithm: 'rsa-v1_5-sha256', publicKey: pem(rsa.publicKey) },
  },
} as const;

const privateKeys = {
  ed25519: { keyId: 'ed25519', privateKey: ed25519.privateKey },
  'ecdsa-p256': { keyId: 'ecdsa', privateKey: ecdsa.privateKey },
  'rsa-pss': { keyId: 'pss', privateKey: rsa.privateKey },
  'rsa-v1_5': { keyId: 'rsa', privateKey: rsa.privateKey },
} as const;

async function open(scheme: object, options: DoubleOptions = {}): Promise<Double> {
  return await startDouble({
    ...options,
    https: false,
    strictQuery: false,
    users: { ann: user },
    schemes: Object.fromEntries([['own', scheme]]),
    resources: { '/things': { POST: action('authenticated', () => ({ status: 204 })) } },
  });
}

async function assertSigned(scheme: object, options: object, body?: string, type = 'application/json') {
  const double = await open(scheme);
  try {
    const client = double.as('ann', { scheme: 'own', ...options });
    const response = await client.fetch('/things?a=1', {
      method: 'POST',
      headers: { 'Content-Type': type },
      body: body ?? '{"a":1}',
    });
    assert.equal(response.status, 204, String(double.journal.last()));
    assert.equal(double.journal.last()?.principal?.scheme, 'own');
    const shown = `${double.journal.last()}${JSON.stringify(double.journal.last())}`;
    for (const hidden of [secret, passphrase]) assert.ok(!shown.includes(hidden));
  } finally {
    await double.close();
  }
}

const adyen = {
  notificationItems: [
    { NotificationRequestItem: { amount: { value: 1, currency: 'EUR' }, additionalData: {} } },
  ],
};

describe('a client of a double signs with the scheme of', () => {
  for (const [preset, { declaration }] of Object.entries(presets)) {
    const named = 'user' in declaration ? { keyId: 'hmac' } : {};
    const keys =
      declaration['algorithm'] === 'ed25519'
        ? privateKeys.ed25519
        : declaration['algorithm'] === 'ecdsa-p256'
          ? privateKeys['ecdsa-p256']
          : {};
    test(preset, async () => {
      const scheme = { preset, ...('user' in declaration ? {} : { user: 'ann' }) };
      const content: Readonly<Record<string, string>> = {
        adyen: JSON.stringify(adyen),
        mailgun: '{"signature":{}}',
      };
      await assertSigned(scheme, { ...named, ...keys }, content[preset]);
    });
  }
});

const own = { message: '{timestamp}.{method}.{target}.{body}', timestamp: { field: 'X-Time' } };
const signature = { field: 'X-Signature' };
const forms: Readonly<
  Record<string, readonly [scheme: object, options?: object, body?: string, type?: string]>
> = {
  'a user and a nonce in the format': [
    {
      ...own,
      message: '{timestamp}.{nonce}.{body}',
      signature: { field: 'X-Signature', format: 'u={user};n={nonce};s={signature}' },
    },
  ],
  'the id of a key in Authorization': [
    { ...own, signature: { field: 'Authorization', format: 'Acme {key-id}:{signature}' } },
    { keyId: 'hmac' },
  ],
  'everything in the query': [
    {
      message: '{method}{target}{body}',
      signature: { query: 'sig' },
      user: { query: 'user' },
      timestamp: { query: 't', unit: 'fractional-s' },
      nonce: { query: 'n' },
    },
  ],
  'everything in a form': [
    {
      message: '{method}{target}{body}',
      signature: { form: 'sig' },
      user: { form: 'user' },
      timestamp: { form: 't' },
      nonce: { form: 'n' },
    },
    {},
    'a=1',
    'application/x-www-form-urlencoded',
  ],
  'a plain digest': [
    {
      ...own,
      message: '{secret}.{timestamp}.{body}',
      algorithm: 'digest',
      hash: 'md5',
      signature,
      user: 'ann',
    },
  ],
  ...Object.fromEntries(
    Object.entries(privateKeys).map(([algorithm, keys]) => [
      algorithm,
      [{ ...own, algorithm, encoding: 'base64', signature, user: { field: 'X-Key' } }, keys] as const,
    ]),
  ),
  'a key in a field': [{ secret: { field: 'X-Key' } }],
  'a key in the query': [{ secret: { query: 'key' } }],
  'a key in a cookie': [{ secret: { cookie: 'key' } }],
  'a key in Authorization': [{ secret: { authorization: 'Bearer' } }],
  'a static token': [{ secret: { authorization: 'Token' }, user: 'ann' }],
};

describe('a client of a double signs with', () => {
  for (const [what, [scheme, options = {}, body, type]] of Object.entries(forms))
    test(what, () => assertSigned(scheme, options, body, type));
});

test('signUrl returns the content with its signature', () => {
  const signed = signUrl({
    method: 'POST',
    url: 'https://example.com/hooks',
    headers: { 'Content-Type': 'application/json' },
    body: '{"event-data":{"event":"opened"}}',
    secret,
    scheme: { preset: 'mailgun' },
    nonce: 'a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0',
    clock: { now: () => 1_529_006_854_000 },
  });
  const token = 'a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0';
  const expected = createHmac('sha256', secret).update(`1529006854${token}`).digest('hex');
  assert.deepEqual(JSON.parse(Buffer.from(signed.body ?? '').toString()), {
    'event-data': { event: 'opened' },
    signature: { timestamp: '1529006854', token, signature: expected },
  });
});

test('a token requires TLS unless it is assumed, and an unknown token gets 401 without a user in the journal', async () => {
  const double = await open({ secret: { authorization: 'Bearer' } }, { tls: 'required' });
  const send = (token: string, secure: boolean) =>
    double.fetch('/things', { method: 'POST', headers: { Authorization: `Bearer ${token}` }, secure });
  assert.equal((await send(secret, false)).status, 403);
  assert.equal((await send('guess', true)).status, 401);
  assert.equal(double.journal.last()?.auth?.hint, 'no user has this key, or several have it');
  assert.equal(double.journal.last()?.user, undefined);
  assert.equal((await send(secret, true)).status, 204);
  await double.close();
});
