import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Fingerprint } from '../../../src/store/nonces/fingerprint.ts';
import { seeded } from '../../support/seeded.ts';

const key = Uint8Array.from({ length: 16 }, (_, index) => index);

/** As 16 hexadecimal digits, the higher half first. */
function hex(fingerprint: Fingerprint, user: string, nonce: string): string {
  fingerprint.take(user, nonce);
  return [fingerprint.high, fingerprint.low]
    .map((half) => (half >>> 0).toString(16).padStart(8, '0'))
    .join('');
}

describe('a fingerprint', () => {
  // Computed with Python's whole numbers, its hashlib, and the words that `openssl enc -aes-128-ctr` made.
  const known = [
    ['demo', '123456', '5e608362fbdd629d'],
    ['', 'x', '1ff11f1f44481bb0'],
    ['demo', '7'.repeat(56), '690dac146c38348e'],
    [`${'a'.repeat(255)}b`, `${'0'.repeat(255)}z`, '2eccf5807a56def3'],
    ['\xff'.repeat(256), '\xff'.repeat(256), '1b3e0067f34c9385'],
    ['\u017diga', '123456', 'ed99afc707ae0c2f'],
    ['a'.repeat(257), 'n', 'c68ebd61f5b39db4'],
  ] as const;
  for (const [user, nonce, expected] of known) {
    test(`of ${user.length} and ${nonce.length} characters matches an independent computation`, () => {
      assert.equal(hex(new Fingerprint(key), user, nonce), expected);
    });
  }

  test('depends on the key, and does not change when the key is wiped', () => {
    const mine = Uint8Array.from(key);
    const one = new Fingerprint(mine);
    const before = hex(one, 'demo', '123456');
    mine.fill(0);
    assert.equal(hex(one, 'demo', '123456'), before);
    assert.notEqual(hex(new Fingerprint(mine), 'demo', '123456'), before);
  });

  test('requires a key of 16 bytes', () => {
    for (const length of [0, 15, 17, 32])
      assert.throws(() => new Fingerprint(new Uint8Array(length)), RangeError);
  });

  test('differs for different texts of any length and alphabet, and is equal for equal texts', () => {
    const random = seeded();
    const fingerprint = new Fingerprint(Uint8Array.from({ length: 16 }, () => random.below(256)));
    const texts = new Map<string, string>();
    for (let round = 0; round < 20_000; round += 1) {
      const alphabet = random.pick([
        '\0',
        '\0\u0001',
        'ab',
        '0123456789',
        'a\xff',
        'a\u0100\ud800',
        '\ud800\udfff',
      ]);
      const most = random.pick([2, 8, 60, 130, 300]);
      const pair = [random.text(alphabet, most), random.text(alphabet, most)] as const;
      const made = hex(fingerprint, ...pair);
      const text = JSON.stringify(pair);
      assert.equal(texts.get(made) ?? text, text, `SEED=${random.seed}, round ${round}`);
      texts.set(made, text);
      assert.equal(hex(fingerprint, ...pair), made, `SEED=${random.seed}, round ${round}`);
    }
  });

  test('is evenly distributed if nonces are consecutive numbers', () => {
    const random = seeded();
    const fingerprint = new Fingerprint(Uint8Array.from({ length: 16 }, () => random.below(256)));
    const counts = { low: new Array<number>(256).fill(0), high: new Array<number>(256).fill(0) };
    for (let number = 0; number < 256_000; number += 1) {
      fingerprint.take('demo', String(number));
      counts.low[fingerprint.low >>> 24] = (counts.low[fingerprint.low >>> 24] ?? 0) + 1;
      counts.high[fingerprint.high & 255] = (counts.high[fingerprint.high & 255] ?? 0) + 1;
    }
    // Of a thousand expected, eight standard deviations.
    for (const count of [...counts.low, ...counts.high]) {
      assert.ok(Math.abs(count - 1000) < 256, `${count}, SEED=${random.seed}`);
    }
  });
});
