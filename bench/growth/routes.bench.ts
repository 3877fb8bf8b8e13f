/** How cost grows with the number of routes. */
import type { Benchmark } from '../measure/benchmark.ts';
import { timeFigures } from '../measure/timing.ts';
import { growingGroup, powersOfTen } from './curves.ts';

export const benchmark: Benchmark = {
  title: 'How cost grows with the number of routes',
  about: 'In process, by `handle`: GET of a random one of so many collections, all empty.',
  figures: [...timeFigures],
  open: (stage) => [
    growingGroup(stage, {
      sizes: powersOfTen(1, 1e4),
      of: 'collections',
      curves: { GET: 'GET' },
      ...{ file: 'growth/service.ts', what: 'routes' },
    }),
  ],
};
