import { availableParallelism, loadavg } from 'node:os';

/** What a run was made on. */
export interface Machine {
  readonly node: string;
  readonly platform: string;
  readonly cores: number;
  /** How many processes wanted a processor over the last minute, before the run and after it. */
  readonly loadBefore: number;
  readonly loadAfter: number;
}

/** The load average of the last minute. */
export function loadNow(): number {
  return Math.round((loadavg()[0] ?? 0) * 100) / 100;
}

/** The machine, at the end of a run that began with this load. */
export function machineSince(loadBefore: number): Machine {
  const { version, platform, arch } = process;
  const cores = availableParallelism();
  return { node: version, platform: `${platform} ${arch}`, cores, loadBefore, loadAfter: loadNow() };
}

/** One line that says what machine it was. */
export function describeMachine({ node, platform, cores, loadBefore, loadAfter }: Machine): string {
  const load = `load average ${loadBefore.toFixed(1)} before, ${loadAfter.toFixed(1)} after`;
  return `Node ${node}, ${platform}, ${cores} core${cores === 1 ? '' : 's'}, ${load}`;
}
