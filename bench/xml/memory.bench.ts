/** Measures the memory that strings from a long document retain. */
import type { Benchmark } from '../measure/benchmark.ts';
import { freshPart } from '../measure/parts/part.ts';
import { kept } from './memory.ts';

export const benchmark: Benchmark = {
  title: 'Memory after a long XML document',
  about:
    'A document of 30 MB, or 1 GB in the long form, in chunks of 64 KiB, of which one short string of each chunk is kept: how much the resident memory of a fresh process grew, with nothing kept, with copies (`detached`), and with the strings as they come, each of which holds on to the chunk it was cut from.',
  figures: [{ key: 'grown', label: 'resident memory grew by', unit: 'bytes' }],
  open(stage) {
    const bytes = String(stage.full ? 1e9 : 3e7);
    const contestants = kept.map((name) =>
      freshPart(stage, { file: 'xml/memory.ts', words: [name] }, { name, ours: true }, [bytes]),
    );
    return [{ name: '', contestants }];
  },
};
