/**
 * The store behind HTTP, over loopback with keep-alive. First, at 1,000 articles: signed PUTs of an article that is there,
 * kept by the medium, by the system or in memory alone, beside json-server's PUT, which is not signed and
 * writes the whole file, so that it is measured with 10,000 too. Then, with 1,000
 * articles and with a million: reading one, a page of the list at its start, middle and end, and the signed PUT.
 * Server and load have a core each (taskset); the load is wrk, and what is signed was signed beforehand. Rounds take turns.
 * Run: npm run bench -- store/http, or node --import tsx bench/store/http.bench.ts [--rounds 3] [--seconds 2]
 * [--connections 64] [--many 1000000] [--directory DIR], which must be on the disk in question.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { article, articles } from './articles.ts';
import { fillOurs } from './contestants.ts';
import { judge, median, number, table } from './figures.ts';

const few = 1_000;
/** json-server writes all of them for each change, so how much slower it is depends on how many there are. */
const several = 10_000;
/** More requests than any server here answers in a second on one core. */
const requestsPerSecond = 60_000;
const user = 'demo';
const secret = randomBytes(32).toString('base64url');

const { values: given } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '64' },
    many: { type: 'string', default: '1000000' },
    directory: { type: 'string', default: tmpdir() },
  },
});
const rounds = Number(given.rounds);
const seconds = Number(given.seconds);
const many = Number(given.many);

/** A server that listens. */
interface Server {
  readonly origin: string;
  readonly child: ChildProcess;
  /** How many articles it has. */
  readonly count: number;
}

/** What is sent. */
interface Requests {
  readonly method: 'GET' | 'PUT';
  readonly signed: boolean;
  readonly type?: string;
  readonly body?: string;
  /** The target of one of them. */
  target(): string;
}

interface Measured {
  readonly name: string;
  readonly server: Server;
  readonly requests: Requests;
  readonly rates: number[];
  /** The 50th and the 99th percentile of each round (ms). */
  readonly p50: number[];
  readonly p99: number[];
}

const scratch = mkdtempSync(join(given.directory, 'countersign-bench-'));
const requestsFile = join(scratch, 'requests');
const started: ChildProcess[] = [];
let missed = false;
try {
  if (spawnSync('wrk', ['-v']).error !== undefined) {
    console.log('wrk is not installed: nothing is measured');
  } else {
    console.log(
      `${rounds} rounds of ${seconds} s, ${given.connections} connections, Node ${process.version}, ${availableParallelism()} cores, load average before ${load()}`,
    );
    await compareDurability();
    await compareSizes();
    console.log(`\nload average after ${load()}`);
  }
} finally {
  for (const child of started) child.kill('SIGKILL');
  rmSync(scratch, { recursive: true });
}
if (missed) process.exitCode = 1;

function load(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}

async function compareDurability(): Promise<void> {
  const [synced, unsynced] = [await directoryOf('synced', few), await directoryOf('unsynced', few)];
  const all = [
    measured(
      'signed PUT, fsync',
      await serve(few, ['--data', synced, '--durability', 'fsync']),
      signedPut(few),
    ),
    measured('signed PUT, os', await serve(few, ['--data', unsynced, '--durability', 'os']), signedPut(few)),
    measured('signed PUT, memory', await serve(few, ['--memory']), signedPut(few)),
  ];
  for (const count of [few, several]) {
    const peer = await jsonServer(count);
    if (peer !== undefined) {
      all.push(measured(`json-server, PUT, ${number(count)} articles`, peer, plainPut(count)));
    }
  }
  await run(all);
  const [first] = all;
  tell(all, (one) => (first === undefined ? '' : ratio(one, first).toFixed(4)), 'of the first');
  const [fsync, os] = all;
  const json = all.find(({ server }) => server.count === several);
  console.log();
  if (fsync !== undefined && os !== undefined) {
    require('PUT with fsync beside os', ratio(fsync, os), 'at least', 0.75);
  }
  if (fsync !== undefined && json !== undefined) {
    require(`PUT with fsync beside json-server with ${number(several)} articles`, ratio(
      fsync,
      json,
    ), 'at least', 100);
  }
  for (const { server } of all) await stop(server);
}

async function compareSizes(): Promise<void> {
  const servers: Server[] = [];
  for (const count of [few, many]) {
    servers.push(await serve(count, ['--data', await directoryOf(`sized-${count}`, count)]));
  }
  const kinds: readonly [string, (count: number) => Requests][] = [
    ['GET by id', (count) => get(() => `${articles}/${someId(count)}`)],
    ['GET the first page', () => get(() => articles)],
    ['GET a page from the middle', (count) => get(() => pageAfter(Math.floor(count / 2)))],
    ['GET the last page', (count) => get(() => pageAfter(count - 50))],
    ['signed PUT', signedPut],
  ];
  for (const [name, requests] of kinds) {
    const all = servers.map((server) =>
      measured(`${name}, ${number(server.count)} articles`, server, requests(server.count)),
    );
    await run(all);
    const [small] = all;
    const worse = (one: Measured): number => median(one.p99) / median(small?.p99 ?? []);
    tell(all, (one) => worse(one).toFixed(2), 'p99 of the first');
    const large = all.at(-1);
    console.log();
    if (large !== undefined) require(`p99 of ${large.name}`, worse(large), 'at most', 2);
  }
  for (const server of servers) await stop(server);
}

function require(what: string, figure: number, bound: 'at least' | 'at most', limit: number): void {
  if (!judge(what, figure, bound, limit)) missed = true;
}

/** A data directory with articles in it. */
async function directoryOf(name: string, count: number): Promise<string> {
  const directory = join(scratch, name);
  mkdirSync(directory, { mode: 0o700 });
  await fillOurs(directory, count);
  return directory;
}

async function serve(count: number, options: readonly string[]): Promise<Server> {
  const config = join(scratch, 'config.json');
  const seed = options.includes('--memory')
    ? { [articles]: Array.from({ length: count }, (_, number) => article(number)) }
    : {};
  writeFileSync(config, JSON.stringify({ users: { [user]: { secret } }, seed }), { mode: 0o600 });
  const command = join(import.meta.dirname, '../../src/server.ts');
  const args = [command, '--config', config, '--port', '0', '--no-tls', '--log', 'off', ...options];
  return start(count, args);
}

async function jsonServer(count: number): Promise<Server | undefined> {
  if (!existsSync(join(import.meta.dirname, '../node_modules/json-server'))) {
    console.log('json-server is left out: it is not installed');
    return undefined;
  }
  const file = join(scratch, `db-${count}.json`);
  const items = Array.from({ length: count }, (_, number) => ({ id: number + 1, ...article(number) }));
  writeFileSync(file, JSON.stringify({ articles: items }));
  return start(count, [join(import.meta.dirname, 'json-server.ts'), file]);
}

async function start(count: number, args: readonly string[]): Promise<Server> {
  const node = [process.execPath, '--max-old-space-size=8192', '--import', 'tsx'];
  const child = spawn('taskset', ['-c', '0', ...node, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  started.push(child);
  const ended = once(child, 'exit').then(() => {
    throw new Error('a server ended before it listened');
  });
  const [line] = await Promise.race([once(child.stdout, 'data'), ended]);
  ended.catch(() => {}); // it ends one day
  const origin = /http:\/\/[\d.:]+/.exec(String(line))?.[0];
  if (origin === undefined) throw new Error(`a server said ${line}`);
  return { origin, child, count };
}

async function stop({ child }: Server): Promise<void> {
  const ended = once(child, 'exit');
  child.kill();
  await ended;
}

function someId(count: number): number {
  return 1 + Math.floor(Math.random() * count);
}

function pageAfter(sequence: number): string {
  return `${articles}?after=${sequence.toString(36)}`;
}

function get(target: () => string): Requests {
  return { method: 'GET', signed: false, target };
}

function signedPut(count: number): Requests {
  const { title, price } = article(few, 1);
  const body = `<article><title>${title}</title><price currency="${price.currency}">${price.value}</price></article>`;
  const target = (): string => `${articles}/${someId(count)}`;
  return { method: 'PUT', signed: true, type: 'application/xml', body, target };
}

function plainPut(count: number): Requests {
  const body = JSON.stringify(article(few, 1));
  return { ...signedPut(count), signed: false, type: 'application/json', body };
}

function measured(name: string, server: Server, requests: Requests): Measured {
  return { name, server, requests, rates: [], p50: [], p99: [] };
}

/** Lets them take turns; a first round does not count. */
async function run(all: readonly Measured[]): Promise<void> {
  for (let round = -1; round < rounds; round += 1) {
    for (const one of all) await turn(one, round < 0);
  }
}

async function turn(one: Measured, warmUp: boolean): Promise<void> {
  const { name, server, requests } = one;
  const span = warmUp ? 1 : seconds;
  const date = new Date().toUTCString();
  writeRequests(requests, date, span);
  const { method, type, body } = requests;
  const sent = [
    requestsFile,
    method,
    date,
    ...(type === undefined || body === undefined ? [] : [type, body]),
  ];
  const how = ['-t1', `-c${given.connections}`, `-d${span}s`, '--latency'];
  const script = join(import.meta.dirname, 'requests.lua');
  const load = spawn('taskset', ['-c', '1', 'wrk', ...how, '-s', script, server.origin, '--', ...sent]);
  let output = '';
  load.stdout.on('data', (chunk) => {
    output += String(chunk);
  });
  await once(load, 'close');
  if (/Non-2xx|Socket errors/.test(output)) throw new Error(`${name}: something was refused\n${output}`);
  if (warmUp) return;
  one.rates.push(Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]));
  one.p50.push(percentileIn(output, 50));
  one.p99.push(percentileIn(output, 99));
}

function writeRequests({ method, signed, target }: Requests, date: string, span: number): void {
  const stamp = date.replaceAll(' ', '');
  const lines: string[] = [];
  for (let index = 0; index < (signed ? span * requestsPerSecond : 10_000); index += 1) {
    const path = target();
    if (signed) {
      const nonce = randomBytes(8).toString('hex');
      const digest = createHmac('sha256', secret)
        .update(`${method}+${path}+${stamp}+${nonce}`)
        .digest('base64');
      lines.push(`${path} hmac ${user}:${nonce}:${digest}\n`);
    } else {
      lines.push(`${path}\n`);
    }
  }
  writeFileSync(requestsFile, lines.join(''));
}

/** A line of wrk's like `99%    1.23ms`, in ms. */
function percentileIn(output: string, percent: number): number {
  const [, figure, unit = ''] = new RegExp(`\\b${percent}%\\s+([\\d.]+)(us|ms|s|m)\\b`).exec(output) ?? [];
  const scales: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000 };
  return Number(figure) * (scales[unit] ?? Number.NaN);
}

/** How many times as fast, round by round, in the middle. */
function ratio(one: Measured, other: Measured): number {
  return median(one.rates.map((rate, round) => rate / (other.rates[round] ?? Number.NaN)));
}

function tell(all: readonly Measured[], beside: (one: Measured) => string, head: string): void {
  const rows = all.map((one) => [
    one.name,
    number(median(one.rates)),
    beside(one),
    median(one.p50).toFixed(3),
    median(one.p99).toFixed(3),
  ]);
  table(['', 'requests/s', head, 'p50 ms', 'p99 ms'], rows);
}
