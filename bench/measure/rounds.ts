import type { Contestant, Sample } from './benchmark.ts';

/** What a contestant gave in the rounds that count. */
export interface Taken {
  readonly contestant: Contestant;
  readonly samples: readonly Sample[];
  /** Why it took no part. */
  readonly leftOut?: string;
}

/**
 * Lets contestants take turns, so that a machine whose speed drifts slows all of them, forwards in one round and backwards
 * in the next, so that none always follows the same one. `progress` is told how far it is, from 0 to 1, and who is next.
 * Rejects with what a contestant throws.
 */
export async function takeRounds(
  contestants: readonly Contestant[],
  rounds: number,
  progress: (part: number, name: string) => void,
): Promise<Taken[]> {
  const samples = contestants.map((): Sample[] => []);
  const leftOut = new Map<number, string>();
  const last: (Sample | undefined)[] = [];
  for (let round = -1; round < rounds; round += 1) {
    for (const index of turns(contestants.length, round)) {
      const contestant = contestants[index];
      if (contestant === undefined || leftOut.has(index)) continue;
      progress((round + 1) / (rounds + 1), contestant.name);
      const sample = await contestant.measure({ warmUp: round < 0, last: last[index] });
      last[index] = typeof sample === 'string' ? undefined : sample;
      if (typeof sample === 'string') leftOut.set(index, sample);
      else if (round >= 0) samples[index]?.push(sample);
    }
  }
  return contestants.map((contestant, index) => {
    const reason = leftOut.get(index);
    return { contestant, samples: samples[index] ?? [], ...(reason !== undefined && { leftOut: reason }) };
  });
}

function turns(count: number, round: number): number[] {
  const forwards = Array.from({ length: count }, (_, index) => index);
  return round % 2 === 0 ? forwards : forwards.reverse();
}
