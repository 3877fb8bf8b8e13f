/**
 * Writes to a store until it compacts itself, in a process of its own. Words: the directory, how many articles it has. Orders:
 * `compact`; `lowdb WRITERS` for so many writers who replace articles of lowdb for a while; `watch` has the event loop looked at
 * while nothing else is done, and `watched` tells of it.
 */
import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { article, articles } from '../data/articles.ts';
import type { Sample } from '../measure/benchmark.ts';
import type { Answer } from '../measure/parts/part.ts';
import { contestants, openOurs } from './contestants.ts';

/** A compaction begins when the journal has so many bytes, as it does by itself after a start. */
const compactAt = 16 * 1024 * 1024;
const writers = 64;
/** For how long lowdb is written to (ms), about as long as ours is. */
const span = 3000;

/** The longest of each (ms), and how much there was. */
interface Phase {
  stall: number;
  collection: number;
  write: number;
  read: number;
  writes: number;
  /** How long it took (ms). */
  elapsed: number;
}

/** Gives the phase before the compaction and the one during it, and the most resident memory the process ever had. */
export function part(directory = '', size = ''): Answer {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  return async (order, count) => {
    if (order === 'lowdb') return lowdb(directory, Number(size), Number(count));
    if (order === 'watch') delay.enable();
    if (order === 'watched') delay.disable();
    if (order.startsWith('watch')) return { stall: delay.max };
    const { before, during } = await compact(directory, Number(size));
    return { ...named('before', before), ...named('during', during), peak: peak() };
  };
}

async function lowdb(directory: string, size: number, count: number): Promise<Sample> {
  const opened = await contestants.get('lowdb')?.open(directory, size);
  if (opened === undefined) throw new Error('there is no lowdb');
  let writes = 0;
  const begun = performance.now();
  const isOver = (): boolean => writes > 0 && (count === 1 || performance.now() - begun >= span);
  const writer = async (): Promise<void> => {
    for (;;) {
      await pause(1); // so that the time is looked at between two of them
      if (isOver()) return;
      writes += 1;
      await opened.write(Math.floor(Math.random() * size), article(0, writes));
    }
  };
  await Promise.all(Array.from({ length: count }, writer));
  return { rate: (writes / (performance.now() - begun)) * 1000, peak: peak() };
}

function named(name: string, { stall, collection, write, read, writes, elapsed }: Phase): Sample {
  const times = Object.entries({ stall, collection, write, read });
  const figures = times.map(([key, ms]) => [`${name} ${key}`, ms * 1e6]);
  return { ...Object.fromEntries(figures), [`${name} rate`]: (writes / elapsed) * 1000 };
}

/** The most resident memory this process ever had (bytes). */
function peak(): number {
  return process.resourceUsage().maxRSS * 1024;
}

/** Writes until a compaction was begun and is over. */
async function compact(directory: string, size: number): Promise<{ before: Phase; during: Phase }> {
  const store = await openOurs(directory, 'fsync', compactAt);
  const revisions = new Float64Array(size);
  for (let number = 0; number < size; number += 1) {
    revisions[number] = (await store.read(articles, String(number + 1)))?.revision ?? 0;
  }
  const before = newPhase();
  const during = newPhase();
  let phase = before;
  let ended = false;
  const collections = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) phase.collection = Math.max(phase.collection, duration);
  });
  collections.observe({ entryTypes: ['gc'] });
  const busy = new Uint8Array(size);
  const writer = async (): Promise<void> => {
    while (!ended) {
      const number = Math.floor(Math.random() * size);
      if (busy[number] === 1) continue;
      busy[number] = 1;
      const begun = performance.now();
      const value = article(number, phase.writes);
      const at = performance.timeOrigin + begun;
      const expected = revisions[number] ?? 0;
      const id = String(number + 1);
      const applied = await store.apply({ kind: 'put', collection: articles, id, expected, value, at });
      if (!applied.applied) throw new Error(`article ${id} was changed by somebody else`);
      revisions[number] = applied.entry.revision;
      busy[number] = 0;
      phase.write = Math.max(phase.write, performance.now() - begun);
      phase.writes += 1;
    }
  };
  const reader = async (): Promise<void> => {
    while (!ended) {
      await pause(1);
      const begun = performance.now();
      await store.read(articles, String(1 + Math.floor(Math.random() * size)));
      await store.list(articles, Math.floor(Math.random() * size), 50);
      phase.read = Math.max(phase.read, performance.now() - begun);
    }
  };
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const watcher = async (): Promise<void> => {
    phase = await timed(
      before,
      () => until(() => readdirSync(directory).includes('journal-2.jsonl')),
      during,
    );
    await timed(during, () => until(() => isDone(readdirSync(directory))), during);
    ended = true;
  };
  const timed = async (current: Phase, work: () => Promise<void>, next: Phase): Promise<Phase> => {
    delay.reset();
    delay.enable();
    const begun = performance.now();
    await work();
    current.elapsed = performance.now() - begun;
    current.stall = delay.max / 1e6;
    return next;
  };
  await Promise.all([watcher(), reader(), ...Array.from({ length: writers }, writer)]);
  delay.disable();
  collections.disconnect();
  await store.close();
  return { before, during };
}

function newPhase(): Phase {
  return { stall: 0, collection: 0, write: 0, read: 0, writes: 0, elapsed: 0 };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(5);
}

/** Whether a new snapshot stands in the place of the one before. */
function isDone(names: readonly string[]): boolean {
  return names.includes('store.previous.json') && !names.some((name) => name.endsWith('.tmp'));
}
