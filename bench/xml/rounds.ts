import { spawnSync } from 'node:child_process';
import { peerNames } from './peers.ts';

/** What is run in a process of its own: the name of a peer and of a kind of document. */
export interface Task {
  readonly peer: string;
  readonly kind: string;
}

/** The task that this process is to measure, if it was started for one. */
export function task(): Task | undefined {
  const [peer, kind] = process.argv.slice(2);
  return peer === undefined || kind === undefined ? undefined : { peer, kind };
}

/** CPU time of some work, user and system, in nanoseconds. */
export function cpuTime(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) * 1000;
}

/**
 * Measures every peer with every kind of document, each in a process of its own, the peers taking turns, and
 * prints a table: the least, the median and the most of the rounds, and how many times the first peer is as fast.
 */
export function compare(file: string, kinds: readonly string[], unit: string, rounds = 5): void {
  for (const kind of kinds) {
    const figures = new Map<string, number[]>();
    for (let round = 0; round < rounds; round++) {
      for (const peer of peerNames()) {
        const figure = measured(file, { peer, kind });
        if (figure !== undefined) figures.set(peer, [...(figures.get(peer) ?? []), figure]);
      }
    }
    print(kind, unit, figures);
  }
}

function measured(file: string, { peer, kind }: Task): number | undefined {
  const { stdout } = spawnSync(process.execPath, ['--import', 'tsx', file, peer, kind], { encoding: 'utf8' });
  const figure = Number.parseFloat(stdout);
  return Number.isNaN(figure) ? undefined : figure;
}

function print(kind: string, unit: string, figures: ReadonlyMap<string, readonly number[]>): void {
  console.log(`\n${kind} (${unit})`);
  console.log(
    `${'peer'.padEnd(18)}${['min', 'median', 'max', 'ratio'].map((head) => head.padStart(10)).join('')}`,
  );
  const first = median([...(figures.values().next().value ?? [])]);
  for (const [peer, list] of figures) {
    const sorted = [...list].sort((a, b) => a - b);
    const cells = [sorted[0] ?? 0, median(sorted), sorted.at(-1) ?? 0].map((cell) =>
      cell.toFixed(1).padStart(10),
    );
    console.log(`${peer.padEnd(18)}${cells.join('')}${(median(sorted) / first).toFixed(2).padStart(10)}`);
  }
}

function median(list: readonly number[]): number {
  const sorted = [...list].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
