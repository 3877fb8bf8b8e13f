/** Measures the reading of a snapshot at a start. */
import { join } from 'node:path';
import type { Benchmark } from '../measure/benchmark.ts';
import { freshPart } from '../measure/parts/part.ts';
import { timeFigures } from '../measure/timing.ts';
import { fillStore } from './filled.ts';

export const benchmark: Benchmark = {
  title: 'Loading a snapshot',
  about:
    'A start reads a snapshot of 100,000 articles, a million in the long form, compared with JSON.parse of each line of the same file; each in a new process. Memory is the resident memory afterwards; held is the memory of the articles beside their JSON in the file; a first read is of an article that was not read before.',
  figures: [
    ...timeFigures,
    { key: 'resident', label: 'memory', unit: 'bytes' },
    { key: 'held', label: 'held beside the JSON', unit: 'share' },
    { key: 'read', label: 'first read', unit: 'ns' },
  ],
  requirements: [{ contestant: 'countersign', figure: 'held', beside: 'plain JSON.parse', atMost: 1.1 }],
  async open(stage) {
    const size = stage.full ? 1_000_000 : 100_000;
    const directory = join(stage.scratch, 'articles');
    await fillStore(stage, 'countersign', directory, size);
    const work = {
      file: 'store/load.ts',
      words: [join(directory, 'store.jsonl'), String(size)],
      node: ['--max-old-space-size=8192'],
    };
    const contestants = [
      freshPart(stage, work, { name: 'plain JSON.parse', ours: false }, ['plain']),
      freshPart(stage, work, { name: 'countersign', ours: true }, ['start']),
    ];
    return [{ name: '', contestants }];
  },
};
