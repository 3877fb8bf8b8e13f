import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FingerprintTable } from '../../../src/store/nonces/table.ts';
import { seeded } from '../../support/seeded.ts';

/** A fingerprint for each number, spread over both halves. */
function buildFingerprint(number: number): readonly [low: number, high: number] {
  return [Math.imul(number + 1, 0x9e3779b1), Math.imul(number + 1, 0x85ebca6b)];
}

function sweepAll(table: FingerprintTable, tag: number): number {
  let pieces = 0;
  while (table.countEntries(tag) > 0) {
    table.sweep();
    pieces += 1;
    assert.ok(pieces < 10_000, 'sweeping does not come to an end');
  }
  return pieces;
}

describe('a table of fingerprints', () => {
  test('finds every entry with its tag while it grows over many segments, and nothing else', () => {
    const table = new FingerprintTable();
    const count = 500_000;
    for (let number = 0; number < count; number += 1) {
      const [low, high] = buildFingerprint(number);
      assert.equal(table.find(low, high), 0);
      table.add(low, high, 1 + (number % 255));
    }
    for (let number = 0; number < count; number += 1) {
      assert.equal(table.find(...buildFingerprint(number)), 1 + (number % 255));
      assert.equal(table.find(...buildFingerprint(number + count)), 0);
    }
  });

  test('releases all entries of a tag at once, sweeps them in steps, and then reuses the tag', () => {
    const table = new FingerprintTable();
    const count = 400_000;
    for (let number = 0; number < count; number += 1)
      table.add(...buildFingerprint(number), 1 + (number % 2));
    table.release(2);
    for (let number = 0; number < 1000; number += 1) {
      assert.equal(table.find(...buildFingerprint(number)), number % 2 === 0 ? 1 : 0);
    }
    assert.equal(table.countEntries(2), count / 2);
    assert.ok(sweepAll(table, 2) > 1);
    table.add(...buildFingerprint(1), 2);
    assert.equal(table.find(...buildFingerprint(1)), 2);
    for (let number = 3; number < count; number += 2)
      assert.equal(table.find(...buildFingerprint(number)), 0);
    for (let number = 0; number < count; number += 2)
      assert.equal(table.find(...buildFingerprint(number)), 1);
  });

  test('adds an entry that is released but not yet swept under its new tag', () => {
    const table = new FingerprintTable();
    table.add(7, 7, 1);
    table.add(8, 8, 1);
    table.release(1);
    table.add(7, 7, 2);
    assert.deepEqual([table.find(7, 7), table.find(8, 8)], [2, 0]);
    assert.deepEqual([table.countEntries(1), table.countEntries(2)], [1, 1]);
    sweepAll(table, 1);
    assert.deepEqual([table.find(7, 7), table.find(8, 8)], [2, 0]);
  });

  test('shrinks after most entries are released', () => {
    const table = new FingerprintTable();
    for (let number = 0; number < 600_000; number += 1) {
      table.add(...buildFingerprint(number), number % 1000 === 0 ? 1 : 2);
    }
    table.release(2);
    const pieces = sweepAll(table, 2);
    table.release(1);
    assert.ok(sweepAll(table, 1) < pieces);
  });

  test('grows again after a release, and finds all entries that were retained', () => {
    const table = new FingerprintTable();
    const count = 600_000;
    for (let number = 0; number < count; number += 1) {
      table.add(...buildFingerprint(number), number % 100 === 0 ? 1 : 2);
    }
    table.release(2);
    sweepAll(table, 2);
    for (let number = 0; number < count; number += 1) {
      assert.equal(table.find(...buildFingerprint(number)), number % 100 === 0 ? 1 : 0);
    }
    for (let number = 0; number < count; number += 1) {
      assert.equal(table.add(...buildFingerprint(number), 3), number % 100 !== 0);
    }
    for (let number = 0; number < count; number += 1) {
      assert.equal(table.find(...buildFingerprint(number)), number % 100 === 0 ? 1 : 3);
    }
    assert.deepEqual(
      [table.countEntries(1), table.countEntries(2), table.countEntries(3)],
      [6000, 0, 594_000],
    );
  });

  test('finds entries that share a slot', () => {
    const table = new FingerprintTable();
    for (let number = 1; number <= 300; number += 1) table.add(number << 20, 0x12345000, 1 + (number % 200));
    for (let number = 1; number <= 300; number += 1) {
      assert.equal(table.find(number << 20, 0x12345000), 1 + (number % 200));
    }
  });

  test('matches a Map while random entries are added, released and swept', () => {
    const random = seeded();
    const table = new FingerprintTable();
    let kept = new Map<number, number>();
    let tag = 1;
    for (let round = 0; round < 300_000; round += 1) {
      const number = random.below(200_000);
      const found = table.find(...buildFingerprint(number));
      assert.equal(found, kept.get(number) ?? 0, `SEED=${random.seed}, round ${round}`);
      if (found === 0) {
        table.add(...buildFingerprint(number), tag);
        kept.set(number, tag);
      }
      if (random.below(3000) === 0) tag = 1 + (tag % 5);
      if (random.below(30_000) === 0) {
        const gone = 1 + ((tag + 1) % 5);
        table.release(gone);
        kept = new Map([...kept].filter(([, its]) => its !== gone));
        sweepAll(table, gone);
      }
      if (random.below(100_000) === 0) {
        table.clear();
        kept.clear();
      }
    }
  });
});
