/** Measures how the cost grows with the number of users. */
import type { Benchmark } from '../measure/benchmark.ts';
import { timeFigures } from '../measure/timing.ts';
import { growingGroup, sizesFrom } from './curves.ts';

export const benchmark: Benchmark = {
  title: 'How cost grows with the number of users',
  about: 'In process, with `handle`: a GET signed by a random user, in the full form.',
  figures: [...timeFigures],
  open: (stage) => [
    growingGroup(stage, {
      sizes: stage.full ? sizesFrom(1, 1e5) : sizesFrom(10, 1e5, 100),
      of: 'users',
      curves: { 'signed GET': 'signed GET' },
      file: 'growth/service.ts',
      what: 'users',
    }),
  ],
};
