/** Measures hostile documents of increasing size. */
import type { Benchmark, Contestant } from '../measure/benchmark.ts';
import { sharedPart } from '../measure/parts/part.ts';
import { timeFigures } from '../measure/timing.ts';
import { HOSTILE } from './hostile.ts';
import { kilobytesOf } from './rounds.ts';

const chunks: readonly (readonly [name: string, bytes: string])[] = [
  ['one byte at a time', '1'],
  ['64 KiB at a time', '65536'],
];

export const benchmark: Benchmark = {
  title: 'Hostile XML of growing size',
  about:
    'Documents that are expensive to parse: the time per byte must not grow with the size, with any size of chunks. The limits are so large that no document is rejected early. Figures are per byte.',
  figures: [...timeFigures],
  open(stage) {
    const shared = sharedPart(stage, { file: 'xml/hostile.ts', words: [] });
    return Array.from(HOSTILE.keys(), (kind) => ({
      name: kind,
      sizes: 'KB',
      contestants: kilobytesOf(stage).flatMap((size) =>
        chunks.map(
          ([name, bytes]): Contestant =>
            shared({ name, ours: true, size }, [kind, String(size * 1000), bytes]),
        ),
      ),
    }));
  },
};
