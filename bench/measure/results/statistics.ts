/** Returns a quantile (0 to 1) of values in any order; NaN for no values. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const at = part * (sorted.length - 1);
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}

/** Returns the median. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Minimum, median and maximum. */
export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

/** Returns the minimum, median and maximum of the values. */
export function spreadOf(values: readonly number[]): Spread {
  return { min: quantile(values, 0), median: median(values), max: quantile(values, 1) };
}

/** Returns the ratio of each value to the baseline of the same round, so that the speed of the machine cancels out. */
export function ratiosOf(values: readonly number[], beside: readonly number[]): number[] {
  return values.flatMap((value, round) => {
    const other = beside[round];
    return other === undefined ? [] : [value / other];
  });
}

/** A confidence interval of the median. */
export interface Interval {
  readonly low: number;
  readonly high: number;
  /** The confidence, from 0 to 1. */
  readonly confidence: number;
}

/**
 * Returns the narrowest symmetric interval between two of the values that contains the true median with at least this
 * confidence; the whole range and its confidence if there are too few values. Makes no assumption about the
 * distribution: a value is below the median with probability 1/2.
 */
export function medianInterval(values: readonly number[], confidence = 0.95): Interval {
  const sorted = values.toSorted((one, other) => one - other);
  const count = sorted.length;
  let cut = 0;
  while (cut + 1 < (count - 1) / 2 && sureness(count, cut + 1) >= confidence) cut += 1;
  return {
    low: sorted[cut] ?? Number.NaN,
    high: sorted[count - 1 - cut] ?? Number.NaN,
    confidence: sureness(count, cut),
  };
}

/**
 * Returns the probability that the true median is between the values at `cut` places from both ends of `count` sorted
 * values.
 */
function sureness(count: number, cut: number): number {
  let beyond = 0;
  let ways = 1;
  for (let heads = 0; heads <= cut; heads += 1) {
    beyond += ways;
    ways = (ways * (count - heads)) / (heads + 1);
  }
  return Math.max(0, 1 - (2 * beyond) / 2 ** count);
}
