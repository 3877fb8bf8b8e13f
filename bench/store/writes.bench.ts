/** Measures acknowledged and synced writes. */
import { join } from 'node:path';
import type { Benchmark, Contestant, Group, Requirement, Stage } from '../measure/benchmark.ts';
import { type Part, startPart } from '../measure/parts/part.ts';
import { contestants } from './contestants.ts';
import { fillStore } from './filled.ts';

const ours = 'countersign';

const requirement = (writers: string, beside: string, atLeast: number): Requirement => ({
  group: `${writers}, 1,000 articles`,
  contestant: ours,
  figure: 'rate',
  beside,
  atLeast,
});

export const benchmark: Benchmark = {
  title: 'Acknowledged writes',
  about:
    'Writers replace random existing articles, and each waits for the acknowledgement before the next write. Acknowledged writes are on the medium unless the name says otherwise. For comparison, the bare medium: lines appended to a file and synced. The long form includes a million articles, and stores that do not sync. TMPDIR selects the disk.',
  figures: [
    { key: 'rate', label: 'writes', unit: 'per second', more: true },
    { key: 'cpu', label: 'CPU per write', unit: 'ns' },
    { key: 'p50', label: 'p50', unit: 'ns' },
    { key: 'p99', label: 'p99', unit: 'ns' },
    { key: 'disk', label: 'on disk', unit: 'bytes' },
    { key: 'resident', label: 'memory', unit: 'bytes' },
  ],
  requirements: [
    requirement('64 writers', 'better-sqlite3 grouped', 0.9),
    requirement('64 writers', 'better-sqlite3', 10),
    requirement('64 writers', 'classic-level', 10),
    requirement('1 writer', 'better-sqlite3', 0.8),
  ],
  open(stage) {
    const sizes = stage.full ? [1000, 100_000, 1_000_000] : [1000];
    return sizes.flatMap((size) => groupsOf(stage, size));
  },
};

/**
 * The number of concurrent writers, the duration of a round, and the duration of the warm-up (ms), which is short if
 * previous contestants have compiled the same code, or if the peers are written in C++.
 */
const turns = [
  { writers: 64, group: '64 writers', short: 200, warmUpLength: 3000 },
  { writers: 1, group: '1 writer', short: 150, warmUpLength: 600 },
];

function groupsOf(stage: Stage, size: number): Group[] {
  const measured = [...contestants].filter(([, { synced }]) => stage.full || synced);
  const parts = new Map(measured.map(([name]) => [name, lazily(() => opened(stage, name, size))]));
  return turns.map(({ writers, group, short, warmUpLength }) => ({
    name: `${group}, ${size.toLocaleString('en')} articles`,
    yardstick: ours,
    contestants: measured.map(
      ([name, { synced }]): Contestant => ({
        name: synced ? name : `${name} (not synced)`,
        ours: name === ours,
        ...(name !== ours && { warmsUp: 'beside others' }),
        async measure({ warmUp }) {
          const part = await parts.get(name)?.();
          if (part === undefined || typeof part === 'string') return part ?? 'it is not there';
          const ms = warmUp ? warmUpLength / (name === ours ? 1 : 4) : stage.full ? 2000 : short;
          const sample = await part.ask('write', String(writers), String(ms));
          return { ...sample, ...(await part.ask('size')) };
        },
      }),
    ),
  }));
}

function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Fills the store in one process and opens it in another. */
async function opened(stage: Stage, name: string, size: number): Promise<Part | string> {
  const most = contestants.get(name)?.most;
  if (most !== undefined && size > most.count) return most.reason;
  const directory = join(stage.scratch, `${name.replaceAll(/\W+/g, '-')}-${size}`);
  const absent = await fillStore(stage, name, directory, size);
  if (absent !== undefined) return absent;
  const node = ['--max-old-space-size=8192'];
  const part = await startPart(stage, 'store/part.ts', [name, directory, String(size)], { node });
  if (typeof part !== 'string') await part.ask('open');
  return part;
}
