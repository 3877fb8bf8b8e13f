/** Measures how a compaction affects concurrent requests. */
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Benchmark, Contestant, Sample, Stage } from '../measure/benchmark.ts';
import { type Part, startPart } from '../measure/parts/part.ts';
import { sharedRound } from '../measure/parts/shared-round.ts';

const during = 'countersign, while compacting';
const keys = ['stall', 'collection', 'write', 'read', 'rate'] as const;

export const benchmark: Benchmark = {
  title: 'Compaction under writes',
  about:
    'The longest stall of the event loop, the slowest write and the slowest read while 100,000 articles, a million in the long form, are copied under 64 writers, beside the same before the copy began, and beside the longest stall of a process that does nothing meanwhile: so much is the machine. And the most memory the process ever had, beside that of lowdb under as many writers for three seconds, and with one write. Every article of ours was asked for once before.',
  figures: [
    { key: 'stall', label: 'longest stall', unit: 'ns' },
    { key: 'collection', label: 'longest collection', unit: 'ns' },
    { key: 'write', label: 'slowest write', unit: 'ns' },
    { key: 'read', label: 'slowest read', unit: 'ns' },
    { key: 'rate', label: 'writes', unit: 'per second', more: true },
    { key: 'peak', label: 'most memory', unit: 'bytes' },
  ],
  requirements: [
    { contestant: during, figure: 'stall', atMost: 20e6 },
    { contestant: during, figure: 'peak', beside: 'lowdb', atMost: 0.6 },
  ],
  async open(stage) {
    const size = stage.full ? 1_000_000 : 100_000;
    const [, lowdb] = await Promise.all([fill(stage, 'countersign', size), fill(stage, 'lowdb', size)]);
    const shared = sharedRound(() => beside(stage, () => ask(stage, 'countersign', size, ['compact'])));
    const phase = (name: string, which: string): Contestant => ({
      name,
      ours: true,
      warmsUp: 'never',
      async measure(round) {
        const sample = await shared(name, round);
        const figures = keys.map((key): [string, number] => [key, sample[`${which} ${key}`] ?? Number.NaN]);
        return { ...Object.fromEntries(figures), peak: sample['peak'] ?? Number.NaN };
      },
    });
    const idle: Contestant = {
      name: 'nothing, beside it',
      ours: false,
      warmsUp: 'never',
      measure: async (round) => ({ stall: (await shared('nothing', round))['idle'] ?? Number.NaN }),
    };
    // Both at once: only their memory is measured, and one write is short.
    const both = sharedRound(async () => {
      const orders = ['64', '1'].map((count) => ['lowdb', count]);
      const [many, one] = await Promise.all(orders.map((order) => ask(stage, 'lowdb', size, order)));
      return { ...many, 'peak of one write': one?.['peak'] ?? Number.NaN };
    });
    const peer = (name: string, figures: (of: Sample) => Sample): Contestant => ({
      name,
      ours: false,
      warmsUp: 'never',
      measure: async (round) => lowdb ?? figures(await both(name, round)),
    });
    const peers = [
      peer('lowdb', ({ peak = Number.NaN, rate = Number.NaN }) => ({ peak, rate })),
      peer('lowdb, one write', ({ 'peak of one write': peak = Number.NaN }) => ({ peak })),
    ];
    const ours = [phase('countersign, before', 'before'), phase(during, 'during'), idle];
    return [{ name: '', contestants: [...ours, ...peers] }];
  },
};

/** Fills a directory. Resolves to a text if that is not possible: the reason. */
async function fill(stage: Stage, name: string, size: number): Promise<string | undefined> {
  const directory = join(stage.scratch, name);
  mkdirSync(directory);
  const part = await startPart(stage, 'store/part.ts', [name, directory, String(size)]);
  if (typeof part === 'string') return part;
  try {
    await part.ask('fill');
    return undefined;
  } catch (error) {
    if (String(error).includes('Cannot find')) return 'not installed';
    throw error;
  } finally {
    await part.stop();
  }
}

/** Runs one round in a new process with a new copy. */
async function ask(stage: Stage, name: string, size: number, order: readonly string[]): Promise<Sample> {
  const copy = join(stage.scratch, [name, ...order].join('-'));
  cpSync(join(stage.scratch, name), copy, { recursive: true });
  const part: Part | string = await startPart(stage, 'store/compaction.ts', [copy, String(size)]);
  if (typeof part === 'string') throw new Error(part);
  const sample = await part.ask(...order);
  await part.stop();
  rmSync(copy, { recursive: true });
  return sample;
}

/** Runs `work` and adds the longest stall of an idle process in the meantime. */
async function beside(stage: Stage, work: () => Promise<Sample>): Promise<Sample> {
  const part = await startPart(stage, 'store/compaction.ts', ['', '']);
  if (typeof part === 'string') throw new Error(part);
  await part.ask('watch');
  const sample = await work();
  const { stall = Number.NaN } = await part.ask('watched');
  await part.stop();
  return { ...sample, idle: stall };
}
