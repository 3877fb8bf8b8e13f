/**
 * How long from spawning the process to its ready line: the server in memory and with an empty data directory,
 * beside a bare node:http server that prints a line when it listens. The three take turns, so that a machine
 * whose speed drifts slows all of them. Needs `npm run build`. Run: node --import tsx bench/start.bench.ts [ROUNDS]
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';

const server = join(import.meta.dirname, '../dist/server.js');
const bare =
  "require('node:http').createServer((q, r) => r.end('hello world')).listen(0, '127.0.0.1', () => console.log('ready'))";

/** Milliseconds from spawn to the first output on standard output. */
function timeToReady(args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const begun = performance.now();
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    let elapsed: number | undefined;
    child.stdout.once('data', () => {
      elapsed = performance.now() - begun;
      child.kill('SIGKILL');
    });
    child.once('exit', () => {
      if (elapsed === undefined) reject(new Error(`node ${args.join(' ')} ended before it was ready`));
      else resolve(elapsed);
    });
  });
}

/** The first start in a directory makes its files and a user; the later ones find them. */
async function timeWithData(starts: number): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'countersign-bench-'));
  try {
    let last = Number.NaN;
    for (let start = 0; start < starts; start += 1) {
      last = await timeToReady([server, '--port', '0', '--data', join(directory, 'data'), '--log', 'off']);
    }
    return last;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const contestants: readonly [name: string, run: () => Promise<number>][] = [
  ['bare node:http', () => timeToReady(['-e', bare])],
  ['countersign --memory', () => timeToReady([server, '--port', '0', '--memory', '--log', 'off'])],
  ['countersign --data, first start', () => timeWithData(1)],
  ['countersign --data, second start', () => timeWithData(2)],
];

const rounds = Number(process.argv[2] ?? 15);
const times = new Map(contestants.map(([name]) => [name, [] as number[]]));
for (let round = -1; round < rounds; round += 1) {
  for (const [name, run] of contestants) {
    const time = await run();
    // The first round warms the file cache.
    if (round >= 0) times.get(name)?.push(time);
  }
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN;
const yardstick = median(times.get('bare node:http') ?? []);
console.log(
  `spawn to ready line, ${rounds} rounds, Node ${process.version}, ${availableParallelism()} cores`,
);
for (const [name, all] of times) {
  const figures = [Math.min(...all), median(all), Math.max(...all)].map((ms) =>
    `${ms.toFixed(1)} ms`.padStart(10),
  );
  console.log(`${name.padEnd(34)} ${figures.join('')}   ${(median(all) / yardstick).toFixed(2)} of bare`);
}
