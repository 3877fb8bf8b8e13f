/** The cost at a size. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A curve y = factor * x ** exponent. */
export interface Growth {
  readonly exponent: number;
  readonly factor: number;
}

/**
 * Fits a power law to the points by least squares of the logarithms. The exponent is 0 for constant and 1 for linear
 * growth. Throws RangeError for values without a logarithm, and for fewer than two sizes.
 */
export function fitGrowth(points: readonly Point[]): Growth {
  if (!points.every(({ x, y }) => x > 0 && y > 0)) throw new RangeError('a size or a cost is not above zero');
  if (new Set(points.map(({ x }) => x)).size < 2) throw new RangeError('a growth needs two sizes');
  const logs = points.map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) }));
  const middle = { x: mean(logs.map(({ x }) => x)), y: mean(logs.map(({ y }) => y)) };
  const across = logs.reduce((sum, { x, y }) => sum + (x - middle.x) * (y - middle.y), 0);
  const along = logs.reduce((sum, { x }) => sum + (x - middle.x) ** 2, 0);
  const exponent = across / along;
  return { exponent, factor: Math.exp(middle.y - exponent * middle.x) };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
