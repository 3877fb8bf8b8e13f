import assert from 'node:assert/strict';
import { createHash, createHmac, randomBytes } from 'node:crypto';
import test from 'node:test';
import { hashNames } from '../../../src/algorithms.ts';
import { createDeclaredKey } from '../../../src/schemes/declared/key.ts';
import { decodeSignature, digestForm, encodings } from '../../../src/schemes/signature-form.ts';
import { seeded } from '../../support/seeded.ts';

test('a digest is decoded from each encoding as Node.js encodes it', () => {
  const random = seeded();
  for (const hash of hashNames) {
    for (const encoding of encodings) {
      for (let round = 0; round < 200; round += 1) {
        const digest = createHash(hash).update(random.text('abc', 20)).digest();
        const text = digest.toString(encoding);
        const read = decodeSignature(text, digestForm(hash, encoding));
        assert.equal(read, digest.toString('base64'), `seed ${random.seed}`);
      }
    }
  }
});

test('a digest with a changed character is decoded to another digest or rejected', () => {
  const random = seeded();
  for (let round = 0; round < 5000; round += 1) {
    const [hash, encoding] = [random.pick(hashNames), random.pick(encodings)];
    const text = createHash(hash).update(random.text('abc', 20)).digest(encoding);
    const at = random.below(text.length);
    const other = random.pick([...'09afgAFZ+/=-_ \u0130\u0161', '\u{1f600}', '']);
    const changed = text.slice(0, at) + other + text.slice(at + 1);
    const read = decodeSignature(changed, digestForm(hash, encoding));
    if (changed === text || read === undefined) continue;
    assert.equal(Buffer.from(read, 'base64').toString(encoding), changed, `seed ${random.seed}`);
  }
});

test('a padded base64url signature is read like one without padding', () => {
  const digest = Buffer.alloc(32, 0xfb);
  const text = digest.toString('base64url');
  const form = digestForm('sha256', 'base64url');
  assert.equal(decodeSignature(`${text}=`, form), digest.toString('base64'));
  assert.equal(decodeSignature(`${text}==`, form), undefined);
});

test('a key computes the HMAC of Node.js, for every hash and messages of any length', () => {
  for (const hash of hashNames) {
    for (const length of [0, 1, 63, 64, 65, 300, 16_384, 16_385, 100_000]) {
      const [key, content] = [randomBytes(length % 200 || 1), randomBytes(length)];
      const expected = createHmac(hash, key).update('a\u00ff', 'latin1').update(content).digest('base64');
      const declared = createDeclaredKey(key, hash);
      assert.equal(declared.digest(['a\u00ff', content]), expected);
      assert.equal(declared.signs(['a\u00ff', content], [expected]), true);
      assert.equal(declared.signs(['a\u00ff', content], ['', expected]), true);
      assert.equal(declared.signs(['a', content], [expected]), false);
    }
  }
});
