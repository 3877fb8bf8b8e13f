/**
 * Holds a store in its own process. Its words are its name, its directory and the number of articles. Orders: `fill`
 * creates the store, `open` opens it, `write WRITERS MS` replaces random articles, `size` returns its size. Throws if
 * the package is not installed.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { article } from '../data/articles.ts';
import type { Sample } from '../measure/benchmark.ts';
import type { Answer } from '../measure/parts/part.ts';
import { quantile } from '../measure/results/statistics.ts';
import { contestants, type Opened } from './contestants.ts';

/** Creates the contestant with this name. */
export function part(name = '', directory = '', size = ''): Answer {
  const count = Number(size);
  const contestant = contestants.get(name);
  if (contestant === undefined) throw new RangeError(`there is no store called ${name}`);
  let opened: Opened | undefined;
  return async (order, writers, ms) => {
    if (order === 'fill') await contestant.fill(directory, count);
    if (order === 'open') opened = await contestant.open(directory, count);
    if (order === 'size') return { disk: bytesIn(directory), resident: resident() };
    return order === 'write' && opened !== undefined ? write(opened, count, Number(writers), Number(ms)) : {};
  };
}

/** Each writer replaces an article that no other one is replacing, waits for the acknowledgement, and continues. */
async function write(opened: Opened, count: number, writers: number, span: number): Promise<Sample> {
  const latencies: number[] = [];
  const busy = new Uint8Array(count);
  let edition = 0;
  const cpu = process.cpuUsage();
  const begun = performance.now();
  const end = begun + span;
  const writer = async (): Promise<void> => {
    let number = 0;
    for (let start = begun; start < end; ) {
      do number = Math.floor(Math.random() * count);
      while (busy[number] === 1);
      busy[number] = 1;
      edition += 1;
      await opened.write(number, article(number, edition));
      busy[number] = 0;
      const now = performance.now();
      latencies.push(now - start);
      start = now;
    }
  };
  await Promise.all(Array.from({ length: writers }, writer));
  const elapsed = performance.now() - begun;
  const { user, system } = process.cpuUsage(cpu);
  const writes = latencies.length;
  const at = (part: number): number => quantile(latencies, part) * 1e6;
  return {
    rate: (writes / elapsed) * 1000,
    cpu: ((user + system) * 1000) / writes,
    p50: at(0.5),
    p99: at(0.99),
  };
}

/** Returns the disk space of the files. */
function bytesIn(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((path) => statSync(join(directory, path)))
    .filter((stats) => stats.isFile())
    .reduce((sum, { blocks }) => sum + blocks * 512, 0);
}

/** Returns the heap after garbage collection (bytes). */
function resident(): number {
  for (let round = 0; round < 3; round += 1) globalThis.gc?.();
  return process.memoryUsage.rss();
}
