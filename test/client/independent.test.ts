// What the client signs is verified, or signed equally, by packages that others wrote.
import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { signRequest, signUrl } from '../../src/client/index.ts';
import { createManualClock, systemClock } from '../../src/clock.ts';
import { rsa } from '../support/keys.ts';
import { accessKeyId, secret } from '../support/schemes/clients/aws4.ts';
import { absent, signWithAws4 } from '../support/schemes/clients/aws4-clients.ts';
import { requireInstalled, unlessInstalled } from '../support/schemes/clients/declared.ts';

const content = '{"id":"evt_1","name":"Zoë"}';
const url = 'https://api.example/articles?limit=1&q=a%20b';

test('stripe verifies what signRequest signs', unlessInstalled('stripe'), () => {
  const stripe: {
    webhooks: { constructEvent(payload: string, header: string, secret: string): { id: string } };
  } = requireInstalled('stripe');
  const signing = { secret: 'whsec_5WbX8d', scheme: { preset: 'stripe' } } as const;
  const headers = signRequest({ method: 'POST', url, body: content, ...signing });
  const event = stripe.webhooks.constructEvent(content, headers['Stripe-Signature'] ?? '', 'whsec_5WbX8d');
  assert.equal(event.id, 'evt_1');
});

test('standardwebhooks verifies what signRequest signs', unlessInstalled('standardwebhooks'), () => {
  const {
    Webhook,
  }: { Webhook: new (secret: string) => { verify(payload: string, headers: object): { id: string } } } =
    requireInstalled('standardwebhooks');
  const shared = `whsec_${Buffer.from('a secret of 24 bytes....').toString('base64')}`;
  const scheme = { preset: 'standard-webhooks' } as const;
  const headers = signRequest({ method: 'POST', url, body: content, secret: shared, scheme });
  assert.equal(new Webhook(shared).verify(content, headers).id, 'evt_1');
});

const scope = { region: 'eu-central-1', service: 'execute-api' } as const;
const time = Date.UTC(2026, 10, 22, 12);
const aws4 = { type: 'aws4', ...scope, accessKeyId, secret } as const;

test('aws4 signs a request as signRequest does', { skip: absent('aws4') ?? false }, () => {
  const headers = signRequest({ method: 'GET', url, scheme: aws4, clock: createManualClock(time) });
  const { 'X-Amz-Content-Sha256': hash = '', Authorization } = headers;
  const given = { Host: 'api.example', 'X-Amz-Content-Sha256': hash };
  const request = { method: 'GET', path: '/articles?limit=1&q=a%20b', headers: given };
  assert.equal(signWithAws4(request, { ...scope, time }).headers['Authorization'], Authorization);
});

test('aws4 presigns a URL as signUrl does', { skip: absent('aws4') ?? false }, () => {
  const s3 = { ...aws4, service: 's3', presign: 86_400 };
  const signed = signUrl({
    method: 'GET',
    url: 'https://api.example/a/b',
    scheme: s3,
    clock: createManualClock(time),
  });
  const path = '/a/b?X-Amz-Date=20261122T120000Z&X-Amz-Expires=86400';
  const request = { method: 'GET', path, headers: { Host: 'api.example' } };
  const other = signWithAws4(request, { ...scope, service: 's3' }, true);
  const signature = (target: string): string | null =>
    new URL(target, 'https://api.example').searchParams.get('X-Amz-Signature');
  assert.match(signature(signed.url) ?? '', /^[0-9a-f]{64}$/);
  assert.equal(signature(signed.url), signature(other.path));
});

interface HttpMessageSignatures {
  createVerifier(key: unknown, algorithm: string): unknown;
  httpbis: { verifyMessage(config: object, message: object): Promise<boolean | null> };
}

const pairs = {
  ed25519: generateKeyPairSync('ed25519'),
  'ecdsa-p256-sha256': generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  'rsa-pss-sha512': rsa,
} as const;

for (const algorithm of ['ed25519', 'ecdsa-p256-sha256', 'rsa-pss-sha512'] as const)
  test(
    `http-message-signatures verifies what signRequest signs with ${algorithm}`,
    unlessInstalled('http-message-signatures'),
    async () => {
      const { createVerifier, httpbis }: HttpMessageSignatures = requireInstalled('http-message-signatures');
      const { privateKey } = pairs[algorithm];
      const scheme = { type: 'message-signatures', key: { id: 'key-1', algorithm, privateKey } } as const;
      const headers = signRequest({ method: 'POST', url, body: content, scheme, clock: systemClock });
      const keyLookup = async () => ({
        id: 'key-1',
        algs: [algorithm],
        verify: createVerifier(createPublicKey(privateKey), algorithm),
      });
      const verified = (sent: string) =>
        httpbis.verifyMessage({ keyLookup }, { method: 'POST', url: sent, headers }).catch(() => false);
      assert.equal(await verified(url), true);
      assert.notEqual(await verified(`${url}&more=1`), true);
    },
  );
