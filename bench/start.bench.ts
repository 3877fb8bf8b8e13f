/** Measures the time from spawning the process to its first response. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { makePair } from './load/client/pair.ts';
import type { Benchmark, Contestant, Sample, Stage } from './measure/benchmark.ts';
import { installed } from './measure/parts/installed.ts';

const bare =
  "require('node:http').createServer((q, r) => r.end('hello world')).listen(0, '127.0.0.1', function () { console.log(this.address().port) })";
const bareOfBoth = `
const { readFileSync } = require('node:fs');
const answer = (q, r) => r.end('hello world');
const [cert, key] = process.argv.slice(1).map((path) => readFileSync(path));
let waiting = 2;
const ready = () => --waiting || console.log(server.address().port);
const server = require('node:http').createServer(answer).listen(0, '127.0.0.1', ready);
require('node:https').createServer({ cert, key }, answer).listen(0, '127.0.0.1', ready);`;
const fastify =
  "const app = require('fastify')(); app.get('/', async () => 'hello world'); app.listen({ port: 0, host: '127.0.0.1' }, () => console.log(app.server.address().port))";
/** On Node.js 24, a bare server itself starts more slowly. */
const startBudget = Number.parseInt(process.versions.node, 10) < 22 ? 2.3 : 2;

const yardstick = 'bare node:http';
const ours = 'countersign --no-tls --memory';
const options = ['--port', '0', '--tls-port', '0', '--log', 'off'];

export const benchmark: Benchmark = {
  title: 'Start',
  about:
    'From spawning the process to its first answer: it says in a line that it is ready, and at which port, and is asked for `/` over a connection of its own. In memory and with a data directory, with HTTPS beside HTTP and with HTTP alone. The first start in a directory makes its files and a user; the second one finds them. All are started from a copy of what a tarball has. Beside it a bare node:http server, one with a node:https that reads its certificate, and fastify with one route. Needs `npm run build`.',
  figures: [
    { key: 'answer', label: 'spawn to answer', unit: 'ns' },
    { key: 'ready', label: 'to ready', unit: 'ns' },
    { key: 'cpu', label: 'CPU time until then', unit: 'ns' },
  ],
  rounds: 9,
  requirements: [{ contestant: ours, figure: 'answer', beside: yardstick, atMost: startBudget }],
  open(stage) {
    if (!existsSync(join(stage.root, 'dist/server.js'))) return 'dist/server.js is not built (npm run build)';
    const server = join(installed(stage), 'server.js');
    const [cert, key] = ['certificate.pem', 'key.pem'].map((name) => join(stage.scratch, name));
    const pair = makePair();
    if (cert !== undefined) writeFileSync(cert, pair.cert);
    if (key !== undefined) writeFileSync(key, pair.key);
    const run = (...args: string[]): string[] => [server, ...options, ...args];
    const contestants = [
      peer(stage, yardstick, ['-e', bare]),
      peer(stage, 'bare node:http and node:https', ['-e', bareOfBoth, cert ?? '', key ?? '']),
      countersign(ours, () => timeToAnswer(stage, run('--no-tls', '--memory'))),
      countersign('countersign --memory', () => timeToAnswer(stage, run('--memory'))),
      ...[1, 2].flatMap((starts) => [
        countersign(`--no-tls --data, ${starts === 1 ? 'first' : 'second'} start`, () =>
          withData(stage, starts, run('--no-tls')),
        ),
        countersign(`--data, ${starts === 1 ? 'first' : 'second'} start`, () =>
          withData(stage, starts, run()),
        ),
      ]),
      peer(stage, 'fastify', ['-e', fastify], 'fastify'),
    ];
    return [{ name: '', contestants }];
  },
};

function peer(stage: Stage, name: string, args: readonly string[], module?: string): Contestant {
  const installed = module === undefined || existsSync(join(stage.root, 'bench/node_modules', module));
  return {
    name,
    ours: false,
    warmsUp: 'never',
    measure: async () => (installed ? timeToAnswer(stage, args) : 'not installed'),
  };
}

function countersign(name: string, measure: () => Promise<Sample>): Contestant {
  return { name, ours: true, warmsUp: 'never', measure };
}

/** Measures the last of `count` starts in one directory. */
async function withData(stage: Stage, starts: number, args: readonly string[]): Promise<Sample> {
  const data = join(stage.scratch, 'data');
  let last: Sample = {};
  for (let start = 0; start < starts; start += 1) last = await timeToAnswer(stage, [...args, '--data', data]);
  rmSync(data, { recursive: true });
  return last;
}

/**
 * Measures from spawn to the first line on standard output, which ends with the port of plain HTTP or contains its URL,
 * and to the first response.
 */
async function timeToAnswer({ root }: Stage, args: readonly string[]): Promise<Sample> {
  const begun = performance.now();
  const since = (): number => (performance.now() - begun) * 1e6;
  const cwd = join(root, 'bench');
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'], cwd });
  const ended = once(child, 'exit');
  const [line]: string[] = await Promise.race([
    once(child.stdout.setEncoding('utf8'), 'data'),
    ended.then(() => []),
  ]);
  const ready = since();
  const port = /(?:^|http:\/\/[^:/]*:)(\d+)/.exec(line ?? '')?.[1];
  if (port === undefined) throw new Error(`node ${args.join(' ')} ended before it was ready`);
  await answered(Number(port));
  const sample = { answer: since(), ready, ...cpuOf(child.pid ?? 0) };
  child.kill('SIGKILL');
  await ended;
  return sample;
}

/** Waits for the first bytes of a response. */
async function answered(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  await once(socket, 'data');
  socket.destroy();
}

/** Returns the CPU time of all threads of a process, if the system provides it (/proc/PID/schedstat). */
function cpuOf(pid: number): Sample {
  try {
    const tasks = join('/proc', String(pid), 'task');
    const times = readdirSync(tasks).map((task) =>
      Number.parseInt(readFileSync(join(tasks, task, 'schedstat'), 'utf8'), 10),
    );
    return { cpu: times.reduce((sum, time) => sum + time, 0) };
  } catch {
    return {};
  }
}
