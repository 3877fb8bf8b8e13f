/** Starts many test doubles in one process and measures the remaining resources. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Sample } from '../measure/benchmark.ts';
import type { Answer } from '../measure/parts/part.ts';

type Library = typeof import('../../src/double/index.ts');

const library = join(import.meta.dirname, '../../dist/cjs/double/index.js');
const load = (): Library => createRequire(import.meta.url)(library);

/**
 * Starts, calls and closes `count` doubles. Returns the growth of the heap (bytes) and the number of remaining
 * resources.
 */
export function part(): Answer {
  return (count) => many(Number(count));
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
