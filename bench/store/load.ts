/**
 * Reads a snapshot in its own process. The order is `start` or `plain`; the words are its path and the number of
 * articles.
 */
import { readFileSync, statSync } from 'node:fs';
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
  const before = measureHeld();
  const sample = timed(() => {
    value = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  });
  const resident = process.memoryUsage.rss();
  const held = measureHeld() - before;
  if (value === undefined) throw new Error('nothing was kept');
  return { ...sample, resident, held: held / Buffer.byteLength(text) };
}

/** Returns the bytes of the heap and of all buffers after garbage collection. */
function measureHeld(): number {
  for (let round = 0; round < 3; round += 1) globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Includes the reading of the file. `read` is the cost of the first read of an article. */
async function start(path: string, count: number): Promise<Sample> {
  const before = measureHeld();
  let snapshot: Awaited<ReturnType<typeof readSnapshot>> | undefined;
  const sample = await timedAsync(async () => {
    snapshot = await readSnapshot(nodeDisk, path);
  });
  const resident = process.memoryUsage.rss();
  const held = (measureHeld() - before) / statSync(path).size;
  const state = snapshot?.state;
  if (state?.collection(articles)?.count !== count) throw new Error('not all was loaded');
  const { cpu: read = 0 } = timed(() => {
    for (let number = 0; number < 1000; number += 1) {
      state.read(articles, String(1 + ((number * 7919) % count)));
    }
  }, 1000);
  return { ...sample, resident, held, read };
}
