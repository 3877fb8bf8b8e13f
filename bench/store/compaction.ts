/**
 * Writes to a store until it compacts itself, in its own process. Its words are the directory and the number of
 * articles. Orders: `compact`; `lowdb WRITERS` replaces articles of lowdb with several writers for a while; `watch`
 * starts to monitor the event loop of the idle process, and `watched` returns the result.
 */
import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { article, articles } from '../data/articles.ts';
import type { Sample } from '../measure/benchmark.ts';
import type { Answer } from '../measure/parts/part.ts';
import { contestants, openOurs } from './contestants.ts';

/** The size of the journal (bytes) at which a compaction begins, as after a start. */
const compactAt = 16 * 1024 * 1024;
const writers = 64;
/** The duration of writing to lowdb (ms), about that of a compaction. */
const span = 3000;

/** The maximum of each figure (ms), and the number of operations. */
interface Phase {
  stall: number;
  collection: number;
  write: number;
  read: number;
  writes: number;
  /** The duration (ms). */
  elapsed: number;
}

/** Returns the phases before and during the compaction, and the peak resident memory of the process. */
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

/** Returns the peak resident memory of this process (bytes). */
function peak(): number {
  return process.resourceUsage().maxRSS * 1024;
}

/** Writes until a compaction has started and ended. */
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

/** Returns whether the snapshot was replaced. */
function isDone(names: readonly string[]): boolean {
  return names.includes('store.previous.jsonl') && !names.some((name) => name.endsWith('.tmp'));
}
