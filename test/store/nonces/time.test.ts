import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ForgottenSpans, MinTime } from '../../../src/store/nonces/time.ts';
import { seeded } from '../../support/seeded.ts';

describe('the minimum time', () => {
  test('equals the time of a clock that does not jump', () => {
    const least = new MinTime(1000);
    for (let steady = 0; steady < 10_000; steady += 7)
      assert.equal(least.at(5000 + steady, steady), 5000 + steady);
  });

  test('follows a jump back at once, and a jump ahead once it has lasted', () => {
    const least = new MinTime(1000);
    assert.equal(least.at(50_000, 0), 50_000);
    assert.equal(least.at(40_100, 100), 40_100);
    for (let steady = 200; steady <= 1100; steady += 100)
      assert.equal(least.at(90_000 + steady, steady), 40_000 + steady);
    for (let steady = 1200; steady <= 3000; steady += 100) least.at(90_000 + steady, steady);
    assert.equal(least.at(93_001, 3001), 93_001);
  });

  test('does not follow a jump ahead at once after a long time without readings', () => {
    const least = new MinTime(1000);
    assert.equal(least.at(50_000, 0), 50_000);
    assert.equal(least.at(190_000, 100_000), 150_000);
    assert.equal(least.at(190_999, 100_999), 150_999);
  });
});

describe('forgotten spans', () => {
  test('contain exactly what was added, for up to sixteen spans in any order', () => {
    const random = seeded();
    for (let round = 0; round < 300; round += 1) {
      const spans = new ForgottenSpans();
      const added = new Set<number>();
      for (let one = random.below(16); one >= 0; one -= 1) {
        const from = random.below(200);
        const to = from + 1 + random.below(20);
        spans.add(from, to);
        for (let time = from; time < to; time += 1) added.add(time);
      }
      for (let time = -1; time < 230; time += 1) {
        assert.equal(
          spans.endAfter(time) !== undefined,
          added.has(time),
          `SEED=${random.seed}, round ${round}, ${time}`,
        );
      }
    }
  });

  test('close the narrowest gap beyond sixteen spans, and retain all that was added', () => {
    const spans = new ForgottenSpans();
    for (let span = 0; span < 16; span += 1) spans.add(span * 100, span * 100 + 10);
    assert.equal(spans.endAfter(50), undefined);
    spans.add(1530, 1540);
    assert.ok(spans.endAfter(1520) !== undefined);
    assert.equal(spans.endAfter(50), undefined);
    for (let span = 20; span < 100; span += 1) spans.add(span * 1000, span * 1000 + 10);
    for (let span = 20; span < 100; span += 1) assert.ok(spans.endAfter(span * 1000 + 9) !== undefined);
    for (let span = 0; span < 16; span += 1) assert.ok(spans.endAfter(span * 100) !== undefined);
    assert.equal(spans.endAfter(99_500), undefined);
  });
});
