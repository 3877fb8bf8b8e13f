/** Measures streaming XML, per megabyte. */
import type { Benchmark } from '../measure/benchmark.ts';
import { timeFigures } from '../measure/timing.ts';
import { groupsOf, kindsOf, streamingNames } from './rounds.ts';

export const benchmark: Benchmark = {
  title: 'XML in a stream, a megabyte',
  about: 'Documents of 2 MB in chunks of 64 KiB, every event delivered; figures are for 1 MB.',
  figures: [...timeFigures],
  open: (stage) => groupsOf(stage, 'stream', kindsOf(stage), streamingNames),
};
