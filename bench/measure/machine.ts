import { availableParallelism, loadavg } from 'node:os';

/** The machine of a run. */
export interface Machine {
  readonly node: string;
  readonly platform: string;
  readonly cores: number;
  /** The load average of one minute before and after the run. */
  readonly loadBefore: number;
  readonly loadAfter: number;
}

/** Returns the load average of one minute. */
export function loadNow(): number {
  return Math.round((loadavg()[0] ?? 0) * 100) / 100;
}

/** Returns the machine at the end of a run that began with this load. */
export function machineSince(loadBefore: number): Machine {
  const { version, platform, arch } = process;
  const cores = availableParallelism();
  return { node: version, platform: `${platform} ${arch}`, cores, loadBefore, loadAfter: loadNow() };
}

/** Returns a description of the machine on one line. */
export function describeMachine({ node, platform, cores, loadBefore, loadAfter }: Machine): string {
  const load = `load average ${loadBefore.toFixed(1)} before, ${loadAfter.toFixed(1)} after`;
  return `Node ${node}, ${platform}, ${cores} core${cores === 1 ? '' : 's'}, ${load}`;
}
