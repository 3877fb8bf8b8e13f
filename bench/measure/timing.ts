import type { Sample } from './benchmark.ts';

/** The figures of `timed`: the time of one repetition, in ns. */
export const timeFigures = [
  { key: 'cpu', label: 'CPU time', unit: 'ns' },
  { key: 'wall', label: 'wall time', unit: 'ns' },
] as const;

/** Measures CPU time (user and system, all threads) and wall time of `work`, in ns, divided by `count`. */
export function timed(work: () => void, count = 1): Sample {
  const cpu = process.cpuUsage();
  const begun = process.hrtime.bigint();
  work();
  return since(cpu, begun, count);
}

/** Measures asynchronous work in the same way. */
export async function timedAsync(work: () => Promise<unknown>, count = 1): Promise<Sample> {
  const cpu = process.cpuUsage();
  const begun = process.hrtime.bigint();
  await work();
  return since(cpu, begun, count);
}

function since(before: NodeJS.CpuUsage, begun: bigint, count: number): Sample {
  const wall = Number(process.hrtime.bigint() - begun) / count;
  const { user, system } = process.cpuUsage(before);
  return { cpu: ((user + system) * 1000) / count, wall };
}

/** The duration of a round (ns of CPU time). */
const roundLength = 6e7;
/** The duration of the warm-up, during which code is compiled (ns of CPU time). */
const warmUpLength = 3e8;

/**
 * Returns rounds of some work. The warm-up, for `warmUp` ns of CPU time, determines how often a round repeats the work,
 * at most `most` times. Each round returns the time of one repetition, in ns.
 */
export function repeating(
  work: (count: number) => unknown,
  { most = Number.POSITIVE_INFINITY, warmUp = warmUpLength } = {},
): () => Promise<Sample> {
  let count = 0;
  return async () => {
    if (count === 0) count = await enough(work, most, warmUp);
    return timedAsync(async () => work(count), count);
  };
}

async function enough(work: (count: number) => unknown, most: number, warmUp: number): Promise<number> {
  for (let count = 1, spent = 0; ; ) {
    // Uses CPU time, which other processes do not increase.
    const { cpu = 0 } = await timedAsync(async () => work(count));
    spent += cpu;
    const lasting = (length: number): number =>
      Math.min(most, Math.max(1, Math.round((count * length) / Math.max(cpu, 1))));
    if (spent >= warmUp) return lasting(roundLength);
    count = Math.min(count * 4, lasting(warmUp / 2));
  }
}
