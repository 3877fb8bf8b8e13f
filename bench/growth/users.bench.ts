/** How cost grows with the number of users. */
import type { Benchmark } from '../measure/benchmark.ts';
import { timeFigures } from '../measure/timing.ts';
import { growingGroup, powersOfTen } from './curves.ts';

export const benchmark: Benchmark = {
  title: 'How cost grows with the number of users',
  about: 'In process, by `handle`: a GET that a random one of them signed, in the full form.',
  figures: [...timeFigures],
  open: (stage) => [
    growingGroup(stage, {
      sizes: powersOfTen(1, 1e5),
      of: 'users',
      curves: { 'signed GET': 'signed GET' },
      ...{ file: 'growth/service.ts', what: 'users' },
    }),
  ],
};
