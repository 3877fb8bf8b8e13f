import assert from 'node:assert/strict';
import { createHash, createHmac, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import test from 'node:test';
import { createRequest, type IncomingRequest } from '../../../src/http/message.ts';
import { createKey } from '../../../src/schemes/hmac/credentials.ts';
import {
  type DeclaredParts,
  installedFolder,
  openDeclared,
  requireInstalled,
  signDeclared,
  start,
  unlessInstalled,
  vectorsIn,
} from '../../support/schemes/clients/declared.ts';
import { keepSecret } from '../../support/transcript.ts';

interface Vector {
  /** The preset, or the declaration of a provider without one. */
  readonly preset?: string;
  readonly declaration?: object;
  readonly source: string;
  readonly secret?: string;
  readonly seed?: string;
  /** A key that the request names, or the only one. */
  readonly key?: {
    readonly id: string;
    readonly algorithm: 'hmac-sha256' | 'ecdsa-p256-sha256';
    readonly secret?: string;
    /** SPKI in base64. */
    readonly publicKey?: string;
  };
  readonly time: number;
  readonly method?: string;
  readonly publicOrigin?: string;
  readonly host?: string;
  readonly target: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Content that another request has. Default: the same with one character more. */
  readonly other?: string;
}

function isVectors(value: unknown): value is Vector[] {
  return Array.isArray(value) && value.every((vector) => typeof vector === 'object' && 'source' in vector);
}

/** Ed25519 keys from a seed (RFC 8032 §5.1.5), in the DER of RFC 8410 §7. */
function createKeys(seed: string): { privateKey: KeyObject; publicKey: KeyObject } {
  const der = Buffer.concat([
    Buffer.from('302e020100300506032b657004220420', 'hex'),
    Buffer.from(seed, 'base64'),
  ]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

function open(preset: string, secret: string, at: number, parts: DeclaredParts = {}, more: object = {}) {
  keepSecret(secret);
  const users = new Map([['ann', { secrets: [{ secret }] }]]);
  return openDeclared({ preset, user: 'ann', ...more }, { users, at, ...parts });
}

function posted(
  content: string | Uint8Array | undefined,
  fields: Readonly<Record<string, string>>,
  target = '/',
  host = 'localhost',
  method = 'POST',
): IncomingRequest {
  return createRequest({
    method,
    target,
    headers: [['Host', host], ...Object.entries(fields)],
    ...(content !== undefined && { body: content }),
    secure: true,
  });
}

const published = vectorsIn('published.json');
assert.ok(isVectors(published));

/** Returns the keys of ann, by which a vector is verified beside her secret. */
function keysOf({ seed, key }: Vector): DeclaredParts {
  if (seed !== undefined)
    return { keys: { ann: [{ id: 'k', algorithm: 'ed25519', publicKey: createKeys(seed).publicKey }] } };
  if (key === undefined) return {};
  const { id, secret, publicKey = '' } = key;
  if (secret !== undefined)
    return { keys: { ann: [{ id, algorithm: 'hmac-sha256', secret: createKey(secret) }] } };
  const der = Buffer.from(publicKey, 'base64');
  const spki = createPublicKey({ key: der, format: 'der', type: 'spki' });
  return { keys: { ann: [{ id, algorithm: 'ecdsa-p256-sha256', publicKey: spki }] } };
}

for (const vector of published) {
  const { preset, declaration, source, secret, time, publicOrigin, target, fields, body, other } = vector;
  test(`${preset ?? 'a declaration'}: the example of ${source} is verified, and refused with another content or target`, async () => {
    const named = vector.key?.secret === undefined ? { user: 'ann' } : {};
    const declared = openDeclared(declaration ?? { preset, ...named }, {
      users: new Map([['ann', { secrets: secret === undefined ? [] : [{ secret }] }]]),
      at: Math.round(time * 1000),
      ...keysOf(vector),
      ...(publicOrigin !== undefined && { context: { publicOrigin } }),
    });
    for (const each of [secret, vector.key?.secret]) if (each !== undefined) keepSecret(each);
    const verdict = (content: string | undefined, at = target): Promise<string> =>
      declared.verdictOn(posted(content, fields, at, vector.host, vector.method));
    assert.equal(await verdict(body), 'ann');
    const changed =
      body === undefined
        ? verdict(body, target.replace(/(\?|^\/(?!.*\?))./, '$1x'))
        : verdict(other ?? `${body}0`);
    assert.equal(await changed, 'credentials-refused');
  });
}

interface Computed {
  readonly secret: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string;
}

function isComputed(value: unknown): value is Computed[] {
  return Array.isArray(value) && value.every((vector) => typeof vector === 'object' && 'body' in vector);
}

for (const preset of ['shopify', 'zoom']) {
  test(`${preset}: signatures computed by Python's hmac are verified`, async () => {
    const vectors = vectorsIn(`${preset}.json`);
    assert.ok(isComputed(vectors));
    for (const { secret, fields, body } of vectors) {
      const declared = open(preset, secret, 1_658_940_994_000);
      assert.equal(await declared.verdictOn(posted(Buffer.from(body, 'base64'), fields)), 'ann');
      assert.equal(
        await declared.verdictOn(posted(Buffer.from(`${body.slice(0, -4)}AAAA`, 'base64'), fields)),
        'credentials-refused',
      );
    }
  });
}

type Class<Instance> = new (secret: string) => Instance;

const body = '{"type":"contact.created","name":"Zo\u00eb"}';

/** The request that the signer signs. */
const unsigned = {
  method: 'POST',
  url: new URL('https://localhost/'),
  target: '/',
  fields: [],
  content: Buffer.from(body),
};

test(
  'standard-webhooks: signatures of the package standardwebhooks are verified',
  unlessInstalled('standardwebhooks'),
  async () => {
    const { Webhook }: { Webhook: Class<{ sign(id: string, time: Date, payload: string): string }> } =
      requireInstalled('standardwebhooks');
    const secret = `whsec_${Buffer.from('24 bytes for the webhook').toString('base64')}`;
    const signature = new Webhook(secret).sign('msg_1', new Date(start), body);
    const fields = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(start / 1000),
      'webhook-signature': signature,
    };
    assert.equal(await open('standard-webhooks', secret, start).verdictOn(posted(body, fields)), 'ann');
  },
);

test(
  'standard-webhooks: the package standardwebhooks verifies signatures of the signer',
  unlessInstalled('standardwebhooks'),
  () => {
    const { Webhook }: { Webhook: Class<{ verify(payload: string, headers: object): unknown }> } =
      requireInstalled('standardwebhooks');
    const secret = `whsec_${Buffer.from('the right one'.padEnd(24)).toString('base64')}`;
    const preset = { preset: 'standard-webhooks', user: 'ann' };
    const { fields } = signDeclared(unsigned, preset, { secret }, { now: Date.now(), id: 'msg_1' });
    assert.deepEqual(new Webhook(secret).verify(body, Object.fromEntries(fields)), JSON.parse(body));
  },
);

test('standard-webhooks: a retry with the same id is accepted, with its new timestamp', async () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const declared = open('standard-webhooks', secret, start, {}, { replay: 'refuse' });
  const attempt = (now: number): IncomingRequest => {
    const preset = { preset: 'standard-webhooks', user: 'ann' };
    const { fields } = signDeclared(unsigned, preset, { secret }, { now, id: 'msg_1' });
    return posted(body, Object.fromEntries(fields));
  };
  assert.equal(await declared.verdictOn(attempt(start)), 'ann');
  assert.equal(await declared.verdictOn(attempt(start)), 'nonce-replayed');
  assert.equal(await declared.verdictOn(attempt(start + 5000)), 'ann');
});

test('standard-webhooks: an id must not contain a full stop', async () => {
  const fields = {
    'webhook-id': 'msg.1',
    'webhook-timestamp': String(start / 1000),
    'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
  };
  const problem = await open('standard-webhooks', 'whsec_AAAA', start).problemWith(posted(body, fields));
  assert.equal(
    problem.detail,
    'The field webhook-id contains ".", which separates the parts of the message.',
  );
});

test('standard-webhooks: an Ed25519 signature is verified beside others, until its key expires', async () => {
  const seed = Buffer.alloc(32, 7).toString('base64');
  const { privateKey, publicKey } = createKeys(seed);
  const other = createKeys(Buffer.alloc(32, 8).toString('base64'));
  const preset = { preset: 'standard-webhooks', user: 'ann' };
  const secret = 'whsec_bm90IHRoZSByaWdodCBzZWNyZXQ=';
  const signed = (key: KeyObject): IncomingRequest => {
    const { fields } = signDeclared(unsigned, preset, { secret, privateKey: key }, { id: 'm' });
    return posted(body, Object.fromEntries(fields));
  };
  const keys = { ann: [{ id: 'k', algorithm: 'ed25519', publicKey, until: start + 1000 } as const] };
  const declared = open('standard-webhooks', 'whsec_AAAA', start, { keys });
  assert.equal(await declared.verdictOn(signed(privateKey)), 'ann');
  assert.equal(await declared.verdictOn(signed(other.privateKey)), 'credentials-refused');
  declared.clock.advance(1000);
  assert.equal(await declared.verdictOn(signed(privateKey)), 'credentials-refused');
});

test(
  'stripe: signatures of its package are verified, beside further and unknown signatures',
  unlessInstalled('stripe'),
  async () => {
    const stripe: {
      webhooks: { generateTestHeaderString(parts: object): string };
    } = requireInstalled('stripe');
    const secret = 'whsec_test_secret_of_the_endpoint';
    const value = stripe.webhooks.generateTestHeaderString({
      payload: body,
      secret,
      timestamp: start / 1000,
    });
    const declared = open('stripe', secret, start);
    const verdict = (header: string): Promise<string> =>
      declared.verdictOn(posted(body, { 'Stripe-Signature': header }));
    assert.equal(await verdict(value), 'ann');
    assert.equal(await verdict(`${value},v0=${'0'.repeat(64)}`), 'ann');
    assert.equal(await verdict(value.replace(',v1=', `,v1=${'0'.repeat(64)},v1=`)), 'ann');
    assert.equal(
      await verdict(value.replace(/t=(\d+)/, (_, time) => `t=${Number(time) + 1}`)),
      'credentials-refused',
    );
    declared.clock.advance(301_000);
    assert.equal(await verdict(value), 'date-out-of-window');
  },
);

test('stripe: its package verifies signatures of the signer', unlessInstalled('stripe'), () => {
  const stripe: {
    webhooks: { constructEvent(payload: string, header: string, secret: string): { name: string } };
  } = requireInstalled('stripe');
  const secret = 'whsec_test_secret_of_the_endpoint';
  const preset = { preset: 'stripe', user: 'ann' };
  const { fields } = signDeclared(unsigned, preset, { secret }, { now: Date.now() });
  assert.equal(stripe.webhooks.constructEvent(body, fields[0]?.[1] ?? '', secret).name, 'Zo\u00eb');
});

test(
  'github: signatures of @octokit/webhooks-methods are verified, and the reverse',
  unlessInstalled('@octokit/webhooks-methods'),
  async () => {
    const methods: {
      sign(secret: string, payload: string): Promise<string>;
      verify(secret: string, payload: string, signature: string): Promise<boolean>;
    } = await import(join(installedFolder('@octokit/webhooks-methods'), 'dist-node/index.js'));
    const secret = 'a secret of the repository';
    const signature = await methods.sign(secret, body);
    const declared = open('github', secret, start);
    assert.equal(await declared.verdictOn(posted(body, { 'X-Hub-Signature-256': signature })), 'ann');
    const { fields } = signDeclared(unsigned, { preset: 'github', user: 'ann' }, { secret });
    assert.equal(await methods.verify(secret, body, fields[0]?.[1] ?? ''), true);
  },
);

const token = 'the auth token of the account';

function twilio(
  url: string,
  parameters: string,
  host: string,
  target: string,
  fields: object,
  content: string,
): IncomingRequest {
  const signature = createHmac('sha1', token)
    .update(url + parameters)
    .digest('base64');
  return posted(content, { 'X-Twilio-Signature': signature, ...fields }, target, host);
}

const form = { 'Content-Type': 'application/x-www-form-urlencoded' };

test('twilio: the URL may be signed with the port or without it', async () => {
  const verdict = (url: string, host: string): Promise<string> =>
    open('twilio', token, start).verdictOn(twilio(url, 'a1', host, '/x', form, 'a=1'));
  for (const host of ['example.com', 'example.com:443', 'example.com:8443']) {
    const [name = '', port = '443'] = host.split(':');
    assert.equal(await verdict(`https://${name}/x`, host), 'ann');
    assert.equal(await verdict(`https://${name}:${port}/x`, host), 'ann');
    assert.equal(await verdict(`https://${name}:444/x`, host), 'credentials-refused');
  }
});

test('twilio: content that is not a form must have its SHA-256 in the signed URL', async () => {
  const digest = createHash('sha256').update(body).digest('hex');
  const target = `/x?a=1&bodySHA256=${digest}`;
  const json = { 'Content-Type': 'application/json' };
  const url = `https://example.com${target}`;
  const declared = open('twilio', token, start);
  assert.equal(await declared.verdictOn(twilio(url, '', 'example.com', target, json, body)), 'ann');
  assert.equal(
    await declared.verdictOn(twilio(url, '', 'example.com', target, json, `${body} `)),
    'digest-mismatch',
  );
  const without = twilio('https://example.com/x', '', 'example.com', '/x', json, body);
  const problem = await declared.problemWith(without);
  assert.equal(
    problem.detail,
    'The signature does not cover this content; it must be a form, or its SHA-256 in the query parameter bodySHA256.',
  );
});

test('twilio: repeated parameters are signed once, sorted by value', async () => {
  const request = twilio('https://example.com/x', 'a1a2bc d', 'example.com', '/x', form, 'b=c+d&a=2&a=1&a=2');
  assert.equal(await open('twilio', token, start).verdictOn(request), 'ann');
});
