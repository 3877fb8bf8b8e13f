/** The value below which a part (0 to 1) of the values lies; NaN of none. Takes them in any order. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const at = part * (sorted.length - 1);
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}

/** The middle one, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Where the values lie. */
export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

/** The least, the middle and the most of the values. */
export function spreadOf(values: readonly number[]): Spread {
  return { min: quantile(values, 0), median: median(values), max: quantile(values, 1) };
}

/** Each round's value beside the other's of the same round, so that a machine whose speed drifts slows both. */
export function ratiosOf(values: readonly number[], beside: readonly number[]): number[] {
  return values.flatMap((value, round) => {
    const other = beside[round];
    return other === undefined ? [] : [value / other];
  });
}

/** Between which values the true median lies. */
export interface Interval {
  readonly low: number;
  readonly high: number;
  /** How sure that is, from 0 to 1. */
  readonly confidence: number;
}

/**
 * The narrowest interval between two of the values, as far from the ends each, that holds the true median with at least this
 * confidence; the whole range, and how sure that is, where there are too few values. It asks nothing of how they are
 * distributed: a value is below the median as often as above it.
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

/** How likely the median of a distribution is between the values at `cut` places from either end of `count` sorted ones. */
function sureness(count: number, cut: number): number {
  let beyond = 0;
  let ways = 1;
  for (let heads = 0; heads <= cut; heads += 1) {
    beyond += ways;
    ways = (ways * (count - heads)) / (heads + 1);
  }
  return Math.max(0, 1 - (2 * beyond) / 2 ** count);
}
