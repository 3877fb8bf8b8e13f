/** Measures how the cost grows with the number of articles. */
import type { Benchmark } from '../measure/benchmark.ts';
import { timeFigures } from '../measure/timing.ts';
import { growingGroup, sizesFrom } from './curves.ts';

export const benchmark: Benchmark = {
  title: 'How cost grows with the number of articles',
  about:
    'In process, with `handle`: GET of a random article, a page of 50 from a random place, and, in the store itself, the replacement of a random article.',
  figures: [...timeFigures],
  open: (stage) => [
    growingGroup(stage, {
      sizes: stage.full ? sizesFrom(100, 1e6) : sizesFrom(1000, 1e5),
      of: 'articles',
      curves: { GET: 'GET of one', page: 'GET of a page', change: 'replacement in the store' },
      file: 'growth/service.ts',
      what: 'articles',
      node: ['--max-old-space-size=8192'],
    }),
  ],
};
