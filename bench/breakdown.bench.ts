/** Measures the share of each step in the CPU time of a signed POST. */
import { stepNames } from './breakdown/steps.ts';
import { articles } from './data/articles.ts';
import { Loader, loadFigures, type Running } from './load/client/load.ts';
import { signed } from './load/client/requests.ts';
import { startBare, startOurs } from './load/server/countersign.ts';
import type { Benchmark, Contestant } from './measure/benchmark.ts';
import { sharedRound } from './measure/parts/shared-round.ts';

const whole = 'the whole request';
const [cpu] = loadFigures;

export const benchmark: Benchmark = {
  title: 'Where the time of a signed POST goes',
  about:
    'A server under load with signed POSTs of an article in XML, stored in memory, is sampled five times per millisecond. A sample counts for the innermost function of the server on the stack, so that a hash of Node.js counts for the digest and a system call for the writing. The time of a step is its share of the samples times the CPU time of a request in the same round; the sampling itself increases it by a few percent. The work of Node.js before it calls the server, and that of the kernel, is in framing and outside JavaScript.',
  figures: [{ ...cpu, label: 'CPU time' }],
  async open(stage) {
    const loader = await Loader.start(stage);
    const server = await startOurs(stage, 'breakdown');
    const requests = signed('POST', articles, 201, { content: 'xml' });
    const bare = await startBare(stage, server, requests);
    const profiled = sharedRound(async (round) => {
      await server.part.ask('profile');
      const { cpu: cost = Number.NaN, full = 0 } = await loader.round(server, requests, round);
      const shares = Object.entries(await server.part.ask('steps'));
      return {
        ...Object.fromEntries(shares.map(([name, share]) => [name, share * cost])),
        [whole]: cost,
        full,
      };
    });
    const steps = [whole, ...stepNames].map(
      (name): Contestant => ({
        name,
        ours: true,
        async measure(round) {
          const sample = await profiled(name, round);
          return { cpu: sample[name] ?? 0 };
        },
      }),
    );
    return [{ name: '', contestants: [...steps, unlooked(loader, bare, requests)] }];
  },
};

function unlooked(loader: Loader, bare: Running, requests: Parameters<Loader['round']>[1]): Contestant {
  return {
    name: 'bare node:http, the whole request',
    ours: false,
    measure: (round) => loader.round(bare, requests, round),
  };
}
