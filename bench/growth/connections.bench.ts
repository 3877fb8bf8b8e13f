/** Measures how the cost grows with the number of connections. */

import { Loader, loadFigures } from '../load/client/load.ts';
import { plain } from '../load/client/requests.ts';
import { underLoad } from '../load/server/contestants.ts';
import { sameBytes, startBare, startOurs, target } from '../load/server/countersign.ts';
import type { Benchmark, Contestant } from '../measure/benchmark.ts';

/** The warm-up time (ms). One server is used for all sizes, and is warm after the first, which is the largest. */
const warmUps = { largest: 1000, others: 300 };
/** The numbers of connections. Opening the largest number takes a second. */
const sizes = { short: [1, 1000], full: [1, 10, 100, 1000, 5000] };
/** The duration of a round (ms), of which opening a thousand connections takes a part. */
const lengthOf = (connections: number): { readonly ms?: number } => (connections < 1000 ? {} : { ms: 700 });

export const benchmark: Benchmark = {
  title: 'How cost grows with the number of connections',
  about:
    'GET of an article over this number of keep-alive connections, up to 5,000 in the long form, all of them busy, compared with bare node:http that sends the same bytes. The limit on connections is increased. Memory is that of the whole process.',
  figures: loadFigures,
  async open(stage) {
    const loader = await Loader.start(stage);
    const requests = plain('GET', target, 200);
    const server = await startOurs(stage, 'connections', { config: { maxConnections: 6000 } });
    const bare = await startBare(stage, server, requests);
    const contestants = sizes[stage.full ? 'full' : 'short'].flatMap((size, index, all): Contestant[] => {
      const warmUp = index === all.length - 1 ? warmUps.largest : warmUps.others;
      const options = { connections: size, warmUp, ...(!stage.full && lengthOf(size)) };
      return [
        { ...underLoad(loader, 'countersign', server, requests, options), size },
        { ...underLoad(loader, sameBytes, bare, requests, options), size },
      ];
    });
    return [{ name: '', sizes: 'connections', yardstick: sameBytes, contestants }];
  },
};
