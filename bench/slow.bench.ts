/**
 * How long an honest client waits while slowhttptest holds 1,000 connections open: slow headers, slow content, content
 * that nobody asked for, and slow reading, each against a server of its own with its default limits. The client asks 50
 * times a second over a connection that it keeps, and 50 times over new ones. It exits with 1 when an answer other than
 * 200 came, or one took longer than 100 ms.
 * Run: node --import tsx bench/slow.bench.ts [SECONDS] [CONNECTIONS]
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const [seconds = 20, connections = 1000] = process.argv.slice(2).map(Number);
const most = 100;

const attacks: Readonly<Record<string, readonly string[]>> = {
  nobody: [],
  'slow headers': ['-H', '-i', '3'],
  'slow content': ['-B', '-i', '3', '-t', 'POST', '-s', '8192', '-f', 'application/xml'],
  'slow content of GET': ['-B', '-i', '3', '-t', 'GET', '-s', '8192'],
  'slow reading': ['-X', '-n', '3', '-z', '1', '-w', '1', '-y', '2', '-k', '10'],
};

interface Server {
  readonly child: ChildProcess;
  readonly url: string;
}

async function startServer(): Promise<Server> {
  const args = ['--import', 'tsx', join(import.meta.dirname, '../src/server.ts')];
  const options = ['--memory', '--no-tls', '--port', '0', '--log', 'off'];
  const child = spawn(process.execPath, [...args, ...options], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = await once(child.stdout, 'data');
  return { child, url: `${/http:\S+/.exec(String(line))?.[0]}/articles` };
}

/** What one answer was, and after how many milliseconds. */
interface Answer {
  readonly outcome: string;
  readonly took: number;
}

function ask(url: string, agent: Agent | false): Promise<Answer> {
  const begun = performance.now();
  return new Promise((resolve) => {
    const end = (outcome: string): void => resolve({ outcome, took: performance.now() - begun });
    get(url, { agent }, (reply) => {
      reply.resume().on('end', () => end(String(reply.statusCode)));
    }).on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
}

/** Asks 50 times a second until told to stop, whether or not the answers come. */
function client(url: string, agent: Agent | false): () => Promise<Answer[]> {
  const answers: Promise<Answer>[] = [];
  const timer = setInterval(() => answers.push(ask(url, agent)), 20);
  return () => {
    clearInterval(timer);
    return Promise.all(answers);
  };
}

let failed = false;

function tell(name: string, answers: readonly Answer[]): void {
  const took = answers.map((answer) => answer.took).sort((one, other) => one - other);
  const at = (part: number): string => (took[Math.floor(part * (took.length - 1))] ?? Number.NaN).toFixed(1);
  const outcomes = new Map<string, number>();
  for (const { outcome } of answers) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  const counts = Array.from(outcomes, ([outcome, count]) => `${count} × ${outcome}`).join(', ');
  console.log(`  ${name.padEnd(16)} p50 ${at(0.5)} ms  p99 ${at(0.99)} ms  max ${at(1)} ms  ${counts}`);
  if ((took.at(-1) ?? 0) > most || outcomes.size !== 1 || !outcomes.has('200')) failed = true;
}

async function measure(name: string, options: readonly string[]): Promise<void> {
  const { child, url } = await startServer();
  for (let warming = 0; warming < 500; warming += 1) await ask(url, false);
  const length = ['-c', String(connections), '-r', '500', '-l', String(seconds + 3), '-u', url];
  const attacker =
    options.length === 0 ? undefined : spawn('slowhttptest', [...options, ...length], { stdio: 'ignore' });
  await pause(3000); // until the attacker has its connections
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const [kept, opened] = [client(url, agent), client(url, false)];
  await pause((seconds - 2) * 1000);
  console.log(`${name}:`);
  tell('kept connection', await kept());
  tell('new connections', await opened());
  agent.destroy();
  for (const each of [attacker, child]) {
    each?.kill('SIGKILL');
    if (each !== undefined && each.exitCode === null) await once(each, 'exit');
  }
}

if (spawnSync('slowhttptest', ['-h']).error !== undefined) {
  console.log('skipped: slowhttptest is not installed');
} else {
  for (const [name, options] of Object.entries(attacks)) await measure(name, options);
  if (failed) process.exitCode = 1;
}
