import { median, medianInterval, ratiosOf } from './statistics.ts';

/** What became of a figure between two commits. */
export interface Movement {
  /** The working tree's beside the other commit's of the same round, in the middle: 0.9 is a tenth less. */
  readonly ratio: number;
  /** Between which ratios the true one lies, with at least 95 % confidence where there are rounds enough. */
  readonly low: number;
  readonly high: number;
  /** How far from 1 the interval of the same commit beside itself reaches: 0.02 is 2 %. */
  readonly noise: number;
  readonly moved: boolean;
}

/**
 * Judges a figure that was measured round by round: of the other commit, of that very commit in a second process, and of the
 * working tree. The noise is how far from 1 the interval for the ratio of the commit to itself reaches; the figure has moved when
 * the whole interval for the ratio of the working tree to it is farther from 1 than that.
 */
export function judgeMovement(
  other: readonly number[],
  again: readonly number[],
  tree: readonly number[],
): Movement {
  const ratios = ratiosOf(tree, other);
  const { low, high } = medianInterval(ratios);
  const itself = medianInterval(ratiosOf(again, other));
  const farthest = Math.max(itself.high, 1 / itself.low);
  const moved = low > farthest || high < 1 / farthest;
  return { ratio: median(ratios), low, high, noise: farthest - 1, moved };
}
