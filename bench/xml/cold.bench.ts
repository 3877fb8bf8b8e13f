/** Measures the first 10 MB that a process parses. */
import type { Benchmark } from '../measure/benchmark.ts';
import { timeFigures } from '../measure/timing.ts';
import { groupsOf, kindsOf, streamingNames } from './rounds.ts';

/** The remarks on the chart of the stream apply here, too. */
const elsewhere = ['saxes, no xmlns', 'sax', 'ltx', 'node-expat'];

export const benchmark: Benchmark = {
  title: 'The first 10 MB that a process reads',
  about:
    'Documents of 10 MB in chunks of 64 KiB, each by a process that has parsed nothing before. The long form has sax, ltx, node-expat, and saxes without namespaces, too.',
  figures: [...timeFigures],
  open: (stage) =>
    groupsOf(stage, 'cold', kindsOf(stage).slice(0, stage.full ? 5 : 1), {
      fresh: true,
      names: streamingNames().filter((name) => stage.full || !elsewhere.includes(name)),
    }),
};
