/**
 * A signed GET of an article over loopback with keep-alive, verified and its nonce remembered, beside a bare
 * node:http server that answers the very same bytes to the very same requests without looking at them. Server and load
 * have a core each (taskset), the load is wrk, and every request was signed beforehand. Rounds take turns.
 * Run: node --import tsx bench/load/signed-get.bench.ts [ROUNDS] [SECONDS] [CONNECTIONS]
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';

const rounds = Number(process.argv[2] ?? 7);
const seconds = Number(process.argv[3] ?? 4);
const connections = Number(process.argv[4] ?? 64);
/** More requests than any server here answers in a second on one core. */
const requestsPerSecond = 120_000;
const target = '/articles/1';
const secret = randomBytes(32).toString('base64url');

interface Contestant {
  readonly name: string;
  readonly port: number;
  readonly child: ChildProcess;
  readonly signed: boolean;
  readonly rates: number[];
  readonly costs: number[];
}

if (spawnSync('wrk', ['-v']).error !== undefined) {
  console.log('wrk is not installed: nothing is measured');
} else {
  await measure();
}

async function measure(): Promise<void> {
  const ours = await start('countersign', secret);
  const reply = await fetch(`http://127.0.0.1:${ours.port}${target}`, { headers: signed(new Date()) });
  const fields = [...reply.headers]
    .filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name))
    .flat();
  const content = await reply.text();
  if (reply.status !== 200) throw new Error(`the server answers ${reply.status}: ${content}`);
  const bare = await start('bare', JSON.stringify({ fields, content }));
  const contestants: Contestant[] = [
    { name: 'bare node:http, the same bytes', ...bare, signed: true, rates: [], costs: [] },
    { name: 'countersign, signed GET', ...ours, signed: true, rates: [], costs: [] },
    { name: 'countersign, plain GET', ...ours, signed: false, rates: [], costs: [] },
  ];
  const directory = mkdtempSync(join(tmpdir(), 'countersign-bench-'));
  try {
    for (let round = -1; round < rounds; round += 1) {
      for (const contestant of contestants) await run(contestant, round, join(directory, 'signatures'));
      process.stderr.write(process.stderr.isTTY ? `\rround ${round + 1} of ${rounds} ` : '');
    }
  } finally {
    rmSync(directory, { recursive: true });
    ours.child.kill();
    bare.child.kill();
  }
  tell(contestants);
}

async function start(name: string, given: string): Promise<{ port: number; child: ChildProcess }> {
  const args = [
    '-c',
    '0',
    process.execPath,
    '--import',
    'tsx',
    join(import.meta.dirname, 'server.ts'),
    name,
    given,
  ];
  const child = spawn('taskset', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout, 'data');
  return { port: Number(String(line)), child };
}

function dateOf(time: Date): string {
  return time.toUTCString();
}

/** HMAC-SHA256 over what the full form signs. */
function digestOf(date: string, nonce: string): string {
  return createHmac('sha256', secret)
    .update(`GET+${target}+${date.replaceAll(' ', '')}+${nonce}`)
    .digest('base64');
}

function signed(time: Date): Record<string, string> {
  const date = dateOf(time);
  const nonce = randomBytes(8).toString('hex');
  return { 'X-Date': date, Authentication: `hmac demo:${nonce}:${digestOf(date, nonce)}` };
}

async function write(path: string, date: string): Promise<void> {
  const file = createWriteStream(path);
  for (let block = 0; block < seconds * 100; block += 1) {
    let lines = '';
    for (let index = 0; index < requestsPerSecond / 100; index += 1) {
      const nonce = randomBytes(8).toString('hex');
      lines += `${nonce} ${digestOf(date, nonce)}\n`;
    }
    if (!file.write(lines)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'finish');
}

async function cpuOf({ child }: Contestant): Promise<number> {
  child.kill('SIGUSR2');
  if (child.stdout === null) throw new Error('no output');
  const [line] = await once(child.stdout, 'data');
  return JSON.parse(String(line)).cpu;
}

async function run(contestant: Contestant, round: number, path: string): Promise<void> {
  const date = dateOf(new Date());
  if (contestant.signed) await write(path, date);
  const script = contestant.signed ? ['-s', join(import.meta.dirname, 'signed.lua')] : [];
  const length = round < 0 ? 2 : seconds;
  const url = `http://127.0.0.1:${contestant.port}${target}`;
  const args = ['-c', '1', 'wrk', '-t1', `-c${connections}`, `-d${length}s`, ...script, url];
  const before = await cpuOf(contestant);
  const load = spawn('taskset', contestant.signed ? [...args, '--', path, target, 'demo', date] : args);
  const chunks: string[] = [];
  load.stdout.on('data', (chunk) => chunks.push(String(chunk)));
  await once(load, 'exit');
  const output = chunks.join('');
  const cost = (await cpuOf(contestant)) - before;
  const refused = Number(/Non-2xx or 3xx responses: ([0-9]+)/.exec(output)?.[1] ?? 0);
  // What is sent after the last signature was used has none, and is no part of this.
  if (refused > 0) throw new Error(`${contestant.name}: ${refused} requests were refused\n${output}`);
  const rate = Number(/Requests\/sec:\s+([0-9.]+)/.exec(output)?.[1]);
  const count = Number(/([0-9]+) requests in/.exec(output)?.[1]);
  if (round < 0) return;
  contestant.rates.push(rate);
  contestant.costs.push(cost / count);
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN;
}

function tell(contestants: readonly Contestant[]): void {
  console.log(
    `${rounds} rounds of ${seconds} s, ${connections} connections, Node ${process.version}, ${availableParallelism()} cores`,
  );
  const [yardstick] = contestants;
  for (const { name, rates, costs } of contestants) {
    // A ratio within each round, so that a machine whose speed drifts slows both.
    const ratios = rates.map((rate, round) => rate / (yardstick?.rates[round] ?? Number.NaN));
    const dearer = costs.map((cost, round) => cost / (yardstick?.costs[round] ?? Number.NaN));
    console.log(
      `${name.padEnd(32)} ${Math.round(median(rates)).toLocaleString('en').padStart(8)} requests/s  ${median(ratios).toFixed(3)} of bare` +
        `   ${median(costs).toFixed(2)} us of CPU each, ${median(dearer).toFixed(3)} of bare`,
    );
  }
}
