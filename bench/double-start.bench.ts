/** What a test double costs to start, and what many leave behind. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Benchmark } from './measure/benchmark.ts';
import { freshPart, startPart } from './measure/part.ts';
import { sharedRound } from './measure/shared-round.ts';

const names = [
  ...['loading the package', 'the first one, HTTP alone', 'the first one, HTTPS too'],
  ...['a later one, HTTP alone', 'a later one, HTTPS too'],
];

export const benchmark: Benchmark = {
  title: 'Starting a test double',
  about:
    'The processor time of loading the package, of starting and closing the first double of a process, and of later ones; each round is a fresh process. And what 200 doubles that are started, asked once and closed leave behind, 1,000 in the long form: how much the heap grew, and how many sockets and timers are left. Needs `npm run build`.',
  figures: [
    { key: 'cpu', label: 'CPU time', unit: 'ns' },
    { key: 'grown', label: 'heap grew by', unit: 'bytes' },
    { key: 'left', label: 'resources left', unit: 'count' },
  ],
  open(stage) {
    if (!existsSync(join(stage.root, 'dist/cjs/double/index.js'))) return 'dist is not built (npm run build)';
    const work = { file: 'double-start/part.ts', words: [] };
    const shared = sharedRound(async () => {
      const part = await startPart(stage, work.file, work.words);
      if (typeof part === 'string') throw new Error(part);
      const sample = await part.ask('once');
      await part.stop();
      return sample;
    });
    const starts = names.map((name) => ({
      ...{ name, ours: true },
      measure: async (round: Parameters<typeof shared>[1]) => ({
        cpu: (await shared(name, round))[name] ?? 0,
      }),
    }));
    const count = String(stage.full ? 1000 : 200);
    const left = freshPart(stage, work, { name: `${count} doubles`, ours: true }, ['many', count]);
    return [
      { name: 'time', contestants: starts },
      { name: 'what is left', contestants: [left] },
    ];
  },
};
