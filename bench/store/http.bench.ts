/** Measures the store through HTTP. */

import { articles } from '../data/articles.ts';
import { Loader, type LoadOptions, loadFigures } from '../load/client/load.ts';
import { each, plain, signed } from '../load/client/requests.ts';
import { peersUnderLoad, underLoad } from '../load/server/contestants.ts';
import { startOurs } from '../load/server/countersign.ts';
import type { Benchmark, Group, Stage } from '../measure/benchmark.ts';
import { startOver } from './filled.ts';

const names = { fsync: 'countersign, fsync', os: 'countersign, os', memory: 'countersign, memory' };
const jsonServer = 'json-server';
type Durability = keyof typeof names;
const groupName = (count: number): string => `${count.toLocaleString('en')} articles`;

/**
 * The cost of a change in json-server grows with the number of articles, so its rounds are longer with more of them.
 * Where it is slowest, it is as fast with few connections as with many, and has less work left when the next contestant
 * runs.
 */
const sizes: readonly {
  readonly count: number;
  readonly ways: readonly Durability[];
  readonly slow: LoadOptions;
  readonly longFormAlone?: boolean;
}[] = [
  { count: 1000, ways: ['fsync', 'os', 'memory'], slow: { warmUp: 1000, ms: 500, enough: 50 } },
  { count: 10_000, ways: ['fsync'], slow: { warmUp: 1000, ms: 1000, enough: 20 }, longFormAlone: true },
  { count: 100_000, ways: ['fsync'], slow: { warmUp: 500, ms: 1000, enough: 3, connections: 2 } },
];
/** The warm-up of a PUT (ms), which has more code to compile than a GET. */
const ours: LoadOptions = { warmUp: 2000 };

export const benchmark: Benchmark = {
  title: 'The store behind HTTP',
  about:
    'Signed PUTs of random articles over 64 connections, among 1,000 and among 100,000 of them, 10,000 too in the long form: kept on the medium before the reply, and among 1,000 by the system or in memory alone too. Beside it PUTs of json-server, which are not signed, among 100,000 over two connections. It writes all of its file for each change, so that what it does in a second depends on how many articles there are: a ratio is of the number of articles that stands above its table.',
  figures: loadFigures,
  requirements: [
    { group: groupName(1000), contestant: names.fsync, figure: 'rate', beside: names.os, atLeast: 0.75 },
    ...sizes.map(({ count }) => ({
      group: groupName(count),
      contestant: names.fsync,
      figure: 'rate',
      beside: jsonServer,
      atLeast: 100,
    })),
  ],
  async open(stage) {
    const loader = await Loader.start(stage);
    const measured = sizes.filter(({ longFormAlone }) => stage.full || longFormAlone !== true);
    return Promise.all(measured.map((size) => groupOf(stage, loader, size)));
  },
};

async function groupOf(
  stage: Stage,
  loader: Loader,
  { count, ways, slow }: (typeof sizes)[number],
): Promise<Group> {
  const signedPut = each(count, (number) => signed('PUT', `${articles}/${number}`, 200, { content: 'xml' }));
  const put = each(count, (number) => plain('PUT', `${articles}/${number}`, 200, [], 'json'));
  const servers = ways.map(async (way) => {
    const how = way === 'memory' ? {} : { durability: way };
    const filled = way === 'fsync' && count > 1000;
    const server = filled
      ? await startOver(stage, count)
      : await startOurs(stage, `${way}-${count}`, { ...how, count });
    return underLoad(loader, names[way], server, signedPut, ours);
  });
  const { ms: _, ...unhurried } = slow;
  const options = { articles: count, ...(stage.full ? unhurried : slow) };
  const peers = peersUnderLoad(stage, loader, put, [jsonServer], options);
  return { name: groupName(count), contestants: [...(await Promise.all(servers)), ...(await peers)] };
}
