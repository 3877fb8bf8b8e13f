import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { createSecretBox, parseKey } from '../../src/accounts/secret-box.ts';
import { seeded } from '../support/seeded.ts';

const key = Uint8Array.from({ length: 32 }, (_, at) => at);
const iv = Uint8Array.from({ length: 12 }, (_, at) => 0xa0 + at);

describe('a sealed text', () => {
  // Made by Java's own AES/GCM/NoPadding and again by Python's cryptography, with the associated data
  // ["countersign",1,"secret",USER] in UTF-8.
  const vectors: readonly (readonly [text: string, user: string, sealed: string])[] = [
    ['s3cret', 'johndoe', 'oKGio6SlpqeoqaqrlSsfXyC/jW+UN+wvVLGiPIYWUUts5Q=='],
    ['', '', 'oKGio6SlpqeoqaqrdiySLx9UNvtnJFGcT3EHeQ=='],
    ['é\u{1f511}"\n', 'j"ö', 'oKGio6SlpqeoqaqrJbGMstFaILUzzzyyLYP4LVSw8S+Mq4pZ'],
  ];
  for (const [text, user, sealed] of vectors) {
    test(`is the same as that of other implementations: ${JSON.stringify(text)}`, () => {
      const secretBox = createSecretBox(key, () => iv);
      assert.equal(secretBox.seal(text, ['secret', user]), sealed);
      assert.equal(secretBox.open(sealed, ['secret', user]), text);
    });
  }

  test('differs each time, and opens to the same text', () => {
    const random = seeded();
    const secretBox = createSecretBox(randomBytes(32), randomBytes);
    const made = new Set<string>();
    for (let round = 0; round < 500; round += 1) {
      const text = random.text('abc é\u{1f511}\u0000"', 80);
      const sealed = secretBox.seal(text, ['secret', 'a']);
      assert.equal(secretBox.open(sealed, ['secret', 'a']), text, `seed ${random.seed}`);
      assert.match(sealed, /^[A-Za-z0-9+/]+={0,2}$/);
      made.add(sealed);
    }
    assert.equal(made.size, 500);
  });

  test('does not open if any bit of it is changed', () => {
    const secretBox = createSecretBox(key, randomBytes);
    const bytes = Buffer.from(secretBox.seal('s3cret', ['secret', 'a']), 'base64');
    for (let at = 0; at < bytes.length * 8; at += 1) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(at >> 3) ^ (1 << (at & 7)), at >> 3);
      assert.equal(secretBox.open(changed.toString('base64'), ['secret', 'a']), undefined, `bit ${at}`);
    }
  });

  test('does not open if it is truncated, or if a character is inserted or replaced', () => {
    const random = seeded();
    const secretBox = createSecretBox(key, randomBytes);
    const sealed = secretBox.seal('s3cret!', ['secret', 'a']);
    assert.ok(sealed.endsWith('='), 'some bits of its last digit are left over');
    for (let length = 0; length < sealed.length; length += 1)
      assert.equal(
        secretBox.open(sealed.slice(0, length), ['secret', 'a']),
        undefined,
        `${length} characters`,
      );
    const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_= \n\u0000é';
    for (let round = 0; round < 5000; round += 1) {
      const at = random.below(sealed.length);
      const character = random.pick([...digits]);
      const changed = sealed.slice(0, at) + character + sealed.slice(at + random.below(2));
      if (changed === sealed) continue;
      assert.equal(secretBox.open(changed, ['secret', 'a']), undefined, `seed ${random.seed}: ${changed}`);
    }
  });

  test('opens neither with another key nor with other associated data', () => {
    const secretBox = createSecretBox(key, randomBytes);
    const sealed = secretBox.seal('s3cret', ['secret', 'ann']);
    assert.equal(createSecretBox(randomBytes(32), randomBytes).open(sealed, ['secret', 'ann']), undefined);
    const others = [
      [],
      ['secret'],
      ['secret', 'bea'],
      ['secret', 'ann', ''],
      ['secretann'],
      ['ann', 'secret'],
    ];
    for (const as of others) assert.equal(secretBox.open(sealed, as), undefined, as.join());
  });
});

describe('a key', () => {
  const hex = Buffer.from(key).toString('hex');
  const spellings = [
    hex,
    hex.toUpperCase(),
    'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
    'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8',
  ];
  for (const spelling of spellings) {
    test(`is accepted as ${spelling}`, () => assert.deepEqual([...(parseKey(spelling) ?? [])], [...key]));
  }

  test('is accepted in both alphabets of base64', () => {
    const full = Buffer.alloc(32, 0xff);
    for (const spelling of [full.toString('base64'), full.toString('base64url')])
      assert.deepEqual(parseKey(spelling), full);
  });

  const wrong: readonly (readonly [what: string, text: string])[] = [
    ['nothing', ''],
    ['a digit too few', hex.slice(1)],
    ['a digit too many', `${hex}0`],
    ['a letter that is no digit', `g${hex.slice(1)}`],
    ['31 bytes', Buffer.alloc(31).toString('base64')],
    ['33 bytes', Buffer.alloc(33).toString('base64')],
    ['a password', 'correct horse battery staple'],
    ['bits left over', 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9='],
    ['two paddings', 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=='],
    ['a line feed', `${hex}\n`],
    ['a space', ` ${hex}`],
  ];
  for (const [what, text] of wrong) {
    test(`is rejected: ${what}`, () => assert.equal(parseKey(text), undefined));
  }
});
