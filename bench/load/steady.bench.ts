/** Measures response times at 70 % of the maximum rate of each server. */

import { articles } from '../data/articles.ts';
import type { Benchmark } from '../measure/benchmark.ts';
import { Loader, loadFigures } from './client/load.ts';
import { plain, signed } from './client/requests.ts';
import { peersUnderLoad, underLoad } from './server/contestants.ts';
import { startBare, startOurs, target } from './server/countersign.ts';

const ours = 'countersign, signed GET';
const [cpu, ...others] = loadFigures;
const rest = others.filter(({ key }) => key !== 'p999');

export const benchmark: Benchmark = {
  title: 'Latency at 70 % of full load',
  about:
    'Each server is first loaded fully, then at 70 % of what it reached, at even distances and whether or not replies come; the time of a reply counts from when its request was due, so that a pause shows in all that it held up. The first quarter of a second, in which the connections are new, is not counted. The long form has GETs and POSTs that need neither a signature nor the disk, too. Drawn is p99.9, the one in a thousand.',
  figures: [{ key: 'p999', label: 'p99.9', unit: 'ns' }, cpu, ...rest],
  requirements: [{ contestant: ours, figure: 'p999', atMost: 30e6 }],
  async open(stage) {
    const loader = await Loader.start(stage);
    const part = { part: 0.7, ...(!stage.full && { ms: 300 }) };
    const get = plain('GET', target, 200);
    const [server, synced] = await Promise.all([
      startOurs(stage, 'steady'),
      startOurs(stage, 'synced', { durability: 'fsync' }),
    ]);
    const yardstick = await startBare(stage, server, get);
    const post = signed('POST', articles, 201, { content: 'xml' });
    const more = [
      underLoad(loader, 'countersign, GET', server, get, part),
      underLoad(loader, 'countersign, signed POST', server, post, part),
    ];
    const contestants = [
      underLoad(loader, 'bare node:http, GET', yardstick, get, part),
      underLoad(loader, ours, server, signed('GET', target, 200), part),
      underLoad(loader, 'countersign, signed POST, fsync', synced, post, part),
      ...(await peersUnderLoad(stage, loader, get, ['fastify'], part)),
      ...(stage.full ? more : []),
    ];
    return [{ name: '', contestants }];
  },
};
