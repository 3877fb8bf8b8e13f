import assert from 'node:assert/strict';
import test from 'node:test';
import { fitGrowth } from '../../bench/measure/growth.ts';
import { movementOf } from '../../bench/measure/results/movement.ts';
import {
  median,
  medianInterval,
  quantile,
  ratiosOf,
  spreadOf,
} from '../../bench/measure/results/statistics.ts';
import { seeded } from '../support/seeded.ts';

const close = (actual: number, expected: number): void =>
  assert.ok(
    Math.abs(actual - expected) < 1e-9 * Math.max(1, Math.abs(expected)),
    `${actual}, not ${expected}`,
  );

// Expected values: Python's statistics.quantiles(…, method='inclusive') and statistics.median.
test('quantiles are interpolated as in Python', () => {
  const values = [7.3, 1.2, 9.9, 4.4, 5.6, 2.8];
  close(quantile(values, 0.25), 3.2);
  close(quantile(values, 0.5), 5);
  close(quantile(values, 0.75), 6.875);
  close(quantile(values, 0.99), 9.77);
  close(median(values), 5);
  assert.deepEqual(spreadOf([3, 1, 2]), { min: 1, median: 2, max: 3 });
  assert.ok(Number.isNaN(median([])));
});

test('a quantile is within the range of the values, and grows with its fraction', () => {
  const random = seeded();
  for (let round = 0; round < 300; round += 1) {
    const values = Array.from({ length: 1 + random.below(20) }, () => random.next() * 100);
    const quantiles = [0, 0.1, 0.5, 0.9, 1].map((part) => quantile(values, part));
    const message = `SEED=${random.seed}: ${values}`;
    assert.deepEqual(
      quantiles,
      quantiles.toSorted((one, other) => one - other),
      message,
    );
    assert.equal(quantiles[0], Math.min(...values), message);
    assert.equal(quantiles[4], Math.max(...values), message);
  }
});

test('ratios are computed within a round', () => {
  assert.deepEqual(ratiosOf([2, 9], [1, 3, 5]), [2, 3]);
});

// The binomial distribution at one half, by Python's math.comb.
for (const [count, low, high, confidence] of [
  [5, 1, 5, 0.9375],
  [9, 2, 8, 0.9609375],
  [11, 2, 10, 0.98828125],
  [20, 6, 15, 0.9586105346679688],
] as const) {
  test(`the interval of the median of ${count} values is from number ${low} to number ${high} in order`, () => {
    const values = Array.from({ length: count }, (_, index) => ((index * 7) % count) + 1);
    const interval = medianInterval(values);
    assert.deepEqual([interval.low, interval.high], [low, high]);
    close(interval.confidence, confidence);
  });
}

test('the interval contains the true median as often as its confidence states', () => {
  const random = seeded();
  let inside = 0;
  for (let round = 0; round < 2000; round += 1) {
    const { low, high } = medianInterval(Array.from({ length: 9 }, () => random.next() ** 3));
    if (low <= 0.125 && high >= 0.125) inside += 1;
  }
  assert.ok(inside > 1880 && inside < 1960, `SEED=${random.seed}: ${inside} of 2000`);
});

// Python's statistics.linear_regression of the logarithms.
test('a growth is fitted as in Python', () => {
  const sizes = [100, 1000, 10_000, 100_000];
  const costs = [3.1, 4.4, 12.9, 95.2];
  const { exponent, factor } = fitGrowth(sizes.map((x, index) => ({ x, y: costs[index] ?? 0 })));
  close(exponent, 0.4928962797463667);
  close(factor, 0.21422654228529772);
});

test('a fit returns the exponent of a power, and 0 for constant values', () => {
  const random = seeded();
  const power = random.next() * 4 - 2;
  const sizes = [1, 10, 70, 3000];
  const fitted = fitGrowth(sizes.map((x) => ({ x, y: 5 * x ** power })));
  assert.ok(Math.abs(fitted.exponent - power) < 1e-9, `SEED=${random.seed}`);
  assert.ok(Math.abs(fitGrowth(sizes.map((x) => ({ x, y: 3 }))).exponent) < 1e-12);
});

test('a fit throws a RangeError for a value without a logarithm, or for a single size', () => {
  assert.throws(() => fitGrowth([{ x: 1, y: 0 }]), RangeError);
  assert.throws(
    () =>
      fitGrowth([
        { x: 5, y: 1 },
        { x: 5, y: 2 },
      ]),
    RangeError,
  );
});

const around = (middle: number, random: ReturnType<typeof seeded>): number[] =>
  Array.from({ length: 9 }, () => middle * (1 + (random.next() - 0.5) * 0.02));

test('a result that is 20 % faster has moved, and its ratio is reported', () => {
  const random = seeded();
  const { moved, ratio, noise } = movementOf(around(10, random), around(10, random), around(8, random));
  assert.ok(moved, `SEED=${random.seed}`);
  assert.ok(Math.abs(ratio - 0.8) < 0.03, `SEED=${random.seed}: ${ratio}`);
  assert.ok(noise < 0.05, `SEED=${random.seed}: ${noise}`);
});

test('a result has not moved if it differs less than two runs of the same commit', () => {
  const before = [10, 10, 10, 10, 10, 10, 10, 10, 10];
  const again = before.map((value) => value * 1.1);
  assert.equal(
    movementOf(
      before,
      again,
      before.map((value) => value * 1.05),
    ).moved,
    false,
  );
  assert.equal(
    movementOf(
      before,
      again,
      before.map((value) => value * 1.3),
    ).moved,
    true,
  );
});

test('a result has not moved if the rounds disagree about the direction', () => {
  const before = [10, 10, 10, 10, 10, 10, 10, 10, 10];
  const now = [8, 12, 8, 12, 8, 12, 8, 12, 8];
  assert.equal(movementOf(before, before, now).moved, false);
});
