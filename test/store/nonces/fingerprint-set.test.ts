import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FingerprintSet } from '../../../src/store/nonces/fingerprint-set.ts';
import { seeded } from '../../support/seeded.ts';

describe('a set of fingerprints', () => {
  test('matches a Set of texts while it grows', () => {
    const random = seeded();
    for (const expected of [0, 5_000]) {
      const [set, model] = [new FingerprintSet(expected), new Set<string>()];
      for (let round = 0; round < 20_000; round += 1) {
        // Few values in each half, so that many share one of them, and 0 in one half.
        const [low, high] = [random.below(120) - 60, random.below(120) - 60];
        if (low === 0 && high === 0) continue;
        const key = `${low} ${high}`;
        const where = `SEED=${random.seed}, round ${round}: ${key}`;
        assert.equal(set.has(low, high), model.has(key), where);
        if (random.below(2) === 0) continue;
        assert.equal(set.add(low, high), !model.has(key), where);
        model.add(key);
        assert.equal(set.size, model.size, where);
      }
    }
  });

  test('has each of 100,000 fingerprints after it has grown, and no other', () => {
    const set = new FingerprintSet();
    for (let number = 1; number <= 100_000; number += 1)
      assert.ok(set.add(Math.imul(number, 0x9e3779b1), Math.imul(number, 0x85ebca6b)));
    for (let number = 1; number <= 100_000; number += 1) {
      assert.ok(set.has(Math.imul(number, 0x9e3779b1), Math.imul(number, 0x85ebca6b)));
      assert.ok(!set.has(Math.imul(number, 0x9e3779b1), Math.imul(number, 0x85ebca6b) + 1));
    }
  });
});
