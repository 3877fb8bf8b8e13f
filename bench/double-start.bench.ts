/** What a test double costs to start, and what many leave behind. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runScript } from './double-start/process.ts';
import { absence, answering, loading, type Rival, rivalsOf, startingAgain } from './double-start/rivals.ts';
import type { Benchmark, Contestant } from './measure/benchmark.ts';
import { freshPart, startPart } from './measure/part.ts';
import { sharedRound } from './measure/shared-round.ts';

const names = [
  ...['loading the package', 'the first one, HTTP alone', 'the first one, HTTPS too'],
  ...['a later one, HTTP alone', 'a later one, HTTPS too'],
];

export const benchmark: Benchmark = {
  title: 'Starting a test double',
  about:
    'The processor time of loading the package, of starting and closing the first double of a process, and of later ones; each round is a fresh process. Beside it what others are used in its place: loading them beside `node -e 0`, from spawning a process to its first answer, and starting and stopping one; they do much less, and json-server and msw no TLS at all. And what 200 doubles that are started, asked once and closed leave behind, 1,000 in the long form: how much the heap grew, and how many sockets and timers are left. Needs `npm run build`; peers take part where `npm ci --prefix bench` has installed them.',
  figures: [
    { key: 'cpu', label: 'CPU time', unit: 'ns' },
    { key: 'first', label: 'CPU time of the first', unit: 'ns' },
    { key: 'wall', label: 'time of the process', unit: 'ns' },
    { key: 'grown', label: 'heap grew by', unit: 'bytes' },
    { key: 'left', label: 'resources left', unit: 'count' },
  ],
  requirements: [
    { group: 'time', contestant: 'loading the package', figure: 'cpu', atMost: 25e6 },
    { group: 'time', contestant: 'the first one, HTTP alone', figure: 'cpu', atMost: 5e6 },
    { group: 'time', contestant: 'the first one, HTTPS too', figure: 'cpu', atMost: 25e6 },
    {
      ...{ group: 'spawn to first answer', contestant: 'countersign/double, HTTP alone', figure: 'wall' },
      ...{ beside: 'bare node:http', atMost: 1.3 },
    },
  ],
  open(stage) {
    if (!existsSync(join(stage.root, 'dist/cjs/double/index.js'))) return 'dist is not built (npm run build)';
    const work = { file: 'double-start/part.ts', words: [] };
    const shared = sharedRound(async () => {
      const part = await startPart(stage, work.file, work.words);
      if (typeof part === 'string') throw new Error(part);
      const sample = await part.ask('once');
      await part.stop();
      return sample;
    });
    const starts = names.map((name) => ({
      ...{ name, ours: true },
      measure: async (round: Parameters<typeof shared>[1]) => ({
        cpu: (await shared(name, round))[name] ?? 0,
      }),
    }));
    const count = String(stage.full ? 1000 : 200);
    const left = freshPart(stage, work, { name: `${count} doubles`, ours: true }, ['many', count]);
    const rivals = rivalsOf(stage.root);
    const inTurn = (scriptOf: (rival: Rival) => string): Contestant[] =>
      rivals.map((rival) => ({
        ...{ name: rival.name, ours: rival.ours },
        measure: async () => absence(stage.root, rival) ?? runScript(stage.root, scriptOf(rival)),
      }));
    const nothing: Contestant = {
      ...{ name: 'node -e 0', ours: false },
      measure: () => runScript(stage.root, loading({ load: '0' })),
    };
    return [
      { name: 'loading', contestants: [nothing, ...inTurn(loading)] },
      { name: 'spawn to first answer', contestants: inTurn(answering) },
      { name: 'starting and stopping a later one', contestants: inTurn(startingAgain) },
      { name: 'time', contestants: starts },
      { name: 'what is left', contestants: [left] },
    ];
  },
};
