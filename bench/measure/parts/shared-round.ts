import type { Round, Sample } from '../benchmark.ts';

/**
 * Shares one measurement between several contestants, each of which shows a part of its result. A contestant that asks
 * for a second time starts the next measurement, with the complete previous result as `last`.
 */
export function sharedRound(
  take: (round: Round) => Promise<Sample>,
): (name: string, round: Round) => Promise<Sample> {
  const served = new Set<string>();
  let current: Promise<Sample> | undefined;
  return async (name, { warmUp }) => {
    if (current === undefined || served.has(name)) {
      served.clear();
      const before = current;
      current =
        before === undefined
          ? take({ warmUp, last: undefined })
          : before.then((last) => take({ warmUp, last }));
    }
    served.add(name);
    return current;
  };
}
