/** Measures lists that are sorted and filtered by an index, and what the index adds to a write. */
import { join } from 'node:path';
import type { Benchmark, Contestant, Requirement } from '../measure/benchmark.ts';
import { type Part, startPart } from '../measure/parts/part.ts';
import { timeFigures } from '../measure/timing.ts';
import { fillStore } from './filled.ts';
import { pages } from './lists.ts';

const kinds = ['index', 'scan'] as const;

/** Nanoseconds. */
const maxPageTime = 5e6;

const requirements = Object.keys(pages).map(
  (group): Requirement => ({ group, contestant: 'index', figure: 'cpu', atMost: maxPageTime }),
);

export const benchmark: Benchmark = {
  title: 'Sorted and filtered lists',
  about:
    'Pages of 50 of 100,000 articles, a million in the long form, that were loaded from disk, by an index and by reading the whole collection, which stores without `watch` require. A PUT changes the price of a random article, 64 at a time, synced; with indexes of the price and the title, and without.',
  figures: [...timeFigures],
  requirements: [
    ...requirements,
    { group: 'PUT', contestant: 'index', figure: 'cpu', beside: 'scan', atMost: 1.1 },
  ],
  async open(stage) {
    const size = stage.full ? 1_000_000 : 100_000;
    const parts = new Map<string, Part>();
    for (const kind of kinds) {
      const directory = join(stage.scratch, kind);
      await fillStore(stage, 'countersign', directory, size);
      const node = ['--max-old-space-size=8192'];
      const part = await startPart(stage, 'store/lists.ts', [kind, directory, String(size)], { node });
      if (typeof part === 'string') return part;
      await part.ask('begin');
      parts.set(kind, part);
    }
    return [...Object.keys(pages), 'PUT'].map((name) => ({
      name,
      contestants: kinds.map(
        (kind): Contestant => ({
          name: kind,
          ours: true,
          measure: async () => (await parts.get(kind)?.ask(name)) ?? 'it is not there',
        }),
      ),
    }));
  },
};
