/** How cost grows with the number of connections. */

import { underLoad } from '../load/contestants.ts';
import { startBare, startOurs, target } from '../load/countersign.ts';
import { Loader, loadFigures } from '../load/load.ts';
import { plain } from '../load/requests.ts';
import type { Benchmark, Contestant } from '../measure/benchmark.ts';

/** Opening thousands of connections takes a part of a round (ms). */
const ms = 1000;
const sizes = [1, 10, 100, 1000, 5000];

export const benchmark: Benchmark = {
  title: 'How cost grows with the number of connections',
  about:
    'GET of an article over so many keep-alive connections, all of them busy; beside it bare node:http replying with the same bytes. The limit on connections is raised for it. Memory is that of the whole process.',
  figures: loadFigures,
  async open(stage) {
    const loader = await Loader.start(stage);
    const requests = plain('GET', target, 200);
    const server = await startOurs(stage, 'connections', { config: { maxConnections: 6000 } });
    const bare = await startBare(stage, server, requests.make(1, 0)[0] ?? '');
    const contestants = sizes.flatMap((connections): Contestant[] => [
      {
        ...underLoad(loader, 'countersign', server, requests, { connections, ms }),
        size: connections,
      },
      {
        ...underLoad(loader, 'bare node:http, the same bytes', bare, requests, { connections, ms }),
        size: connections,
      },
    ]);
    return [{ name: '', sizes: 'connections', yardstick: 'bare node:http, the same bytes', contestants }];
  },
};
