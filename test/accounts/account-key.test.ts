import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import type { KeyDeclaration } from '../../src/accounts/account-key.ts';
import { createAccounts } from '../../src/accounts/accounts.ts';
import type { AccountRecord } from '../../src/accounts/user-declaration.ts';
import { rsa, shortRsa } from '../support/keys.ts';

const ed25519 = generateKeyPairSync('ed25519');
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });

function pem(key: typeof ed25519.publicKey): string {
  return key.export({ type: 'spki', format: 'pem' }).toString();
}

const publicKey = pem(ed25519.publicKey);

function accountsWith(users: Readonly<Record<string, AccountRecord>>) {
  return createAccounts(new Map(Object.entries(users)));
}

function user(keys: Readonly<Record<string, KeyDeclaration>>): AccountRecord {
  return { secrets: [], keys };
}

describe('a key of a user', () => {
  test('is found by its id, with its account', async () => {
    const accounts = accountsWith({ ann: user({ 'key-1': { algorithm: 'ed25519', publicKey } }) });
    const found = await accounts.findKey?.('key-1');
    assert.equal(found?.account.name, 'ann');
    assert.equal(found?.key.algorithm, 'ed25519');
    assert.equal(await accounts.findKey?.('key-2'), undefined);
  });

  test('can be PEM, a JWK, or a JWK as text', async () => {
    const jwk = { ...p256.publicKey.export({ format: 'jwk' }), key_ops: ['verify'] };
    for (const source of [pem(p256.publicKey), jwk, JSON.stringify(jwk)]) {
      const accounts = accountsWith({
        ann: user({ k: { algorithm: 'ecdsa-p256-sha256', publicKey: source } }),
      });
      assert.equal((await accounts.findKey?.('k'))?.key.algorithm, 'ecdsa-p256-sha256');
    }
  });

  test('is not found once its user is disabled or removed', async () => {
    const ann = user({ 'key-1': { algorithm: 'ed25519', publicKey } });
    const accounts = accountsWith({ ann });
    accounts.replace(new Map([['ann', { ...ann, disabled: true }]]));
    assert.equal(await accounts.findKey?.('key-1'), undefined);
    accounts.replace(new Map());
    assert.equal(await accounts.findKey?.('key-1'), undefined);
  });

  test('is rejected if its order is small, or if its exponent is 1 or even', () => {
    const prime = 2n ** 255n - 19n;
    const yOfOrder8 = 0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n;
    // The last three are not reduced, or have the sign of an x that is 0.
    const points = [0n, 1n, prime - 1n, yOfOrder8, prime - yOfOrder8, prime, prime + 1n];
    for (const y of points)
      for (const sign of [0n, 2n ** 255n]) {
        const bytes = Buffer.from((y + sign).toString(16).padStart(64, '0'), 'hex').reverse();
        const point = { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') };
        const make = () => accountsWith({ ann: user({ k: { algorithm: 'ed25519', publicKey: point } }) });
        assert.throws(make, /is a point of small order, for which everyone can sign/, bytes.toString('hex'));
      }
    const { n } = rsa.publicKey.export({ format: 'jwk' });
    for (const [e, exponent] of [
      ['AQ', 1],
      ['BA', 4],
    ] as const) {
      const jwk = { kty: 'RSA', n, e };
      const make = () => accountsWith({ ann: user({ k: { algorithm: 'rsa-v1_5-sha256', publicKey: jwk } }) });
      assert.throws(make, new RegExp(`has the exponent ${exponent}; that of an RSA key must be odd`));
    }
  });

  test('is rejected if it is a private key, without showing any of it', () => {
    const privatePem = ed25519.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const privateJwk = ed25519.privateKey.export({ format: 'jwk' });
    for (const source of [privatePem, privateJwk, JSON.stringify(privateJwk)]) {
      const make = () => accountsWith({ ann: user({ k: { algorithm: 'ed25519', publicKey: source } }) });
      assert.throws(make, {
        name: 'RangeError',
        message:
          'the key "k" of the user "ann" is a private key or a secret; only the public key belongs here',
      });
    }
  });

  test('is rejected if it does not match its algorithm', () => {
    const cases: [KeyDeclaration, RegExp][] = [
      [{ algorithm: 'ed25519', publicKey: pem(p256.publicKey) }, /is not an Ed25519 key/],
      [{ algorithm: 'ecdsa-p384-sha384', publicKey: pem(p256.publicKey) }, /is not an EC key on P-384/],
      [{ algorithm: 'rsa-pss-sha512', publicKey }, /is not an RSA key/],
      [{ algorithm: 'ed25519', publicKey: 'no key' }, /is not a public key in PEM \(SPKI\) or JWK format/],
      [{ algorithm: 'aws4', secret: '' }, /secret of .* must be non-empty text/],
    ];
    for (const [key, message] of cases) assert.throws(() => accountsWith({ ann: user({ k: key }) }), message);
    assert.throws(
      () =>
        accountsWith({ ann: user({ k: { algorithm: 'rsa-pss-sha512', publicKey: shortRsa.publicPem } }) }),
      /has 1024 bits; an RSA key must have at least 2048/,
    );
    accountsWith({ ann: user({ k: { algorithm: 'rsa-v1_5-sha256', publicKey: rsa.publicPem } }) });
  });

  test('is rejected if its id is that of another key or user', () => {
    const keys = { bob: { algorithm: 'aws4', secret: 'shared' } } as const;
    const clash = /the users "ann" and "bob" have the same key id "bob"/;
    assert.throws(() => accountsWith({ ann: user(keys), bob: { secrets: [] } }), clash);
    assert.throws(
      () => accountsWith({ ann: user({ k: keys.bob }), bob: user({ k: keys.bob }) }),
      /the users "bob" and "ann" have the same key id "k"/,
    );
    accountsWith({ bob: user(keys) });
  });

  test('is rejected if its id is empty, too long or contains an invalid character', () => {
    for (const id of ['', 'a b', 'a"b', 'a,b', 'a\nb', 'x'.repeat(257)])
      assert.throws(
        () => accountsWith({ ann: user({ [id]: { algorithm: 'aws4', secret: 's' } }) }),
        RangeError,
      );
  });
});
