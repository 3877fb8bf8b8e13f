import { availableParallelism } from 'node:os';
import type { Contestant, Sample } from '../benchmark.ts';

/** The results of a contestant in the rounds that count. */
export interface Taken {
  readonly contestant: Contestant;
  readonly samples: readonly Sample[];
  /** Why it was not measured. */
  readonly leftOut?: string;
}

/**
 * Runs contestants in turns, so that a change in the speed of the machine affects all of them: forwards in one round
 * and backwards in the next, so that none always follows the same one. They warm up before that. Calls `progress` with
 * the completed share, from 0 to 1, and the next contestant. Rejects with the error of a contestant.
 */
export async function takeRounds(
  contestants: readonly Contestant[],
  rounds: number,
  progress: (part: number, name: string) => void,
): Promise<Taken[]> {
  const samples = contestants.map((): Sample[] => []);
  const leftOut = new Map<number, string>();
  const last: (Sample | undefined)[] = [];
  const take = async (index: number, round: number): Promise<void> => {
    const contestant = contestants[index];
    if (contestant === undefined || leftOut.has(index)) return;
    progress((round + 1) / (rounds + 1), contestant.name);
    const sample = await contestant.measure({ warmUp: round < 0, last: last[index] });
    last[index] = typeof sample === 'string' ? undefined : sample;
    if (typeof sample === 'string') leftOut.set(index, sample);
    else if (round >= 0) samples[index]?.push(sample);
  };
  const first = turns(contestants.length, -1);
  const those = (how: Contestant['warmsUp']) => first.filter((index) => contestants[index]?.warmsUp === how);
  const beside = those('beside others');
  // As many at once as there are processors, because the warm-up is not measured.
  const workers = Array.from({ length: availableParallelism() }, async () => {
    for (let index = beside.shift(); index !== undefined; index = beside.shift()) await take(index, -1);
  });
  await Promise.all(workers);
  for (const index of those(undefined)) await take(index, -1);
  for (let round = 0; round < rounds; round += 1) {
    for (const index of turns(contestants.length, round)) await take(index, round);
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
