import { median, medianInterval, ratiosOf } from './statistics.ts';

/** The change of a figure between two commits. */
export interface Movement {
  /** The median ratio of the working tree to the other commit in the same round: 0.9 is a tenth less. */
  readonly ratio: number;
  /** The confidence interval of the ratio; at least 95 % with enough rounds. */
  readonly low: number;
  readonly high: number;
  /** The maximum distance from 1 of the interval of the commit compared with itself: 0.02 is 2 %. */
  readonly noise: number;
  readonly moved: boolean;
}

/**
 * Computes the change of a figure from its rounds: of the other commit, of the same commit in a second process, and of
 * the working tree. The noise is the distance from 1 of the interval of the commit compared with itself. The figure has
 * changed if the whole interval of the working tree is farther from 1 than the noise.
 */
export function movementOf(
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
