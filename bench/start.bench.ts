/**
 * How long from spawning the process to its ready line: the server in memory and with a data directory, with HTTPS beside
 * HTTP and with HTTP alone, and two bare servers that print a line when they listen: node:http, and node:http with a
 * node:https that reads its certificate. They take turns, so that a machine whose speed drifts slows all of them.
 * Needs `npm run build`. Run: node --import tsx bench/start.bench.ts [ROUNDS]
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate, makeKey, pemOfKey } from '../src/net/certificate.ts';

const server = join(import.meta.dirname, '../dist/server.js');
const bare =
  "require('node:http').createServer((q, r) => r.end('hello world')).listen(0, '127.0.0.1', () => console.log('ready'))";
const bareOfBoth = `
const { readFileSync } = require('node:fs');
const answer = (q, r) => r.end('hello world');
const [cert, key] = process.argv.slice(1).map((path) => readFileSync(path));
let waiting = 2;
const ready = () => --waiting || console.log('ready');
require('node:http').createServer(answer).listen(0, '127.0.0.1', ready);
require('node:https').createServer({ cert, key }, answer).listen(0, '127.0.0.1', ready);`;

const directory = mkdtempSync(join(tmpdir(), 'countersign-bench-'));
const pair = ['certificate.pem', 'key.pem'].map((name) => join(directory, name));

function writePair([cert = '', key = '']: readonly string[]): void {
  const made = makeKey();
  const validity = { from: Date.now() - 86_400_000, until: Date.now() + 86_400_000 };
  const parts = { subject: 'bench', key: made, names: ['localhost'], ...validity, random: randomBytes };
  writeFileSync(cert, makeCertificate(parts));
  writeFileSync(key, pemOfKey(made));
}

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

const always = ['--port', '0', '--tls-port', '0', '--log', 'off'];

/** The first start in a directory makes its files and a user; the later ones find them. */
async function timeWithData(starts: number, ...args: readonly string[]): Promise<number> {
  const data = join(directory, 'data');
  let last = Number.NaN;
  for (let start = 0; start < starts; start += 1)
    last = await timeToReady([server, ...always, ...args, '--data', data]);
  rmSync(data, { recursive: true });
  return last;
}

const contestants: readonly [name: string, run: () => Promise<number>][] = [
  ['bare node:http', () => timeToReady(['-e', bare])],
  ['bare node:http and node:https', () => timeToReady(['-e', bareOfBoth, ...pair])],
  ['--no-tls --memory', () => timeToReady([server, ...always, '--no-tls', '--memory'])],
  ['--memory', () => timeToReady([server, ...always, '--memory'])],
  ['--no-tls --data, first start', () => timeWithData(1, '--no-tls')],
  ['--data, first start', () => timeWithData(1)],
  ['--no-tls --data, second start', () => timeWithData(2, '--no-tls')],
  ['--data, second start', () => timeWithData(2)],
];

writePair(pair);
const rounds = Number(process.argv[2] ?? 15);
const times = new Map(contestants.map(([name]) => [name, [] as number[]]));
for (let round = -1; round < rounds; round += 1) {
  for (const [name, run] of contestants) {
    const time = await run();
    // The first round warms the file cache.
    if (round >= 0) times.get(name)?.push(time);
  }
}
rmSync(directory, { recursive: true });

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
