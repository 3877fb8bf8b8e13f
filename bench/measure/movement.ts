import { median, medianInterval, ratiosOf } from './statistics.ts';

/** What became of a figure between two commits. */
export interface Movement {
  /** The working tree's beside the other commit's of the same round, in the middle: 0.9 is a tenth less. */
  readonly ratio: number;
  /** Between which ratios the true one lies, with at least 95 % confidence where there are rounds enough. */
  readonly low: number;
  readonly high: number;
  /** How far two measurements of the same commit were apart: 0.02 is 2 %. */
  readonly noise: number;
  readonly moved: boolean;
}

/**
 * Judges a figure that was measured round by round: of the other commit, of that very commit in a second process, and of the
 * working tree. It has moved when the interval for the ratio leaves 1 out, and the ratio is farther from 1 than anything
 * that the same commit showed beside itself in the same rounds: its median ratio, and the nearer end of its interval.
 */
export function judgeMovement(
  other: readonly number[],
  again: readonly number[],
  tree: readonly number[],
): Movement {
  const ratios = ratiosOf(tree, other);
  const control = ratiosOf(again, other);
  const ratio = median(ratios);
  const { low, high } = medianInterval(ratios);
  const itself = medianInterval(control);
  const noise = Math.max(distance(median(control)), Math.min(distance(itself.low), distance(itself.high)));
  return { ratio, low, high, noise, moved: (low > 1 || high < 1) && distance(ratio) > noise };
}

/** How far a ratio is from 1, either way: 0.5 is as far as 2. */
function distance(ratio: number): number {
  return Math.exp(Math.abs(Math.log(ratio))) - 1;
}
