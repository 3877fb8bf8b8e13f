/** Measures the response time of a normal client while slow clients hold connections. */
import { spawn, spawnSync } from 'node:child_process';
import { Agent, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { articles } from './data/articles.ts';
import { startOurs } from './load/server/countersign.ts';
import type { Benchmark, Contestant, Group, Sample, Stage } from './measure/benchmark.ts';
import { quantile } from './measure/results/statistics.ts';

const connections = 1000;
/** The time until the attacker has opened its connections (ms). */
const settling = 2500;
/** The number of requests of a round, and the interval between them (ms). */
const asked = { short: 10, full: 25 };
const distance = 20;

/** Cases of the long form only: for the server, they are the same as slow content. */
const ofGet = 'slow content of GET';
const attacks: Readonly<Record<string, readonly string[]>> = {
  nobody: [],
  'slow headers': ['-H', '-i', '3'],
  'slow content': ['-B', '-i', '3', '-t', 'POST', '-s', '8192', '-f', 'application/xml'],
  'slow reading': ['-X', '-n', '3', '-z', '1', '-w', '1', '-y', '2', '-k', '10'],
  [ofGet]: ['-B', '-i', '3', '-t', 'GET', '-s', '8192'],
};
const clients = ['kept connection', 'new connections'] as const;

export const benchmark: Benchmark = {
  title: 'An honest client among slow ones',
  about:
    'slowhttptest opens 1,000 slow connections of one kind to a server with default limits, while a normal client sends 50 requests per second, over one keep-alive connection and over new ones. The long form includes slow content with GETs. Any response other than 200 fails the run. The chart shows the longest wait of a round.',
  figures: [
    { key: 'longest', label: 'longest wait', unit: 'ns' },
    { key: 'p50', label: 'p50', unit: 'ns' },
  ],
  requirements: Object.keys(attacks).flatMap((group) =>
    clients.map((contestant) => ({ group, contestant, figure: 'longest', atMost: 100e6 })),
  ),
  open(stage) {
    if (spawnSync('slowhttptest', ['-h']).error !== undefined) return 'slowhttptest is not installed';
    return Object.entries(attacks)
      .filter(([name]) => stage.full || name !== ofGet)
      .map(([name, options]) => groupOf(stage, name, options));
  },
};

/** The first round starts the server and the attack, because slow connections are closed after a time. */
function groupOf(stage: Stage, name: string, options: readonly string[]): Group {
  let begun: Promise<string> | undefined;
  const kept = new Agent({ keepAlive: true, maxSockets: 1 });
  stage.after(() => kept.destroy());
  const contestants = clients.map(
    (client): Contestant => ({
      name: client,
      ours: true,
      async measure({ warmUp }) {
        begun ??= begin(stage, name, options);
        const count = warmUp ? 1 : stage.full ? asked.full : asked.short;
        return round(await begun, count, client === 'kept connection' ? kept : false);
      },
    }),
  );
  return { name, contestants };
}

async function begin(stage: Stage, name: string, options: readonly string[]): Promise<string> {
  const { port } = await startOurs(stage, name.replaceAll(' ', '-'));
  const url = `http://127.0.0.1:${port}${articles}`;
  for (let warming = 0; warming < 500; warming += 1) await ask(url, false);
  if (options.length > 0) {
    const length = ['-c', String(connections), '-r', '1000', '-l', '60', '-u', url];
    const attacker = spawn('slowhttptest', [...options, ...length], { stdio: 'ignore' });
    stage.after(() => attacker.kill('SIGKILL'));
    await pause(settling);
  }
  return url;
}

/** Sends requests at constant intervals, whether or not responses arrive. */
async function round(url: string, count: number, agent: Agent | false): Promise<Sample> {
  const replies: Promise<number>[] = [];
  for (let number = 0; number < count; number += 1) {
    replies.push(ask(url, agent));
    await pause(distance);
  }
  const waits = await Promise.all(replies);
  return { longest: quantile(waits, 1) * 1e6, p50: quantile(waits, 0.5) * 1e6 };
}

/** Returns the response time (ms). */
function ask(url: string, agent: Agent | false): Promise<number> {
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    get(url, { agent }, (reply) => {
      reply.resume().on('end', () => {
        if (reply.statusCode === 200) resolve(performance.now() - begun);
        else reject(new Error(`an honest client is answered ${reply.statusCode}`));
      });
    }).on('error', reject);
  });
}
