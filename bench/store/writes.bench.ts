/**
 * Writes that are acknowledged and synced: how many a second, and how long one takes. Writers replace random articles
 * that are there, each waiting for its acknowledgement before the next. Every store has a process of its own, the rounds
 * take turns, and ratios are taken within a round. Beside them the bare medium: lines appended to a file and synced.
 * Stores that are not installed (npm ci --prefix bench), or whose writes are no match for a size, are left out.
 * Run: npm run bench -- writes, or node --import tsx bench/store/writes.bench.ts [--full] [--sizes 1000,1000000]
 * [--writers 1,64] [--rounds 3] [--seconds 1] [--only NAME,NAME] [--directory DIR], which must be on the disk in question.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Ending, Failure, Opening, Order, Round } from './contender.ts';
import { contestants } from './contestants.ts';
import { judge, median, number, table } from './figures.ts';

/** The magic number of a file system in memory (statfs(2)), where a sync costs nothing. */
const tmpfs = 0x01021994;
const ours = 'countersign';

const { values: given } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    sizes: { type: 'string' },
    writers: { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    only: { type: 'string' },
    directory: { type: 'string', default: tmpdir() },
  },
});
const numbers = (text: string): number[] => text.split(',').map(Number);
const sizes = numbers(given.sizes ?? (given.full ? '1000,100000,1000000' : '1000,1000000'));
const writerCounts = numbers(given.writers ?? (given.full ? '1,8,64,256' : '1,64'));
const rounds = Number(given.rounds ?? (given.full ? 5 : 3));
const seconds = Number(given.seconds ?? (given.full ? 2 : 1));
const names = [...contestants.keys()].filter((name) => given.only?.split(',').includes(name) ?? true);

/** A store that is being measured. */
interface Running {
  readonly name: string;
  readonly child: ChildProcess;
  readonly directory: string;
  /** How long it took to open (ms). */
  readonly load: number;
  /** By number of writers. */
  readonly rounds: Map<number, Round[]>;
}

const scratch = mkdtempSync(join(given.directory, 'countersign-bench-'));
let missed = false;
try {
  console.log(
    `${rounds} rounds of ${seconds} s, Node ${process.version}, ${availableParallelism()} cores, load average before ${load()}`,
  );
  if (statfsSync(scratch).type === tmpfs) console.log(`${scratch} is in memory: a sync costs nothing there`);
  for (const size of sizes) await measure(size);
  console.log(`\nload average after ${load()}`);
} finally {
  rmSync(scratch, { recursive: true });
}
if (missed) process.exitCode = 1;

function load(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}

async function measure(size: number): Promise<void> {
  console.log(`\n${size.toLocaleString('en')} articles`);
  const running: Running[] = [];
  try {
    for (const name of names) {
      const started = await start(name, size);
      if (typeof started === 'string') console.log(`  ${name} is left out: ${started}`);
      else running.push(started);
    }
    for (const writers of writerCounts) {
      // A first round that does not count: code is compiled, caches are filled.
      for (let round = -1; round < rounds; round += 1) {
        for (const one of running) {
          const { child } = one;
          const result = await asked<Round>(child, { writers, seconds: round < 0 ? seconds / 2 : seconds });
          if (round >= 0) one.rounds.set(writers, [...(one.rounds.get(writers) ?? []), result]);
        }
      }
      tell(writers, running);
    }
    await tellSizes(running);
    verdicts(size, running);
  } finally {
    for (const { child, directory } of running) {
      child.kill();
      rmSync(directory, { recursive: true });
    }
  }
}

/** Fills a store and opens it in a fresh process; or gives the reason why not. */
async function start(name: string, size: number): Promise<Running | string> {
  const most = contestants.get(name)?.most;
  if (most !== undefined && size > most.count) return most.reason;
  const directory = join(scratch, name.replaceAll(/\W+/g, '-'));
  mkdirSync(directory);
  const filling = contender(name, directory, size, 'fill');
  const failed = await Promise.race([once(filling, 'message'), once(filling, 'exit').then(() => [])]);
  const child = contender(name, directory, size, 'hold');
  const [message]: (Opening | Failure)[] = failed.length > 0 ? failed : await once(child, 'message');
  if (message !== undefined && 'load' in message) {
    return { name, child, directory, load: message.load, rounds: new Map() };
  }
  child.kill();
  rmSync(directory, { recursive: true });
  return message?.failure ?? 'it ended';
}

function contender(name: string, directory: string, size: number, task: 'fill' | 'hold'): ChildProcess {
  const execArgv = ['--expose-gc', '--max-old-space-size=8192', ...process.execArgv];
  return fork(join(import.meta.dirname, 'contender.ts'), [name, directory, String(size), task], { execArgv });
}

/** Sends an order and waits for its answer. */
async function asked<T>(child: ChildProcess, order: Order): Promise<T> {
  const answer = once(child, 'message');
  const ended = once(child, 'exit').then(() => {
    throw new Error('a store ended while it was measured');
  });
  child.send(order);
  const [message] = await Promise.race([answer, ended]);
  if ('failure' in message) throw new Error(message.failure);
  return message;
}

function rate({ writes, elapsed }: Round): number {
  return (writes / elapsed) * 1000;
}

/** How many times as fast one was as another, round by round, in the middle. */
function ratio(writers: number, one: Running, other: Running): number {
  const others = other.rounds.get(writers) ?? [];
  const ratios = (one.rounds.get(writers) ?? []).map((round, index) => {
    const beside = others[index];
    return beside === undefined ? Number.NaN : rate(round) / rate(beside);
  });
  return median(ratios);
}

function tell(writers: number, running: readonly Running[]): void {
  const [first] = running;
  const rows = running.map((one) => {
    const results = one.rounds.get(writers) ?? [];
    const rates = results.map(rate);
    return [
      contestants.get(one.name)?.synced ? one.name : `${one.name} (not synced)`,
      number(median(rates)),
      `${number(Math.min(...rates))} to ${number(Math.max(...rates))}`,
      first === undefined ? '' : ratio(writers, one, first).toFixed(3),
      median(results.map(({ p50 }) => p50)).toFixed(3),
      median(results.map(({ p99 }) => p99)).toFixed(3),
    ];
  });
  table(
    [`${writers} writer${writers === 1 ? '' : 's'}`, 'writes/s', 'from', 'of the first', 'p50 ms', 'p99 ms'],
    rows,
  );
}

async function tellSizes(running: readonly Running[]): Promise<void> {
  const rows: string[][] = [];
  for (const { name, child, directory, load } of running) {
    const { resident } = await asked<Ending>(child, 'close');
    rows.push([name, load.toFixed(0), (bytesIn(directory) / 1e6).toFixed(1), (resident / 1e6).toFixed(1)]);
  }
  table(['', 'open ms', 'MB on disk', 'MB resident'], rows);
}

/** What the files take of the medium. */
function bytesIn(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((path) => statSync(join(directory, path)))
    .filter((stats) => stats.isFile())
    .reduce((sum, { blocks }) => sum + blocks * 512, 0);
}

/** What is required of ours, beside whom, and whether it is so. */
function verdicts(size: number, running: readonly Running[]): void {
  const beside = (other: string, writers: number, least: number): void => {
    const [we, they] = [ours, other].map((name) => running.find((one) => one.name === name));
    if (we === undefined || they === undefined || !writerCounts.includes(writers)) return;
    const what = `${writers} writer${writers === 1 ? '' : 's'}, beside ${other}`;
    if (!judge(what, ratio(writers, we, they), 'at least', least)) missed = true;
  };
  console.log();
  beside('better-sqlite3 grouped', 64, size > 100_000 ? 0.8 : 0.9);
  beside('better-sqlite3', 64, 10);
  beside('better-sqlite3', 1, 0.8);
}
