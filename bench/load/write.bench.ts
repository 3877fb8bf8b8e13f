/** Measures signed POST and PUT of an article in XML, which is validated and stored. */

import { articles } from '../data/articles.ts';
import type { Benchmark } from '../measure/benchmark.ts';
import { Loader, type LoadOptions, loadFigures } from './client/load.ts';
import { plain, type Requests, secret, signed } from './client/requests.ts';
import { peersUnderLoad, underLoad } from './server/contestants.ts';
import { byHand, sameBytes, startBare, startOurs, target } from './server/countersign.ts';

const memory = 'countersign, memory';
export const benchmark: Benchmark = {
  title: 'POST and PUT of an article, signed',
  about:
    'An article in XML, signed with a nonce: verified, parsed, validated, stored and returned; in memory, and on disk with one sync for all waiting writes before the response. Bare node:http reads what is sent to its end and replies with the same bytes; verified by hand, it checks time, MAC and nonce, and still parses and stores nothing. The peers take JSON from anybody, keep it in memory and reply with it. The long form has hono too.',
  figures: loadFigures,
  requirements: [
    { group: 'POST', contestant: memory, figure: 'cpu', beside: sameBytes, atMost: 1.6 },
    { group: 'POST', contestant: memory, figure: 'cpu', beside: 'fastify', atMost: 1.05 },
  ],
  async open(stage) {
    const loader = await Loader.start(stage);
    // A shorter round might not include a garbage collection.
    const rounds = stage.full ? {} : { ms: 350 };
    const shorter = stage.full ? {} : { ms: 250 };
    // A POST has more code to compile.
    const longer = { warmUp: 2000 };
    const [inMemory, synced] = await Promise.all([
      startOurs(stage, 'memory'),
      startOurs(stage, 'synced', { durability: 'fsync' }),
    ]);
    const post = signed('POST', articles, 201, { content: 'xml' });
    const put = signed('PUT', target, 200, { content: 'xml', lines: ['Prefer: return=representation'] });
    const bareAndOurs = async (requests: Requests, options: LoadOptions, warmUp: LoadOptions = {}) => [
      underLoad(loader, sameBytes, await startBare(stage, inMemory, requests), requests, options),
      underLoad(loader, byHand, await startBare(stage, inMemory, requests, { secret }), requests, options),
      underLoad(loader, memory, inMemory, requests, { ...options, ...warmUp }),
      underLoad(loader, 'countersign, fsync', synced, requests, { ...options, ...warmUp }),
    ];
    const json = plain('POST', articles, 201, [], 'json');
    const peers = await peersUnderLoad(
      stage,
      loader,
      json,
      ['fastify', ...(stage.full ? ['hono'] : [])],
      rounds,
    );
    return [
      { name: 'POST', contestants: [...(await bareAndOurs(post, rounds, longer)), ...peers] },
      { name: 'PUT', contestants: await bareAndOurs(put, shorter) },
    ];
  },
};
