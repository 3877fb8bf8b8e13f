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
    'Documents that are made to be dear: the time for a byte should not grow with the size, whatever the chunks. The limits are set so wide that nothing is refused early. Figures are for one byte.',
  figures: [...timeFigures],
  open(stage) {
    const shared = sharedPart(stage, { file: 'xml/hostile.ts', words: [] });
    return Array.from(HOSTILE.keys(), (kind) => ({
      ...{ name: kind, sizes: 'KB' },
      contestants: kilobytesOf(stage).flatMap((size) =>
        chunks.map(
          ([name, bytes]): Contestant =>
            shared({ name, ours: true, size }, [kind, String(size * 1000), bytes]),
        ),
      ),
    }));
  },
};
