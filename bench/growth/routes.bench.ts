/** Measures how the cost grows with the number of routes. */
import type { Benchmark } from '../measure/benchmark.ts';
import { timeFigures } from '../measure/timing.ts';
import { growingGroup, sizesFrom } from './curves.ts';

export const benchmark: Benchmark = {
  title: 'How cost grows with the number of routes',
  about: 'In process, with `handle`: GET of a random collection out of this number, all empty.',
  figures: [...timeFigures],
  open: (stage) => [
    growingGroup(stage, {
      sizes: sizesFrom(1, 1e4, stage.full ? 10 : 100),
      of: 'collections',
      curves: { GET: 'GET' },
      file: 'growth/service.ts',
      what: 'routes',
    }),
  ],
};
