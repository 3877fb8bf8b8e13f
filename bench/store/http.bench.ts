/** The store behind HTTP. */
import { peersUnderLoad } from '../load/contestants.ts';
import { startOurs } from '../load/countersign.ts';
import { Loader, loadFigures, type Running } from '../load/load.ts';
import { each, plain, type Requests, signed } from '../load/requests.ts';
import type { Benchmark, Contestant, Group, Stage } from '../measure/benchmark.ts';
import { articles } from './articles.ts';

const few = 1_000;
const names = { fsync: 'countersign, fsync', os: 'countersign, os', memory: 'countersign, memory' };
/** json-server writes all of them for each change, so how much slower it is depends on how many there are. */
const several = 10_000;
const jsonServer = `json-server, ${several.toLocaleString('en')} articles`;
const durability = 'signed PUT';

/**
 * How long the rounds of the short form are (ms). A server is warm after four seconds; of what several kinds of requests are
 * asked, each takes less.
 */
const short = { warmUp: 4000, sharedWarmUp: 800, round: 400, ofSlow: 750 };
/** So many requests a second are made ready for a first round; those that are signed take longer to make than to answer. */
const likely = 12_000;

export const benchmark: Benchmark = {
  title: 'The store behind HTTP',
  about:
    'Signed PUTs of an article among 1,000: kept on the medium before the reply, by the system, or in memory alone, beside a PUT of json-server, which is not signed and writes its whole file. Then reading one, a page of the list at its start, middle and end, and the signed PUT, with 1,000 and with 100,000 articles, a million in the long form.',
  figures: loadFigures,
  requirements: [
    { group: durability, contestant: names.fsync, figure: 'rate', beside: names.os, atLeast: 0.75 },
    {
      ...{ group: durability, contestant: names.fsync, figure: 'rate' },
      ...{ beside: jsonServer, atLeast: 100 },
    },
  ],
  async open(stage) {
    const loader = await Loader.start(stage);
    return [await kept(stage, loader), await sized(stage, loader)];
  },
};

async function kept(stage: Stage, loader: Loader): Promise<Group> {
  const put = putTo(few);
  const servers: [string, Running][] = [
    [names.fsync, await startOurs(stage, 'fsync', { durability: 'fsync', count: few })],
    [names.os, await startOurs(stage, 'os', { durability: 'os', count: few })],
    [names.memory, await startOurs(stage, 'memory', { count: few })],
  ];
  const contestants = servers.map(([name, server]) => ours(stage, loader, name, server, put));
  const requests = each(several, (number) => plain('PUT', `/articles/${number}`, 200, [], 'json'));
  const peers = await peersUnderLoad(stage, loader, requests, ['json-server'], {
    ...{ articles: several },
    ...(!stage.full && { warmUp: short.ofSlow, ms: short.ofSlow }),
  });
  contestants.push(...peers.map((peer) => ({ ...peer, name: jsonServer })));
  return { name: durability, contestants };
}

function ours(
  stage: Stage,
  loader: Loader,
  name: string,
  server: Running,
  requests: Requests,
  warmUp = short.warmUp,
): Contestant {
  return {
    ...{ name, ours: true },
    measure(round) {
      const options = stage.full ? {} : { warmUp, ms: short.round };
      return loader.round(server, requests, { ...round, last: round.last ?? { full: likely } }, options);
    },
  };
}

async function sized(stage: Stage, loader: Loader): Promise<Group> {
  const contestants: Contestant[] = [];
  for (const size of [few, stage.full ? 1_000_000 : 100_000]) {
    const server = await startOurs(stage, `sized-${size}`, { durability: 'fsync', count: size });
    const page = (after: number): Requests => plain('GET', `${articles}?after=${after.toString(36)}`, 200);
    const kinds: Readonly<Record<string, Requests>> = {
      'GET of one': each(size, (number) => plain('GET', `${articles}/${number}`, 200)),
      'first page': plain('GET', articles, 200),
      'page from the middle': page(Math.floor(size / 2)),
      'last page': page(size - 50),
      'signed PUT': putTo(size),
    };
    for (const [name, requests] of Object.entries(kinds)) {
      contestants.push({ ...ours(stage, loader, name, server, requests, short.sharedWarmUp), size });
    }
  }
  return { name: 'by the number of articles', sizes: 'articles', contestants };
}

function putTo(count: number): Requests {
  return each(count, (number) => signed('PUT', `${articles}/${number}`, 200, { content: 'xml' }));
}
