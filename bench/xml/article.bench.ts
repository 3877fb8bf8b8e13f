/** Measures the parsing of an article to title, price and currency. */
import type { Benchmark } from '../measure/benchmark.ts';
import { timeFigures } from '../measure/timing.ts';
import { peerNames } from './peers.ts';
import { groupsOf } from './rounds.ts';

export const benchmark: Benchmark = {
  title: 'An article, from its bytes to title, price and currency',
  about:
    'Each parser reads the same 92 bytes from a Buffer and returns the three values; `JSON.parse` reads the same values from JSON.',
  figures: [...timeFigures],
  open: (stage) => groupsOf(stage, 'article', ['article'], peerNames),
};
