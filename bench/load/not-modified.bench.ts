/** Measures a conditional GET of an unchanged article: 304. */
import type { Benchmark } from '../measure/benchmark.ts';
import { Loader, loadFigures } from './client/load.ts';
import { plain } from './client/requests.ts';
import { peersUnderLoad, underLoad } from './server/contestants.ts';
import { entityTagOf, sameBytes, startBare, startOurs, target } from './server/countersign.ts';

const ours = 'countersign';

export const benchmark: Benchmark = {
  title: '304 Not Modified',
  about:
    'If-None-Match with the entity tag that the article has. Ours finds the article and compares; bare node:http replies 304 with the same fields to everything; the peers compare with a tag that stands ready. The long form has hono and koa too, and express, which writes the reply and hashes it.',
  figures: loadFigures,
  shortRounds: 9,
  requirements: [
    { contestant: ours, figure: 'cpu', beside: sameBytes, atMost: 1 },
    { contestant: ours, figure: 'cpu', beside: 'fastify', atMost: 1.05 },
  ],
  async open(stage) {
    const loader = await Loader.start(stage);
    const server = await startOurs(stage, 'not-modified');
    const conditional = (tag: string) => plain('GET', target, 304, [`If-None-Match: ${tag}`]);
    const requests = conditional(await entityTagOf(server));
    const yardstick = await startBare(stage, server, requests);
    const contestants = [
      underLoad(loader, sameBytes, yardstick, requests),
      underLoad(loader, ours, server, requests),
      ...(await peersUnderLoad(stage, loader, conditional('"1"'), [
        'fastify',
        ...(stage.full ? ['hono', 'koa'] : []),
      ])),
      ...(await peersUnderLoad(stage, loader, conditional('*'), stage.full ? ['express'] : [])),
    ];
    return [{ name: '', contestants }];
  },
};
