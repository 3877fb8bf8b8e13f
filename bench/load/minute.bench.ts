/** Measures whether memory grows under full load. */
import type { Benchmark, Contestant } from '../measure/benchmark.ts';
import { Loader, loadFigures, type Running } from './client/load.ts';
import { plain, type Requests, signedWrongly } from './client/requests.ts';
import { startOurs, target } from './server/countersign.ts';

const names = { get: 'countersign, GET', refused: 'countersign, refused' };

export const benchmark: Benchmark = {
  title: 'Memory over full load',
  about:
    'The growth of the heap, after garbage collection, in rounds of 0.6 seconds at full load, or twelve seconds in the long form, which is a minute in total. An unexpected response fails the run. Requests with a valid signature are excluded, because their nonces are stored.',
  figures: [{ key: 'grown', label: 'heap grew by', unit: 'bytes' }, ...loadFigures],
  requirements: Object.values(names).map((contestant) => ({ contestant, figure: 'grown', atMost: 500_000 })),
  async open(stage) {
    const loader = await Loader.start(stage);
    const ms = stage.full ? 12_000 : 600;
    const wrong = signedWrongly(target);
    // Each contestant has its own server, so that the memory of one does not affect the other.
    const contestants = [
      contestantOf(loader, names.get, await startOurs(stage, 'get'), plain('GET', target, 200), ms),
      contestantOf(loader, names.refused, await startOurs(stage, 'refused'), wrong, ms),
    ];
    return [{ name: '', contestants }];
  },
};

function contestantOf(
  loader: Loader,
  name: string,
  server: Running,
  requests: Requests,
  ms: number,
): Contestant {
  return {
    name,
    ours: true,
    async measure(round) {
      const before = await server.part.ask('kept');
      const sample = await loader.round(server, requests, round, { ms });
      const after = await server.part.ask('kept');
      return { ...sample, grown: Math.max(1, (after['heap'] ?? 0) - (before['heap'] ?? 0)) };
    },
  };
}
