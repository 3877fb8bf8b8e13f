/** Measures how the cost grows with the size of the content. */
import type { Benchmark } from '../measure/benchmark.ts';
import { timeFigures } from '../measure/timing.ts';
import { growingGroup, sizesFrom } from './curves.ts';

export const benchmark: Benchmark = {
  title: 'How cost grows with what is sent',
  about:
    'In process, with `handle`: PUT of an article with a title of this length, in XML and in JSON; parsed, validated and stored.',
  figures: [...timeFigures],
  open: (stage) => [
    growingGroup(stage, {
      sizes: sizesFrom(100, 1e6, stage.full ? 10 : 100),
      of: 'bytes',
      curves: { XML: 'PUT of XML', JSON: 'PUT of JSON' },
      file: 'growth/service.ts',
      what: 'body',
    }),
  ],
};
