/** Measures how the cost grows with the number of nonces. */
import type { Benchmark } from '../measure/benchmark.ts';
import { timeFigures } from '../measure/timing.ts';
import { growingGroup, sizesFrom } from './curves.ts';

export const benchmark: Benchmark = {
  title: 'How cost grows with the number of nonces',
  about:
    'A nonce is claimed while this number of nonces is stored. Half a window has passed since the first of them.',
  figures: [...timeFigures],
  open: (stage) => [
    growingGroup(stage, {
      sizes: sizesFrom(1000, stage.full ? 1e7 : 1e6),
      of: 'nonces',
      curves: { claim: 'claim' },
      file: 'growth/nonces.ts',
      what: 'nonces',
    }),
  ],
};
