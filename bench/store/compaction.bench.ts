/**
 * What a compaction costs those who are served meanwhile: the longest stall of the event loop, the slowest write and the
 * slowest read while a million articles are copied under 64 writers, beside the same before the copy began; and the most
 * memory the process ever had, from its start, beside that of lowdb, which holds the whole file as one text. Every
 * article was asked for once before, which takes the most memory. Each store has a process of its own.
 * Run: npm run bench -- compaction, or node --import tsx bench/store/compaction.bench.ts [--size 1000000] [--writers 64]
 * [--directory DIR], which must be on the disk in question.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { article, articles } from './articles.ts';
import { contestants, openOurs } from './contestants.ts';
import { judge, table } from './figures.ts';

/** A compaction begins when the journal has so many bytes. */
const compactAt = 24 * 1024 * 1024;

const { values: given } = parseArgs({
  options: {
    size: { type: 'string', default: '1000000' },
    writers: { type: 'string', default: '64' },
    directory: { type: 'string', default: tmpdir() },
    /** For a process that this one starts: which part it takes. */
    part: { type: 'string' },
  },
});
const size = Number(given.size);
const writers = Number(given.writers);

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

/** What a process tells at its end. */
interface Told {
  /** The most resident memory it ever had (bytes). */
  readonly peak: number;
  readonly before?: Phase;
  readonly during?: Phase;
}

if (given.part === 'fill ours') {
  await contestants.get('countersign')?.fill(given.directory, size);
} else if (given.part === 'fill lowdb') {
  await contestants.get('lowdb')?.fill(given.directory, size);
} else if (given.part === 'ours') {
  tellParent(await compact(given.directory));
} else if (given.part === 'lowdb') {
  const opened = await contestants.get('lowdb')?.open(given.directory, size);
  await opened?.write(0, article(0, 1));
  tellParent({});
} else {
  await compare();
}

function tellParent(phases: Omit<Told, 'peak'>): void {
  const told: Told = { peak: process.resourceUsage().maxRSS * 1024, ...phases };
  process.send?.(told);
}

async function compare(): Promise<void> {
  const scratch = mkdtempSync(join(given.directory, 'countersign-bench-'));
  const load = (): string => (loadavg()[0] ?? 0).toFixed(1);
  console.log(
    `${size.toLocaleString('en')} articles, ${writers} writers, Node ${process.version}, load average before ${load()}`,
  );
  try {
    const ours = await measured(scratch, 'ours');
    const lowdb = existsSync(join(import.meta.dirname, '../node_modules/lowdb'))
      ? await measured(scratch, 'lowdb')
      : undefined;
    console.log(`load average after ${load()}`);
    tell(ours, lowdb);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

async function measured(scratch: string, name: 'ours' | 'lowdb'): Promise<Told> {
  const directory = join(scratch, name);
  mkdirSync(directory);
  await part(`fill ${name}`, directory);
  const told = await part(name, directory);
  if (told === undefined) throw new Error(`${name} ended before it was measured`);
  return told;
}

/** Has a part taken by a process of its own; gives what it tells. */
async function part(name: string, directory: string): Promise<Told | undefined> {
  const sizes = ['--size', String(size), '--writers', String(writers)];
  const child = fork(import.meta.filename, ['--part', name, '--directory', directory, ...sizes], {
    execArgv: process.execArgv,
  });
  let told: Told | undefined;
  child.on('message', (message: Told) => {
    told = message;
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`the part "${name}" ended with ${code}`);
  return told;
}

function tell({ peak, before, during }: Told, lowdb: Told | undefined): void {
  if (before === undefined || during === undefined) throw new Error('there was no compaction');
  const row = (name: string, phase: Phase): string[] => [
    name,
    phase.elapsed.toFixed(0),
    ((phase.writes / phase.elapsed) * 1000).toFixed(0),
    ...[phase.stall, phase.collection, phase.write, phase.read].map((time) => time.toFixed(1)),
  ];
  const heads = [
    '',
    'ms',
    'writes/s',
    'longest stall ms',
    'longest collection ms',
    'slowest write ms',
    'slowest read ms',
  ];
  table(heads, [row('before', before), row('while compacting', during)]);
  console.log(
    `\n  most memory: ${(peak / 1e6).toFixed(0)} MB${lowdb === undefined ? '' : `, lowdb ${(lowdb.peak / 1e6).toFixed(0)} MB`}`,
  );
  const verdicts = [judge('longest stall of the event loop (ms)', during.stall, 'at most', 20)];
  if (lowdb !== undefined)
    verdicts.push(judge('most memory beside lowdb', peak / lowdb.peak, 'at most', 0.6));
  if (verdicts.includes(false)) process.exitCode = 1;
}

/** Writes until a compaction was begun and is over. */
async function compact(directory: string): Promise<{ before: Phase; during: Phase }> {
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
