/** Measures a request to a double with few and with many stubs, and the start of a double with a large OpenAPI document. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Benchmark, Contestant } from './measure/benchmark.ts';
import { sharedPart } from './measure/parts/part.ts';
import { timeFigures } from './measure/timing.ts';

const few = '10 stubs';
const many = '1,000 stubs';
const start = 'start with @octokit/openapi';

export const benchmark: Benchmark = {
  title: 'Stubs and the document of a partner',
  about:
    'A GET that a stub answers, with `double.fetch`, among 10 and among 1,000 stubs. And the start of a double with the document of the GitHub API, which has 1,200 operations; it takes part where `npm ci --prefix test` has installed it.',
  figures: [...timeFigures],
  requirements: [
    { group: 'a request', contestant: many, figure: 'cpu', beside: few, atMost: 1.1 },
    { group: 'a start', contestant: start, figure: 'cpu', atMost: 2e9 },
  ],
  open(stage) {
    const contestantOf = (name: string): Contestant =>
      sharedPart(stage, { file: 'in-process/part.ts', words: [name] })({ name, ours: true }, []);
    const isInstalled = existsSync(join(stage.root, 'test/node_modules/@octokit/openapi'));
    return [
      { name: 'a request', contestants: [few, many].map(contestantOf) },
      ...(isInstalled ? [{ name: 'a start', contestants: [contestantOf(start)] }] : []),
    ];
  },
};
