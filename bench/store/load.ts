/**
 * Reads a snapshot in its own process. The order is `start` or `plain`; the words are its path and the number of
 * articles.
 */
import { readFileSync } from 'node:fs';
import { nodeDisk } from '../../src/store/files/disk.ts';
import { readSnapshot } from '../../src/store/snapshot/reader.ts';
import { articles } from '../data/articles.ts';
import type { Sample } from '../measure/benchmark.ts';
import type { Answer } from '../measure/parts/part.ts';
import { timed, timedAsync } from '../measure/timing.ts';

/** Returns the time and the resident memory afterwards. */
export function part(path = '', size = ''): Answer {
  return (order) => (order === 'plain' ? plain(path) : start(path, Number(size)));
}

/** Does not include the reading of the file. */
function plain(path: string): Sample {
  const text = readFileSync(path, 'utf8');
  let value: unknown;
  const sample = timed(() => {
    value = JSON.parse(text);
  });
  if (value === undefined) throw new Error('nothing was parsed');
  return { ...sample, resident: process.memoryUsage.rss() };
}

/** Includes the reading of the file. `read` is the cost of the first read of an article. */
async function start(path: string, count: number): Promise<Sample> {
  let snapshot: Awaited<ReturnType<typeof readSnapshot>> | undefined;
  const sample = await timedAsync(async () => {
    snapshot = await readSnapshot(nodeDisk, path);
  });
  const resident = process.memoryUsage.rss();
  const state = snapshot?.state;
  if (state?.collection(articles)?.count !== count) throw new Error('not all was loaded');
  const { cpu: read = 0 } = timed(() => {
    for (let number = 0; number < 1000; number += 1) {
      state.read(articles, String(1 + ((number * 7919) % count)));
    }
  }, 1000);
  return { ...sample, resident, read };
}
