/** Measures documents that arrive one byte at a time. */
import type { Benchmark, Contestant } from '../measure/benchmark.ts';
import { sharedPart } from '../measure/parts/part.ts';
import { timeFigures } from '../measure/timing.ts';
import { peerNames } from './peers.ts';
import { kilobytesOf, kindsOf, ours } from './rounds.ts';

/** The parsers that buffer only the open construct, and fit into one chart. */
const shown = ['countersign', 'saxes', 'sax', 'node-expat'];

export const benchmark: Benchmark = {
  title: 'XML that comes one byte at a time',
  about:
    'Documents of articles, and other documents in the long form, in three sizes and chunks of one byte: the time per byte must not grow with the size. Figures are per byte.',
  figures: [...timeFigures],
  open(stage) {
    const names = peerNames().filter((name) => stage.full || shown.includes(name));
    const shared = new Map(
      names.map((peer) => [peer, sharedPart(stage, { file: 'xml/part.ts', words: [peer] })]),
    );
    const kinds = kindsOf(stage).slice(0, stage.full ? undefined : 1);
    return kinds.map((kind) => ({
      name: kinds.length > 1 ? kind : '',
      sizes: 'KB',
      contestants: kilobytesOf(stage).flatMap((size) =>
        names.flatMap((peer): Contestant[] => {
          const contestant = shared.get(peer)?.({ name: peer, ours: peer === ours, size }, [
            'bytes',
            `${kind} ${size}`,
          ]);
          return contestant === undefined ? [] : [contestant];
        }),
      ),
    }));
  },
};
