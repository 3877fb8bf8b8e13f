/** Measures the start of a test double, and the resources that remain after many of them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runScript } from './double-start/process.ts';
import { absence, answering, loading, ours, type Rival, rivalsOf, starting } from './double-start/rivals.ts';
import type { Benchmark, Contestant, Requirement } from './measure/benchmark.ts';
import { installed } from './measure/parts/installed.ts';
import { freshPart, sharedPart } from './measure/parts/part.ts';

const [plain, secure] = [`${ours}, HTTP alone`, `${ours}, HTTPS too`];

const large = 'start with @octokit/openapi';

const toAnswer = (contestant: string): Requirement => ({
  group: 'spawn to first answer',
  contestant,
  figure: 'wall',
  beside: 'bare node:http',
  atMost: 2.3,
});

export const benchmark: Benchmark = {
  title: 'Starting a test double',
  about:
    'Every round is a fresh process of `node -e`. Loading: processor time of a process that loads the package and ends, and what of it was spent from before to behind the loading; `node -e 0` loads nothing. Spawn to first answer: from spawning the process until a request that it makes itself is answered, over plain HTTP unless the name says otherwise, and what processor time the process had taken by then. Starting: the processor time from calling what starts to its being ready, of the first in a process that has loaded the package, and in the middle of 9 later ones; Node.js loads modules of its own meanwhile, for a bare server too. A double makes its certificates when the first client comes over TLS, so a start with HTTPS beside HTTP has none of that: asked over HTTPS is until an answer has come that way, and has the costs of the client too. The package is measured from a copy of what a tarball has. The others are what is used in its place; they do much less, and json-server and msw no TLS at all; their loading and their starts by themselves are in the long form alone. And what 200 doubles that are started, asked once and closed leave behind, 1,000 in the long form: how much the heap grew, and how many sockets and timers are left. With a document: the start with that of the GitHub API, which has 1,200 operations, where `npm ci --prefix test` has installed it. Needs `npm run build`; peers take part where `npm ci --prefix bench` has installed them.',
  figures: [
    { key: 'cpu', label: 'CPU time', unit: 'ns' },
    { key: 'first', label: 'of loading, or of the first', unit: 'ns' },
    { key: 'wall', label: 'time of the process', unit: 'ns' },
    { key: 'grown', label: 'heap grew by', unit: 'bytes' },
    { key: 'left', label: 'resources left', unit: 'count' },
  ],
  rounds: 9,
  requirements: [
    { group: 'loading', contestant: plain, figure: 'first', atMost: 40e6 },
    { group: 'starting', contestant: plain, figure: 'first', atMost: 25e6 },
    { group: 'starting', contestant: plain, figure: 'cpu', atMost: 5e6 },
    { group: 'starting', contestant: secure, figure: 'first', atMost: 25e6 },
    { group: 'starting', contestant: secure, figure: 'cpu', atMost: 5e6 },
    { group: 'with a document', contestant: large, figure: 'cpu', atMost: 2e9 },
    toAnswer(plain),
    toAnswer(secure),
  ],
  open(stage) {
    if (!existsSync(join(stage.root, 'dist/cjs/double/index.js'))) return 'dist is not built (npm run build)';
    const rivals = rivalsOf([{ dist: installed(stage) }]);
    const count = String(stage.full ? 1000 : 200);
    const work = { file: 'double-start/part.ts', words: [] };
    const left = freshPart(stage, work, { name: `${count} doubles`, ours: true }, [count]);
    const isInstalled = existsSync(join(stage.root, 'test/node_modules/@octokit/openapi'));
    const document = sharedPart(stage, { file: 'in-process/part.ts', words: [large] });
    const each = (scriptOf: (rival: Rival) => string, of = rivals): Contestant[] =>
      of.map((rival) => ({
        name: rival.name,
        ours: rival.ours,
        warmsUp: 'never',
        measure: async () => absence(stage.root, rival) ?? runScript(stage.root, scriptOf(rival)),
      }));
    const nothing: Contestant = {
      name: 'node -e 0',
      ours: false,
      warmsUp: 'never',
      measure: () => runScript(stage.root, loading({ load: '0' })),
    };
    // The answers of the other contestants include their loading and start.
    const atHome = rivals.filter(({ needs }) => stage.full || needs === undefined);
    // All doubles are loaded in the same way.
    const loaded = atHome.filter(({ name }) => !name.startsWith(ours) || name.startsWith(plain));
    return [
      { name: 'loading', contestants: [nothing, ...each(loading, loaded)] },
      { name: 'spawn to first answer', contestants: each(answering) },
      { name: 'starting', contestants: each(starting, atHome) },
      ...(isInstalled
        ? [{ name: 'with a document', contestants: [document({ name: large, ours: true }, [])] }]
        : []),
      { name: 'what is left', contestants: [left] },
    ];
  },
};
