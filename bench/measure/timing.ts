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

/** How many repetitions of what takes `each` ns make a round that is long enough to be measured: 100 ms. */
export function enoughOf(each: number): number {
  return Math.max(1, Math.ceil(1e8 / Math.max(each, 1)));
}

function since(before: NodeJS.CpuUsage, begun: bigint, count: number): Sample {
  const wall = Number(process.hrtime.bigint() - begun) / count;
  const { user, system } = process.cpuUsage(before);
  return { cpu: ((user + system) * 1000) / count, wall };
}
