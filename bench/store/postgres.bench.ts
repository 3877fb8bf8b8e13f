/** Measures signed requests over PostgreSQL, with one and with several processes. */

import { availableParallelism } from 'node:os';
import { articles } from '../data/articles.ts';
import { Loader, type LoadOptions, loadFigures, type Running } from '../load/client/load.ts';
import { each, type Requests, signed } from '../load/client/requests.ts';
import { underLoad } from '../load/server/contestants.ts';
import { startOurs } from '../load/server/countersign.ts';
import type { Benchmark, Contestant, Requirement, Stage } from '../measure/benchmark.ts';
import { type Postgres, startOverPostgres, startPostgres, together } from './processes.ts';

const count = 1000;
const [one, two, three] = [1, 2, 3].map((number) => `countersign, ${number} over PostgreSQL`);
const embedded = 'countersign, embedded';

/** Three processes, the database and the client need a core each, so that more processes can be faster. */
const hasCores = availableParallelism() >= 4;
const scaling: Requirement = {
  group: 'PUT',
  contestant: three ?? '',
  figure: 'rate',
  beside: one ?? '',
  atLeast: 1.7,
};

export const benchmark: Benchmark = {
  title: 'Several processes over PostgreSQL',
  about:
    'Signed PUTs, in the long form GETs too, of random articles among 1,000, in JSON, over 64 connections, each with its own nonce. One, two and three processes use one PostgreSQL with `synchronous_commit=on`; the connections are spread over them. Beside them, the embedded store with a sync for all waiting writes. Servers, database and client share the cores of the machine: with fewer than four, more processes cannot be faster, and CPU per request shows what they cost. The CPU of the database is that of all its processes, per request.',
  figures: [...loadFigures, { key: 'database', label: 'CPU of the database', unit: 'ns' }],
  requirements: hasCores ? [scaling] : [],
  async open(stage) {
    const postgres = await startPostgres(stage);
    if (typeof postgres === 'string') return postgres;
    const loader = await Loader.start(stage);
    const servers = await startServers(stage, postgres);
    const options = { warmUp: 1000, ...(stage.full ? {} : { ms: 400 }) };
    const group = (name: string, requests: () => Requests) => ({
      name,
      yardstick: embedded,
      // Each has its own requests, because those over the same database have the same nonces.
      contestants: servers.map(([who, server]) =>
        withDatabase(postgres, underLoad(loader, who, server, requests(), options satisfies LoadOptions)),
      ),
    });
    const target = (number: number): string => `${articles}/${number}`;
    const put = group('PUT', () =>
      each(count, (number) => signed('PUT', target(number), 200, { content: 'json' })),
    );
    const get = group('GET', () => each(count, (number) => signed('GET', target(number), 200, jsonOnly)));
    return stage.full ? [put, get] : [put];
  },
};

const jsonOnly = { lines: ['Accept: application/json'] };

async function startServers(
  stage: Stage,
  postgres: Postgres,
): Promise<readonly (readonly [string, Running])[]> {
  const ours = await startOverPostgres(stage, postgres, 3, count);
  const alone = await startOurs(stage, 'embedded', { durability: 'fsync', count });
  return [
    ...[one, two, three].map((name, index) => [name ?? '', together(ours.slice(0, index + 1))] as const),
    [embedded, together([alone])],
  ];
}

/** Adds the CPU time of the database per request. */
function withDatabase(postgres: Postgres, contestant: Contestant): Contestant {
  return {
    ...contestant,
    async measure(round) {
      const before = postgres.cpu();
      const sample = await contestant.measure(round);
      if (typeof sample === 'string') return sample;
      return { ...sample, database: (postgres.cpu() - before) / (sample['count'] ?? Number.NaN) };
    },
  };
}
