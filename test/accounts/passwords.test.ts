import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  buildDecoy,
  decoyFor,
  hashPassword,
  isPasswordHash,
  verifyPassword,
} from '../../src/accounts/passwords.ts';

const salt = Buffer.from('0123456789abcdef');

describe('a password', () => {
  test('matches its own hash, and no other password does', async () => {
    const stored = await hashPassword('pässword', salt, 16);
    assert.ok(stored.startsWith('scrypt$16$8$1$MDEyMzQ1Njc4OWFiY2RlZg==$'));
    assert.equal(await verifyPassword('pässword', stored), true);
    for (const wrong of ['', 'passwords', 'password', 'PÄSSWORD']) {
      assert.equal(await verifyPassword(wrong, stored), false, wrong);
    }
    assert.equal(await verifyPassword('', await hashPassword('', salt, 16)), true);
  });

  // RFC 7914 §12: the third and the second vector of scrypt.
  const vectors = [
    {
      password: 'pleaseletmein',
      parameters: '16384$8$1',
      salt: 'SodiumChloride',
      hash: '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887',
    },
    {
      password: 'password',
      parameters: '1024$8$16',
      salt: 'NaCl',
      hash: 'fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640',
    },
  ] as const;
  for (const { password, parameters, salt: name, hash } of vectors) {
    test(`matches the hash of RFC 7914 with the parameters ${parameters}`, async () => {
      const encoded = [Buffer.from(name), Buffer.from(hash, 'hex')].map((bytes) => bytes.toString('base64'));
      assert.equal(await verifyPassword(password, `scrypt$${parameters}$${encoded.join('$')}`), true);
      assert.equal(await verifyPassword(`${password}!`, `scrypt$${parameters}$${encoded.join('$')}`), false);
    });
  }

  test('is not compared with an invalid hash, which throws a TypeError', async () => {
    const stored = await hashPassword('pw', salt, 16);
    const bad = [
      '',
      'pw',
      stored.slice(1),
      `${stored}$`,
      stored.replace('$16$', '$15$'),
      stored.replace('$16$', '$0$'),
      stored.replace('$16$', '$016$'),
      stored.replace('$16$', '$1e3$'),
      stored.replace('$16$', '$1073741824$'),
      stored.replace('$1$', '$1000$'),
      stored.replace('==$', '$'),
      stored.replace(/[^$]+$/, ''),
      stored.replace(/[^$]+$/, 'QUJD'),
    ];
    for (const text of bad) {
      assert.equal(isPasswordHash(text), false, text);
      await assert.rejects(verifyPassword('pw', text), TypeError);
    }
    assert.equal(isPasswordHash(stored), true);
  });

  test('is hashed with a valid cost only, and any other throws a RangeError', async () => {
    for (const cost of [0, 1, 3, -16, 16.5, Number.NaN, 2 ** 30]) {
      await assert.rejects(hashPassword('pw', salt, cost), RangeError);
    }
  });

  test("has a decoy hash of the same cost, which matches no user's password", async () => {
    const decoy = buildDecoy(await hashPassword('pw', salt, 16));
    assert.match(decoy, /^scrypt\$16\$8\$1\$/);
    assert.equal(isPasswordHash(decoy), true);
    for (const password of ['pw', '', '\0']) assert.equal(await verifyPassword(password, decoy), false);
    assert.equal(buildDecoy(await hashPassword('other', Buffer.alloc(16, 9), 16)), decoy);
    assert.equal(decoyFor(16), decoy);
    assert.notEqual(buildDecoy(await hashPassword('pw', salt, 32)), decoy);
    assert.throws(() => buildDecoy('pw'), TypeError);
  });
});
