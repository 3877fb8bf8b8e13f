/** Measures the memory of an idle connection. */
import type { Benchmark, Contestant, Sample } from '../measure/benchmark.ts';
import { Loader, type Running, startServer } from './client/load.ts';
import { plain } from './client/requests.ts';
import { sameBytes, startBare, startOurs, target } from './server/countersign.ts';

const first = 300;
const last = 1500;
/** The duration of the warm-up (ms): some thousand requests, so that code is compiled and the heap has grown. */
const warmUp = 300;
const requests = plain('GET', target, 200);
const ours = 'countersign';

export const benchmark: Benchmark = {
  title: 'Memory of an idle connection',
  about:
    'How much the resident memory of a server grows for each keep-alive connection on which an article was asked for once and nothing more: from 300 connections to 1,500, 50 of them at a time, in a fresh process that has answered requests over 64 connections for a while. Garbage is collected before each look. The young generation of the heap is left out: V8 gives it room after how much was made between two collections, up to some tens of megabytes, and not after how many connections rest; with it is the last column. The limit on connections is raised for it. The long form has fastify too.',
  figures: [
    { key: 'each', label: 'memory for each', unit: 'bytes' },
    { key: 'heap', label: 'of it in the heap', unit: 'bytes' },
    { key: 'whole', label: 'with the young generation', unit: 'bytes' },
  ],
  requirements: [{ contestant: ours, figure: 'each', atMost: 9000 }],
  async open(stage) {
    const loader = await Loader.start(stage);
    const server = await startOurs(stage, 'idle');
    let started = 0;
    const fresh = (): Promise<Running> => {
      started += 1;
      return startOurs(stage, `idle-${started}`, { config: { maxConnections: 2 * last } });
    };
    const contestants = [
      contestantOf(loader, sameBytes, () => startBare(stage, server, requests)),
      contestantOf(loader, ours, fresh),
      ...(stage.full ? [contestantOf(loader, 'fastify', () => startServer(stage, 'fastify'))] : []),
    ];
    return [{ name: '', contestants }];
  },
};

function contestantOf(loader: Loader, name: string, start: () => Promise<Running | string>): Contestant {
  return {
    name,
    ours: name === ours,
    warmsUp: 'never',
    async measure() {
      const server = await start();
      return typeof server === 'string' ? server : growth(loader, server);
    },
  };
}

/**
 * The second measurement uses more connections than were ever open, so that each one needs new memory. Otherwise the
 * allocator would reuse the memory of closed connections, and a connection would seem to cost nothing.
 */
async function growth(loader: Loader, server: Running): Promise<Sample> {
  await loader.round(server, requests, { warmUp: true, last: undefined }, { warmUp });
  const look = async (connections: number): Promise<Sample> => {
    await loader.hold(server, requests, connections);
    return server.part.ask('kept');
  };
  const before = await look(first);
  const after = await look(last);
  await server.part.stop();
  const grown = (key: string): number => (after[key] ?? 0) - (before[key] ?? 0);
  const each = (bytes: number): number => Math.max(1, bytes / (last - first));
  const [resident, young, heap] = [grown('resident'), grown('young'), grown('heap')];
  return { each: each(resident - young), heap: each(heap), whole: each(resident) };
}
