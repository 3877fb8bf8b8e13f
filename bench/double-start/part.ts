/** Test doubles as a package's user has them, in a process of their own: `once` measures one, `many COUNT` what many leave behind. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Sample } from '../measure/benchmark.ts';
import type { Answer } from '../measure/part.ts';
import { quantile } from '../measure/statistics.ts';
import { timedAsync } from '../measure/timing.ts';

type Library = typeof import('../../src/double/index.ts');

const library = join(import.meta.dirname, '../../dist/cjs/double/index.js');
const load = (): Library => createRequire(import.meta.url)(library);
const cost = async (work: () => unknown): Promise<number> =>
  (await timedAsync(async () => work()))['cpu'] ?? 0;

/** Gives CPU times (ns) by what was done, or growth of the heap (bytes) and resources that are left. */
export function part(): Answer {
  return (order, count) => (order === 'many' ? many(Number(count)) : one());
}

async function one(): Promise<Sample> {
  const loading = await cost(load);
  const { startDouble } = load();
  const start = (https: boolean) => startDouble({ users: ['ann'], https });
  const plain = await cost(async () => (await start(false)).close());
  const secure = await cost(async () => (await start(true)).close());
  return {
    'loading the package': loading,
    'the first one, HTTP alone': plain,
    'the first one, HTTPS too': secure,
    'a later one, HTTP alone': await middle(async () => (await start(false)).close()),
    'a later one, HTTPS too': await middle(async () => (await start(true)).close()),
  };
}

/** Of so many, in the middle. */
async function middle(work: () => Promise<unknown>, times = 30): Promise<number> {
  const costs: number[] = [];
  for (let count = 0; count < times; count += 1) costs.push(await cost(work));
  return quantile(costs, 0.5);
}

async function many(count: number): Promise<Sample> {
  const { startDouble } = load();
  const round = async (times: number): Promise<number> => {
    for (let at = 0; at < times; at += 1) {
      const double = await startDouble({ users: ['ann'] });
      await double.as('ann').fetch('/articles');
      await double.close();
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    globalThis.gc?.();
    return process.memoryUsage().heapUsed;
  };
  await round(50);
  const before = await round(50);
  const grown = (await round(count)) - before;
  const left = process.getActiveResourcesInfo().filter((name) => /TCP|Timer|TLS/.test(name)).length;
  return { grown: Math.max(1, grown), left };
}
