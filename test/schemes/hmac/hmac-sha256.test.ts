import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { inspect } from 'node:util';
import { createKey, digestOnce, hmacSha256, SigningKey } from '../../../src/hmac-sha256.ts';
import { seeded } from '../../support/seeded.ts';

const toHex = (digest: string): string => Buffer.from(digest, 'base64').toString('hex');
const latin1 = (hex: string): string => Buffer.from(hex, 'hex').toString('latin1');

// RFC 4231 §4.2 to §4.8: key, data, HMAC-SHA-256.
const rfc4231: [section: string, key: Buffer, data: Buffer, digest: string][] = [
  [
    '4.2',
    Buffer.alloc(20, 0x0b),
    Buffer.from('Hi There'),
    'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
  ],
  [
    '4.3',
    Buffer.from('Jefe'),
    Buffer.from('what do ya want for nothing?'),
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  ],
  [
    '4.4',
    Buffer.alloc(20, 0xaa),
    Buffer.alloc(50, 0xdd),
    '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe',
  ],
  [
    '4.5',
    Buffer.from('0102030405060708090a0b0c0d0e0f10111213141516171819', 'hex'),
    Buffer.alloc(50, 0xcd),
    '82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b',
  ],
  // Cut to 128 bits.
  ['4.6', Buffer.alloc(20, 0x0c), Buffer.from('Test With Truncation'), 'a3b6167473100ee06e0c796c2955552b'],
  [
    '4.7',
    Buffer.alloc(131, 0xaa),
    Buffer.from('Test Using Larger Than Block-Size Key - Hash Key First'),
    '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
  ],
  [
    '4.8',
    Buffer.alloc(131, 0xaa),
    Buffer.from(
      'This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm.',
    ),
    '9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2',
  ],
];

for (const [section, secret, data, digest] of rfc4231) {
  test(`the digest is that of RFC 4231 §${section}`, () => {
    const message = data.toString('latin1');
    assert.equal(toHex(new SigningKey(secret).digest([message])).slice(0, digest.length), digest);
    assert.equal(hmacSha256(secret, message).toString('hex').slice(0, digest.length), digest);
  });
}

interface Case {
  readonly comment: string;
  readonly key: string;
  readonly message: string;
  readonly tag: string;
  readonly valid: boolean;
}

test('tags computed by Python are accepted, and altered tags are rejected', () => {
  const file = join(import.meta.dirname, '../../../fixtures/hmac-sha256/cases.json');
  const cases: Case[] = JSON.parse(readFileSync(file, 'utf8'));
  assert.ok(cases.filter(({ valid }) => valid).length > 150 && cases.some(({ valid }) => !valid));
  for (const { comment, key: secret, message, tag, valid } of cases) {
    const digest = Buffer.from(tag, 'hex').toString('base64');
    const key = new SigningKey(Buffer.from(secret, 'hex'));
    assert.equal(key.signs([latin1(message)], digest), valid, comment);
  }
});

test("Project Wycheproof's cases have their expected results", () => {
  const file = join(import.meta.dirname, '../../../fixtures/hmac-sha256/wycheproof.json');
  const { cases }: { cases: [secret: string, message: string, tag: string, valid: boolean][] } = JSON.parse(
    readFileSync(file, 'utf8'),
  );
  assert.equal(cases.length, 174);
  for (const [secret, message, tag, valid] of cases) {
    const key = new SigningKey(Buffer.from(secret, 'hex'));
    const right = toHex(key.digest([latin1(message)])).slice(0, tag.length) === tag;
    assert.equal(right, valid);
    if (tag.length === 64)
      assert.equal(key.signs([latin1(message)], Buffer.from(tag, 'hex').toString('base64')), right);
  }
});

/** In three pieces, some of which may be empty. */
function cut(text: string, random: ReturnType<typeof seeded>): string[] {
  const from = random.below(text.length + 1);
  const to = from + random.below(text.length + 1 - from);
  return [text.slice(0, from), text.slice(from, to), text.slice(to)];
}

test('one key computes the digests of createHmac for successive messages, with any secret', () => {
  const random = seeded();
  const octets = (count: number): Buffer =>
    Buffer.from(Array.from({ length: count }, () => random.below(256)));
  for (let round = 0; round < 400; round += 1) {
    const secret = octets(1 + random.below(200));
    const key = new SigningKey(secret);
    for (const length of [
      random.below(64),
      random.below(600),
      random.below(64),
      random.pick([255, 256, 257]),
    ]) {
      const message = octets(length);
      const expected = createHmac('sha256', secret).update(message).digest('base64');
      const about = `${secret.length} and ${length} bytes, seed ${random.seed}`;
      const pieces = cut(message.toString('latin1'), random);
      assert.equal(key.digest(pieces), expected, about);
      assert.ok(key.signs(pieces, expected), about);
    }
  }
});

test('a secret is encoded in UTF-8', () => {
  for (const secret of [
    's',
    'pässwörd',
    '秘密',
    '🔑'.repeat(20),
    ' spaces ',
    'x'.repeat(64),
    'x'.repeat(65),
  ]) {
    const expected = createHmac('sha256', Buffer.from(secret, 'utf8')).update('GET+/').digest('base64');
    assert.equal(createKey(secret).digest(['GET+/']), expected, secret);
    assert.equal(digestOnce(secret, 'GET+/'), expected, secret);
  }
});

test('an empty secret is rejected', () => {
  assert.throws(() => createKey(''), RangeError);
  assert.throws(() => digestOnce('', 'GET+/'), RangeError);
});

test('only the complete, unchanged digest is accepted', () => {
  const key = createKey('secret');
  const digest = key.digest(['message']);
  assert.ok(key.signs(['message'], digest));
  for (let at = 0; at < digest.length; at += 1) {
    const other = digest[at] === 'A' ? 'B' : 'A';
    assert.ok(!key.signs(['message'], digest.slice(0, at) + other + digest.slice(at + 1)), `at ${at}`);
  }
  for (const wrong of ['', digest.slice(0, -1), `${digest}=`, digest.repeat(2), key.digest(['other'])])
    assert.ok(!key.signs(['message'], wrong), wrong);
  assert.ok(key.signs(['message'], digest));
});

test('an inspected or serialized key reveals nothing of its secret', () => {
  const secret = 'a-secret-nobody-may-see';
  const key = createKey(secret);
  key.digest(['GET+/']);
  const shown = [
    inspect(key, { showHidden: true, depth: null, getters: true }),
    inspect({ key }, { showHidden: true, depth: null }),
    JSON.stringify({ key }),
    String(key),
    Object.keys(key).join(),
    JSON.stringify(Object.getOwnPropertyDescriptors(key)),
  ].join('\n');
  for (const form of [secret, Buffer.from(secret).toString('hex'), key.digest(['GET+/'])])
    assert.ok(!shown.includes(form), shown);
  assert.doesNotMatch(shown, /Buffer|Uint8Array|KeyObject/);
});
