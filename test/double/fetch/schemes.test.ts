import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import type { ConfiguredSchemeOptions } from '../../../src/double/fetch/as-options.ts';
import { type DoubleOptions, startDouble } from '../../../src/double/index.ts';
import { action, readBytes } from '../../../src/index.ts';

const now = '2026-11-22T12:00:00Z';
const secret = 'secret of ann';
const options: DoubleOptions = {
  now,
  randomSeed: 'schemes',
  users: {
    ann: {
      secret,
      keys: {
        AKIAEXAMPLE: { algorithm: 'aws4', secret: 'aws secret of ann' },
        'ann-mac': { algorithm: 'hmac-sha256', secret: 'another secret of ann' },
      },
    },
    bob: { secret: 'secret of bob' },
  },
  schemes: {
    partner: {
      message: '{timestamp}.{nonce}.{method}.{target}.{field:Content-Type}.{body}',
      signature: { field: 'X-Partner-Signature', format: 'v1={signature}' },
      user: { field: 'X-Partner-Key' },
      timestamp: { field: 'X-Partner-Time' },
      nonce: { field: 'X-Partner-Nonce' },
    },
    links: {
      message: '{user}.{timestamp}.{url}',
      signature: { query: 'sig' },
      user: { field: 'X-Link-User' },
      timestamp: { field: 'X-Link-Time' },
    },
    stripe: { preset: 'stripe', user: 'ann' },
    key: { user: { field: 'X-Own-Id' }, secret: { field: 'X-Own-Secret' } },
    'message-signatures': { nonce: 'required' },
    aws4: { region: 'eu-central-1', service: 'execute-api' },
  },
};

const algorithms = [
  'ed25519',
  'ecdsa-p256-sha256',
  'ecdsa-p384-sha384',
  'rsa-pss-sha512',
  'rsa-v1_5-sha256',
] as const;

const article = '<article><title>Tea</title><price currency="EUR">3.50</price></article>';
const post = { method: 'POST', body: article };

describe('as with a configured scheme', () => {
  for (const algorithm of algorithms)
    test(`signs with a generated or a given key of ${algorithm}, and rejects an unknown key`, async () => {
      await using double = await startDouble(options);
      const before = double.snapshot();
      const { privateKey, publicKey } = double.auth.generateKey('ann', 'key-1', algorithm);
      assert.match(publicKey, /^-----BEGIN PUBLIC KEY-----/);
      const scheme = 'message-signatures';
      assert.equal((await double.as('ann', { scheme }).fetch('/articles', post)).status, 201);
      assert.match(readFields(double)['Signature-Input'] ?? '', /keyid="key-1"/);
      const given = { scheme, keyId: 'key-1', privateKey };
      assert.equal((await double.as('ann', given).fetch('/articles', post)).status, 201);
      double.auth.generateKey('ann', 'key-2', algorithm);
      const other = double.as('ann', { scheme, keyId: 'key-2', privateKey });
      assert.equal((await other.fetch('/articles', post)).status, 401);
      const signer = double.as('ann', { scheme, keyId: 'key-1' });
      double.restore(before);
      await assert.rejects(signer.fetch('/articles'), /the user ann has no key key-1/);
    });

  test('restores the private keys with a snapshot', async () => {
    await using double = await startDouble(options);
    double.auth.generateKey('ann', 'key-1');
    const before = double.snapshot();
    double.auth.removeKey('ann', 'key-1');
    double.restore(before);
    const signer = double.as('ann', { scheme: 'message-signatures', keyId: 'key-1' });
    assert.equal((await signer.fetch('/articles', post)).status, 201);
  });

  test('uses the clock and the random numbers of the double', async () => {
    const sign = async (): Promise<string> => {
      await using double = await startDouble(options);
      const signed = ['message-signatures', 'partner', 'aws4'].map((scheme) =>
        double.as('ann', { scheme }).signRequest({ url: 'http://a.example/articles' }),
      );
      return JSON.stringify(await Promise.all(signed));
    };
    const first = await sign();
    assert.equal(await sign(), first);
    assert.match(first, /created=1795348800;.*1795348800.*20261122T120000Z/);
  });

  test('signs with an earlier date or a used nonce, which the double refuses', async () => {
    await using double = await startDouble(options);
    const refused = async (signing: ConfiguredSchemeOptions): Promise<unknown> => {
      await double.as('ann', signing).fetch('/articles');
      return double.journal.last()?.problem?.type;
    };
    for (const scheme of ['partner', 'message-signatures', 'aws4', 'stripe', 'links'])
      assert.equal(await refused({ scheme, date: '2026-11-22T11:00:00Z' }), 'date-out-of-window', scheme);
    for (const scheme of ['partner', 'message-signatures']) {
      assert.equal(await refused({ scheme, nonce: `n-${scheme}` }), undefined);
      assert.equal(await refused({ scheme, nonce: `n-${scheme}` }), 'nonce-replayed', scheme);
    }
    const signer = double.as('ann', { scheme: 'aws4', presign: 60 });
    const { url } = await signer.signUrl({ url: '/articles' });
    double.clock.advance('61s');
    assert.equal((await double.fetch(url)).status, 401);
  });

  test('remembers nonces for the longest window of all schemes', async () => {
    const { partner, ...others } = options.schemes as Record<string, object>;
    const schemes = {
      ...others,
      partner: { ...partner, timestamp: { field: 'X-Partner-Time', window: 7200 } },
    };
    await using double = await startDouble({
      ...options,
      schemes: schemes as DoubleOptions['schemes'] & object,
    });
    const later = { scheme: 'partner', nonce: 'n-1', date: '2026-11-22T12:00:00Z' };
    assert.equal((await double.as('ann', later).fetch('/articles')).status, 200);
    double.clock.advance('110m');
    assert.equal((await double.as('ann', later).fetch('/articles')).status, 401);
    assert.equal(double.journal.last()?.problem?.type, 'nonce-replayed');
  });

  test('signs only the components of the option components', async () => {
    await using double = await startDouble(options);
    const signer = double.as('ann', { scheme: 'message-signatures', components: ['@method'] });
    assert.equal((await signer.fetch('/articles')).status, 401);
    assert.match(String(double.journal.last()?.auth?.hint), /@authority/);
  });

  test('signs a form regardless of the case and the parameters of its media type', async () => {
    const schemes = { twilio: { preset: 'twilio', user: 'ann' } } as const;
    const consumers = { printer: { secret: 'the secret of the printer', callbacks: ['oob'] } };
    await using double = await startDouble({ now, users: { ann: { secret } }, schemes, consumers });
    const received = action('anyone', async () => ({ status: 204 }), {
      reads: [{ ...readBytes, type: 'application/x-www-form-urlencoded' }],
    });
    double.resource('/calls', { POST: received });
    for (const scheme of ['oauth1', 'twilio'] as const)
      for (const type of ['x-www-form-urlencoded', 'X-WWW-Form-Urlencoded ; charset=UTF-8']) {
        const form = {
          method: 'POST',
          headers: { 'Content-Type': `application/${type}` },
          body: 'To=%2B1&From=2',
        };
        await double.as('ann', { scheme }).fetch('/calls', form);
        assert.equal(double.journal.last()?.principal?.name, 'ann', `${scheme}: ${double.journal.last()}`);
      }
  });

  function readFields({ journal }: Awaited<ReturnType<typeof startDouble>>): Record<string, string> {
    return Object.fromEntries(journal.last()?.raw().request?.headers ?? []);
  }
});

describe('a fault', () => {
  test('matches the user of a key, and the user of a refused request', async () => {
    await using double = await startDouble(options);
    double.auth.generateKey('bob', 'bob-1');
    double.faults.always({ user: 'bob' }, { status: 503 });
    const scheme = 'message-signatures';
    assert.equal((await double.as('bob', { scheme }).fetch('/articles')).status, 503);
    const wrong = double.as('bob', { scheme, keyId: 'bob-1', secret: 'wrong' });
    assert.equal((await wrong.fetch('/articles')).status, 503);
    assert.equal(double.journal.last()?.user, 'bob');
    assert.equal((await double.as('ann', { scheme }).fetch('/articles')).status, 200);
  });
});

describe('a wrong call is rejected', () => {
  const privateKey = generateKeyPairSync('ed25519')
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
  const mistakes: readonly (readonly [user: string, options: object, message: string])[] = [
    [
      'ann',
      { scheme: 'partnr' },
      'scheme must be the name of a scheme, is "partnr"; did you mean "partner"?',
    ],
    ['anm', { scheme: 'partner' }, 'the double has no user anm; did you mean "ann"?'],
    ['ann', { scheme: 'partner', keyID: 'x' }, 'keyID is not an option of as; did you mean "keyId"?'],
    [
      'ann',
      { scheme: 'partner', keyId: 'ann-mc' },
      'the user ann has no key ann-mc; did you mean "ann-mac"?',
    ],
    ['ann', { scheme: 'partner', presign: 60 }, 'presign is not an option of the scheme partner'],
    ['ann', { scheme: 'partner', password: 'x' }, 'password is not an option of as'],
    ['ann', { scheme: 'links', nonce: 'x' }, 'nonce is not an option of the scheme links'],
    ['ann', { scheme: 'links', date: 'x' }, '"x" is not'],
    ['bob', { scheme: 'stripe' }, 'the scheme stripe always signs as ann, not as bob'],
    [
      'ann',
      { scheme: 'aws4', privateKey },
      'the scheme aws4 has signatures by secrets only, not by private keys',
    ],
    [
      'ann',
      { scheme: 'aws4', presign: 0 },
      "presign is not a number of seconds from 1 to 604800, or text such as '10m'",
    ],
    [
      'ann',
      { scheme: 'message-signatures', privateKey: 'x' },
      'privateKey is not a private key in PEM format (PKCS #8)',
    ],
    [
      'ann',
      { scheme: 'message-signatures', algorithm: 'ed25518' },
      'algorithm must be an algorithm with a private key, is "ed25518"; did you mean "ed25519"?',
    ],
    [
      'ann',
      { scheme: 'message-signatures', keyId: 'foreign' },
      'the private key of foreign is not known; use the option privateKey or generateKey',
    ],
  ];
  for (const [user, wrong, message] of mistakes)
    test(message, async () => {
      await using double = await startDouble({ ...options, https: false });
      const { publicKey } = generateKeyPairSync('ed25519');
      const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
      double.auth.addKey('ann', 'foreign', { algorithm: 'ed25519', publicKey: pem });
      const call = wrong as Parameters<typeof double.as>[1];
      assert.throws(
        () => double.as(user, call),
        (error) => error instanceof RangeError && error.message.startsWith(message),
      );
    });

  test('generateKey rejects an unknown algorithm or user with the nearest name, and a used key id', async () => {
    await using double = await startDouble({ ...options, https: false });
    assert.throws(
      // @ts-expect-error The algorithm is misspelt.
      () => double.auth.generateKey('ann', 'key-1', 'ed25518'),
      /algorithm must be an algorithm with a public key, is "ed25518"; did you mean "ed25519"\?$/,
    );
    assert.throws(() => double.auth.generateKey('anm', 'key-1'), /has no user anm; did you mean "ann"/);
    double.auth.generateKey('ann', 'key-1');
    assert.throws(() => double.auth.generateKey('bob', 'key-1'), /have the same key id "key-1"/);
  });
});
