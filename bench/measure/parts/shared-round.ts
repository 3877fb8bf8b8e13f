import type { Round, Sample } from '../benchmark.ts';

/**
 * Lets one measurement serve several contestants, each of which shows a part of what it gives. Whoever asks for a second time
 * begins the next one; `last` of its round is the whole of the one before.
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
