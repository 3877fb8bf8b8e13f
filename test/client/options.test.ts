import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { describe, test } from 'node:test';
import { signedFetch, signRequest, signUrl } from '../../src/client/index.ts';
import { createManualClock } from '../../src/clock.ts';
import { startDouble } from '../../src/double/index.ts';
import { action, json } from '../../src/index.ts';
import { rsa } from '../support/keys.ts';

const now = Date.UTC(2026, 10, 22, 12);
const secret = 'secret of ann';
const partner = {
  message: '{timestamp}.{nonce}.{method}.{target}.{field:Content-Type}.{body}',
  signature: { field: 'X-Partner-Signature', format: 'v1={signature}' },
  user: { field: 'X-Partner-Key' },
  timestamp: { field: 'X-Partner-Time', unit: 'ms' },
  nonce: { field: 'X-Partner-Nonce' },
} as const;
const key = { user: { field: 'X-Own-Id' }, secret: { field: 'X-Own-Secret' } } as const;
const region = { region: 'eu-central-1', service: 'execute-api' } as const;

const pairs = {
  ed25519: generateKeyPairSync('ed25519'),
  'rsa-pss-sha512': rsa,
};
const keyPem = (pair: { privateKey: KeyObject }): string =>
  pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const messageSignatures = { type: 'message-signatures', tag: 'app' } as const;

test('signedFetch signs redirected requests within the origin, and none to another origin', async () => {
  const users = { ann: { secret } };
  await using double = await startDouble({ https: false, users, schemes: { partner, aws4: region } });
  await using other = await startDouble({ https: false });
  const to = (location: string) =>
    action('anyone', async () => ({ status: 307, headers: [['Location', location]] }));
  double.resource('/near', { GET: to('/me') });
  double.resource('/far', { GET: to(`${other.url}/me`) });
  const me = { GET: action('anyone', async ({ principal }) => json({ user: principal?.name ?? null })) };
  double.resource('/me', me);
  other.resource('/me', me);
  for (const signing of [
    { scheme: { type: 'aws4', ...region, accessKeyId: 'ann', secret, presign: 60 } },
    { scheme: partner, user: 'ann', secret },
  ] as const) {
    const sent = { ...signing, headers: { 'Content-Type': 'text/plain' } };
    assert.deepEqual(await (await signedFetch(`${double.url}/near`, sent)).json(), { user: 'ann' });
    await signedFetch(`${double.url}/far`, sent);
    const received = JSON.stringify(other.journal.last()?.raw().request);
    assert.doesNotMatch(received, /signature|X-Amz|sig=/i);
  }
});

const request = { method: 'GET', url: 'https://api.example/articles?limit=1' } as const;

describe('signRequest', () => {
  test('returns the fields of a scheme with the given time, nonce and random numbers', () => {
    const given = {
      ...request,
      clock: createManualClock(now),
      random: (size: number) => new Uint8Array(size),
    };
    assert.deepEqual(Object.keys(signRequest({ ...given, user: 'ann', secret, scheme: partner })), [
      'X-Partner-Key',
      'X-Partner-Time',
      'X-Partner-Nonce',
      'X-Partner-Signature',
    ]);
    const input = signRequest({ ...given, scheme: { ...messageSignatures, key: { id: 'ann', secret } } });
    assert.equal(
      input['Signature-Input'],
      'sig1=("@method" "@authority" "@path" "@query");created=1795348800;nonce="AAAAAAAAAAAAAAAAAAAAAA";keyid="ann";tag="app"',
    );
    const chosen = { ...given, nonce: 'n-1', scheme: { ...messageSignatures, key: { id: 'ann', secret } } };
    assert.match(signRequest(chosen)['Signature-Input'] ?? '', /;nonce="n-1"/);
    const bare = {
      ...messageSignatures,
      nonce: 'off',
      lifetime: 60,
      alg: true,
      label: 'own',
      components: ['@method'],
      key: { id: 'ann', secret },
    } as const;
    assert.equal(
      signRequest({ ...given, scheme: bare })['Signature-Input'],
      'own=("@method");created=1795348800;expires=1795348860;alg="hmac-sha256";keyid="ann";tag="app"',
    );
  });

  test('defaults to GET, and accepts the date as ms, a Date or text', () => {
    const scheme = { preset: 'stripe' } as const;
    const signing = { url: request.url, secret, clock: createManualClock(0) };
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
    const headers = signRequest({ url: request.url, scheme, user: 'ann', keyId: 'key-1', secret });
    assert.equal(headers['X-Key'], 'key-1');
  });

  test('sends an API key, a password or a token over HTTPS or to this host only', () => {
    const signing = { user: 'ann', secret, scheme: key };
    assert.deepEqual(signRequest({ ...request, ...signing }), { 'X-Own-Id': 'ann', 'X-Own-Secret': secret });
    for (const [what, credentials] of [
      ['an API key', signing],
      ['a token', { scheme: 'bearer', token: 'a-token' }],
      ['a password', { scheme: 'basic', user: 'ann', password: 'a password' }],
    ] as const) {
      assert.doesNotThrow(() => signRequest({ url: 'http://localhost:8080/', ...credentials }));
      assert.throws(() => signRequest({ url: 'http://api.example/', ...credentials }), {
        name: 'RangeError',
        message: `${what} is sent over HTTPS only`,
      });
    }
  });

  test('signs the body by its digest, and returns the headers of signUrl if it changes nothing else', () => {
    const options = { ...request, user: 'ann', secret, nonce: 'n', date: now };
    assert.deepEqual(signUrl(options), { url: request.url, headers: signRequest(options) });
    assert.match(signRequest({ ...options, body: 'Tea' })['Content-Digest'] ?? '', /^sha-256=:/);
  });

  test('rejects a scheme that signs in the query, and refers to signUrl', () => {
    const scheme = { type: 'aws4', ...region, accessKeyId: 'ann', secret, presign: 60 } as const;
    const options = { ...request, scheme };
    assert.throws(() => signRequest(options), /the scheme changes the query of the URL; use signUrl/);
    const { url, headers } = signUrl(options);
    assert.match(
      url,
      /^https:\/\/api\.example\/articles\?limit=1&X-Amz-Algorithm=.*&X-Amz-Signature=[0-9a-f]{64}$/,
    );
    assert.deepEqual(headers, {});
  });
});

describe('a wrong option is rejected', () => {
  const privateKey = keyPem(pairs.ed25519);
  const rsa = keyPem(pairs['rsa-pss-sha512']);
  const publicKey = pairs.ed25519.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const message = { type: 'message-signatures' };
  const aws4 = { type: 'aws4', ...region, accessKeyId: 'ann', secret };
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
    [
      { scheme: { type: 'aws' } },
      'scheme.type must be one of message-signatures, aws4, draft-cavage, is "aws"; did you mean "aws4"?',
    ],
    [{ scheme: {} }, 'scheme must have one of type, preset, message and secret'],
    [{ scheme: 'stripe' }, 'scheme must be an object'],
    [
      { scheme: { preset: 'strype' }, secret },
      'scheme.preset must be a preset, is "strype"; did you mean "stripe"?',
    ],
    [{ scheme: { ...partner, nonc: 1 }, secret }, 'nonc is not a member of scheme; did you mean "nonce"?'],
    [{ scheme: { preset: 'stripe' } }, 'the scheme stripe requires a secret'],
    [
      { scheme: { preset: 'stripe' }, secret: '' },
      'the scheme stripe requires a secret, which must not be empty',
    ],
    [{ scheme: { preset: 'stripe' }, secret, nonce: 'n' }, 'nonce is not an option of the scheme stripe'],
    [
      { scheme: { preset: 'stripe' }, privateKey },
      'the scheme stripe has signatures by secrets only, not by private keys',
    ],
    [
      { scheme: { preset: 'stripe', user: 'ann' }, user: 'bob', secret },
      'the scheme stripe always signs as ann, not as bob',
    ],
    [{ scheme: { preset: 'standard-webhooks' }, secret: 'whsec_%' }, 'the secret is empty or not in base64'],
    [
      { scheme: { preset: 'standard-webhooks' }, privateKey: rsa },
      'the scheme standard-webhooks requires an Ed25519 key',
    ],
    [{ scheme: { ...aws4, regoin: 'x' } }, 'regoin is not a member of scheme; did you mean "region"?'],
    [
      { scheme: { ...aws4, region: undefined } },
      'scheme.region must be 1 to 64 letters, digits, hyphens and underscores, is missing',
    ],
    [
      { scheme: { ...aws4, presign: 0 } },
      'scheme.presign must be a whole number of seconds, at least 1, or text such as 5m',
    ],
    [{ scheme: { ...aws4, presign: 604_801 } }, 'expires must be a number of seconds from 1 to 604800'],
    [{ scheme: aws4, secret }, 'options.secret: the scheme aws4 has its own credentials'],
    [{ scheme: aws4, nonce: 'n' }, 'nonce is not an option of the scheme aws4'],
    [{ scheme: message }, 'scheme.key must be an object, is missing'],
    [{ scheme: { ...message, key: { id: 'k' } } }, 'scheme.key must have either privateKey or secret'],
    [
      { scheme: { ...message, key: { id: 'k', secret, algoritm: 'x' } } },
      'algoritm is not a member of scheme.key; did you mean "algorithm"?',
    ],
    [
      { scheme: { ...message, key: { id: 'k', privateKey, algorithm: 'ed25518' } } },
      '"ed25518" is not an algorithm of scheme.key; did you mean "ed25519"?',
    ],
    [
      { scheme: { ...message, key: { id: 'k', privateKey, algorithm: 'hmac-sha256' } } },
      'scheme.key.privateKey: hmac-sha256 requires secret',
    ],
    [
      { scheme: { ...message, key: { id: 'k', secret, algorithm: 'ed25519' } } },
      'scheme.key.secret: ed25519 requires privateKey',
    ],
    [
      { scheme: { ...message, key: { id: 'k', privateKey: rsa } } },
      'the key requires an algorithm: rsa-pss-sha512 or rsa-v1_5-sha256 for an RSA key; others are not supported',
    ],
    [
      { scheme: { ...message, key: { id: 'k', privateKey, algorithm: 'ecdsa-p256-sha256' } } },
      'the key is not one for ecdsa-p256-sha256',
    ],
    [
      { scheme: { ...message, key: { id: 'k', privateKey: publicKey } } },
      'scheme.key.privateKey is a public key; a private key is required',
    ],
    [
      { scheme: { ...message, key: { id: 'k', privateKey: 'secret text' } } },
      'scheme.key.privateKey is not a private key in PEM format (PKCS #8)',
    ],
    [
      { scheme: { ...message, key: { id: 'ö', secret } } },
      'a string has characters other than printable ASCII',
    ],
    [
      { scheme: { ...message, components: ['@methd'], key: { id: 'k', secret } } },
      'scheme.components[0]: the derived component "@methd" is not known; did you mean "@method"?',
    ],
    [
      { scheme: { ...message, components: ['x-one'], key: { id: 'k', secret } } },
      'the message has no component "x-one"',
    ],
  ];
  for (const [wrongOptions, expected] of mistakes) {
    test(expected, () => {
      const given = { ...request, ...wrongOptions } as Parameters<typeof signUrl>[0];
      assert.throws(
        () => signRequest(given),
        ({ name, message: found }: Error) => name === 'RangeError' && found.startsWith(expected),
      );
    });
  }
});
