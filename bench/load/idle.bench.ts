/** What a connection takes that is kept and says nothing. */
import type { Benchmark, Contestant, Sample } from '../measure/benchmark.ts';
import { sameBytes, startBare, startOurs, target } from './countersign.ts';
import { Loader, type Running, startServer } from './load.ts';
import { plain } from './requests.ts';

/** Fewer than the limit on connections. */
const connections = 900;
const first = 50;
const requests = plain('GET', target, 200);
const ours = 'countersign';

export const benchmark: Benchmark = {
  title: 'Memory of an idle connection',
  about:
    'How much the resident memory of a fresh server grows for each of 900 keep-alive connections on which an article was asked for once and nothing more. The first 50 are left out.',
  figures: [
    { key: 'each', label: 'memory for each', unit: 'bytes' },
    { key: 'heap', label: 'of it in the heap', unit: 'bytes' },
  ],
  requirements: [{ contestant: ours, figure: 'each', atMost: 9000 }],
  async open(stage) {
    const loader = await Loader.start(stage);
    const server = await startOurs(stage, 'idle');
    let started = 0;
    const fresh = (): Promise<Running> => {
      started += 1;
      return startOurs(stage, `idle-${started}`);
    };
    const contestants = [
      contestantOf(loader, sameBytes, () => startBare(stage, server, requests)),
      contestantOf(loader, ours, fresh),
      contestantOf(loader, 'fastify', () => startServer(stage, 'fastify')),
    ];
    return [{ name: '', contestants }];
  },
};

function contestantOf(loader: Loader, name: string, start: () => Promise<Running | string>): Contestant {
  return {
    ...{ name, ours: name === ours, warmsUp: 'never' },
    async measure() {
      const server = await start();
      return typeof server === 'string' ? server : growth(loader, server);
    },
  };
}

async function growth(loader: Loader, server: Running): Promise<Sample> {
  await loader.hold(server, requests, first);
  const before = await server.part.ask('kept');
  await loader.hold(server, requests, connections);
  const after = await server.part.ask('kept');
  await server.part.stop();
  const each = (key: string): number =>
    Math.max(1, ((after[key] ?? 0) - (before[key] ?? 0)) / (connections - first));
  return { each: each('resident'), heap: each('heap') };
}
