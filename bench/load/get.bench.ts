/** Measures GET of an article without credentials. */
import type { Benchmark } from '../measure/benchmark.ts';
import { Loader, loadFigures } from './client/load.ts';
import { plain } from './client/requests.ts';
import { peersUnderLoad, underLoad } from './server/contestants.ts';
import { sameBytes, startBare, startGiven, startOurs, target } from './server/countersign.ts';

const ours = 'countersign';

export const benchmark: Benchmark = {
  title: 'GET of an article',
  about:
    'An article is read from the store and written as XML for each request, over 64 keep-alive connections. For comparison, bare node:http sends the same bytes without reading the request, or `hello world`; other servers find the article and write it as JSON.',
  figures: loadFigures,
  requirements: [
    { contestant: ours, figure: 'cpu', beside: sameBytes, atMost: 1.1 },
    { contestant: ours, figure: 'cpu', beside: 'fastify', atMost: 1.05 },
  ],
  async open(stage) {
    const loader = await Loader.start(stage);
    const requests = plain('GET', target, 200);
    const server = await startOurs(stage, 'get');
    const yardstick = await startBare(stage, server, requests);
    const hello = await startGiven(stage, {
      status: 200,
      fields: ['Content-Length', '11'],
      content: 'hello world',
    });
    const contestants = [
      underLoad(loader, sameBytes, yardstick, requests),
      underLoad(loader, ours, server, requests),
      underLoad(loader, 'bare node:http, hello world', hello, requests),
      ...(await peersUnderLoad(stage, loader, requests, ['fastify', 'hono'])),
    ];
    return [{ name: '', contestants }];
  },
};
