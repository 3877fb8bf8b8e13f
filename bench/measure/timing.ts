import type { Sample } from './benchmark.ts';

/** The figures that `timed` gives: what one of them took, in ns. */
export const timeFigures = [
  { key: 'cpu', label: 'CPU time', unit: 'ns' },
  { key: 'wall', label: 'wall time', unit: 'ns' },
] as const;

/** CPU time (user and system, all threads) and time by the clock that work takes, in ns, for each of `count`. */
export function timed(work: () => void, count = 1): Sample {
  const cpu = process.cpuUsage();
  const begun = process.hrtime.bigint();
  work();
  return since(cpu, begun, count);
}

/** The same of work that has to be waited for. */
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

/** A round of work is about so long (ns of CPU time). */
const roundLength = 1e8;
/** How much work comes first, for what is slow at first is compiled while it runs (ns of CPU time). */
const warmUpLength = 1e9;

/**
 * Makes rounds of some work that is told how often to repeat itself: as often as makes a round long enough,
 * and no more than `most`; that is found out while it warms up, for so many ns of CPU time. Each gives what one took, in ns.
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
    // By the processor's time, which others that want it do not make longer.
    const { cpu = 0 } = await timedAsync(async () => work(count));
    spent += cpu;
    const lasting = (length: number): number =>
      Math.min(most, Math.max(1, Math.round((count * length) / Math.max(cpu, 1))));
    if (spent >= warmUp) return lasting(roundLength);
    count = Math.min(count * 4, lasting(warmUp / 2));
  }
}
