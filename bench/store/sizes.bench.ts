/** Compares response times with many and with few articles. */

import { articles } from '../data/articles.ts';
import { Loader, loadFigures } from '../load/client/load.ts';
import { each, plain, type Requests, signed } from '../load/client/requests.ts';
import { underLoad } from '../load/server/contestants.ts';
import type { Benchmark, Requirement } from '../measure/benchmark.ts';
import { startOver } from './filled.ts';

const few = 1000;
const many = { short: 100_000, full: 1_000_000 };
const nameOf = (count: number): string => `${count.toLocaleString('en')} articles`;

/** The duration of a round (ms), so that a hundredth of its responses are more than one or two. */
const ms = 350;

/** The requests and their rates per second, far below the capacity of a slow machine. */
const kinds: Readonly<Record<string, { readonly rate: number; of(count: number): Requests }>> = {
  'GET by id': {
    rate: 1000,
    of: (count) => each(count, (number) => plain('GET', `${articles}/${number}`, 200)),
  },
  'page of 50 at any depth': {
    rate: 250,
    of: (count) => each(count - 50, (number) => plain('GET', pageAfter(number), 200)),
  },
  'signed PUT': {
    rate: 250,
    of: (count) => each(count, (number) => signed('PUT', `${articles}/${number}`, 200, { content: 'xml' })),
  },
};

const pageAfter = (number: number): string => `${articles}?limit=50&after=${number.toString(36)}`;

const [cpu, ...others] = loadFigures;
const shown = others.filter(({ key }) => key === 'p50' || key === 'resident');

export const benchmark: Benchmark = {
  title: 'A store of many articles beside one of few',
  about:
    'The command over a data directory with 1,000 articles and with 100,000, a million in the long form, started over what a compaction leaves; every write is on the medium before its reply. Over 64 connections that are kept comes what both carry with ease, at even distances and whether or not replies come: 1,000 GETs of random articles a second, 250 pages of 50 from random places, 250 signed PUTs of random articles. An article is parsed when it is first read, so that pages of many articles that nobody has read cost more. The time of a reply counts from when its request was due. Drawn is p99.',
  figures: [{ key: 'p99', label: 'p99', unit: 'ns' }, ...shown, cpu],
  requirements: Object.keys(kinds).flatMap((group) =>
    [many.short, many.full].map(
      (count): Requirement => ({
        group,
        contestant: nameOf(count),
        figure: 'p99',
        beside: nameOf(few),
        atMost: 2,
      }),
    ),
  ),
  async open(stage) {
    const loader = await Loader.start(stage);
    const sizes = [few, stage.full ? many.full : many.short];
    const servers = await Promise.all(
      sizes.map(async (count) => ({ count, server: await startOver(stage, count) })),
    );
    return Object.entries(kinds).map(([name, { rate, of }]) => ({
      name,
      contestants: servers.map(({ count, server }) => ({
        ...underLoad(loader, nameOf(count), server, of(count), { rate, ...(!stage.full && { ms }) }),
        ours: true,
      })),
    }));
  },
};
