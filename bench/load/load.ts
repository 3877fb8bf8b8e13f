/** Puts a server under load, and says what it did and what it cost. Server and load have a core each where there are two. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Figure, Round, Sample, Stage } from '../measure/benchmark.ts';
import { type Part, startPart } from '../measure/part.ts';
import type { Requests } from './requests.ts';

/** What a load test measures; the first is what is compared. */
export const loadFigures: [Figure, ...Figure[]] = [
  { key: 'cpu', label: 'CPU per request', unit: 'ns' },
  { key: 'rate', label: 'requests', unit: 'per second', more: true },
  { key: 'p50', label: 'p50', unit: 'ns' },
  { key: 'p99', label: 'p99', unit: 'ns' },
  { key: 'p999', label: 'p99.9', unit: 'ns' },
  { key: 'resident', label: 'memory', unit: 'bytes' },
  { key: 'busy', label: 'load busy', unit: 'share' },
];

/** Replies that make a round, and the fewest that say anything. */
const enough = 100;
const fewest = 5;

/** A server that listens. */
export interface Running {
  readonly part: Part;
  readonly port: number;
}

const cores = availableParallelism();
const serverCore = cores > 1 ? { core: 0 } : {};
const loadCore = cores > 1 ? { core: 1 } : {};
const hasWrk = spawnSync('wrk', ['-v']).error === undefined;

/** Starts a server of `load/server.ts`; a text says that its package is not installed. */
export async function startServer(stage: Stage, ...words: readonly string[]): Promise<Running | string> {
  const part = await startPart(stage, 'load/server.ts', words, serverCore);
  if (typeof part === 'string') return part;
  const { port = 0 } = await part.ask('port');
  return { part, port };
}

/** How a server is put under load. */
export interface LoadOptions {
  /** How long a round is (ms); half a second when left out, and three in the long form. */
  readonly ms?: number;
  /** How long the round before the first one is (ms), in which what is slow at first is compiled; 1.5 s when left out. */
  readonly warmUp?: number;
  readonly connections?: number;
  readonly secure?: boolean;
  /** At which part of the rate that it reached at full load (0 to 1); at full load when left out. */
  readonly part?: number;
}

/** Loads servers one after the other, with one client. */
export class Loader {
  readonly #stage: Stage;
  readonly #client: Part;
  #files = 0;

  private constructor(stage: Stage, client: Part) {
    this.#stage = stage;
    this.#client = client;
  }

  static async start(stage: Stage): Promise<Loader> {
    const client = await startPart(stage, 'load/client.ts', [], loadCore);
    if (typeof client === 'string') throw new Error(client);
    return new Loader(stage, client);
  }

  /** One round. Throws when a reply was not what it had to be. */
  async round(server: Running, requests: Requests, round: Round, options: LoadOptions = {}): Promise<Sample> {
    const { ms: usual = this.#stage.full ? 3000 : 500, warmUp = 1500 } = options;
    const ms = round.warmUp ? warmUp : usual;
    // Where a round is nearly over before it has begun, a longer one says more; who is that slow is taken with few.
    const sample = await this.#take(server, requests, round, options, ms);
    if ((sample['count'] ?? 0) >= enough) return sample;
    const longer = await this.#take(server, requests, round, options, ms * 4);
    if ((longer['count'] ?? 0) >= fewest) return longer;
    throw new Error(`fewer than ${fewest} replies in ${ms * 4} ms`);
  }

  async #take(
    server: Running,
    requests: Requests,
    { last, warmUp }: Round,
    options: LoadOptions,
    ms: number,
  ): Promise<Sample> {
    const expected = last?.['full'] ?? 30_000;
    const most = expected * (ms / 1000) * (last === undefined ? 2.5 : 1.4) + 1000;
    const file = this.#write(requests, Math.ceil(most));
    const { part } = options;
    const paced = part !== undefined && !warmUp;
    const before = await server.part.ask('cost');
    const sample = await (paced
      ? this.#ask('paced', server, requests, options, ms, file, expected * part)
      : hasWrk && options.secure !== true
        ? this.#wrk(server, requests, options, ms, file)
        : this.#ask('full', server, requests, options, ms, file));
    const after = await server.part.ask('cost');
    const { count = 0, others = 0, rate = 0 } = sample;
    // The first of those that are sent again and again may be good where the others are not.
    if (others > (requests.once ? 0 : 1)) {
      throw new Error(`${others} of ${count} replies were not ${requests.status}`);
    }
    const spent = (after['cpu'] ?? 0) - (before['cpu'] ?? 0);
    const { others: _, ...figures } = sample;
    const full = paced ? expected : rate;
    return { ...figures, cpu: spent / count, resident: after['resident'] ?? 0, full };
  }

  /** Opens so many connections, has one request answered on each, and keeps them until it is asked again. */
  async hold({ port }: Running, requests: Requests, connections: number): Promise<void> {
    const file = this.#write(requests, connections);
    await this.#client.ask('hold', String(port), 'plain', String(connections), '', '', '', file);
  }

  #write(requests: Requests, count: number): string {
    this.#files += 1;
    const file = join(this.#stage.scratch, `requests-${this.#files % 2}`);
    const all = requests.make(count, Date.now());
    writeFileSync(file, all.map((request) => `${Buffer.byteLength(request)}\n${request}`).join(''));
    return file;
  }

  #ask(
    kind: 'full' | 'paced',
    { port }: Running,
    { status, once: single }: Requests,
    { connections = 64, secure = false }: LoadOptions,
    ms: number,
    file: string,
    rate = 0,
  ): Promise<Sample> {
    const words = [
      kind,
      port,
      secure ? 'secure' : 'plain',
      connections,
      ms,
      status,
      single ? 'once' : 'again',
    ];
    return this.#client.ask(...words.map(String), file, String(rate));
  }

  /** wrk measures no fixed rate, and its clock of durations is whole seconds: it is stopped by a signal instead. */
  async #wrk(
    { port }: Running,
    { status, once: single }: Requests,
    { connections = 64 }: LoadOptions,
    ms: number,
    file: string,
  ): Promise<Sample> {
    const script = join(import.meta.dirname, 'table.lua');
    const how = ['-t1', `-c${connections}`, '-d60s', '-s', script, `http://127.0.0.1:${port}`];
    const args = ['wrk', ...how, '--', file, single ? 'once' : 'again'];
    const [command = '', ...rest] = cores > 1 ? ['taskset', '-c', '1', ...args] : args;
    const wrk = spawn(command, rest, { stdio: ['ignore', 'pipe', 'ignore'] });
    let output = '';
    wrk.stdout.on('data', (chunk) => {
      output += String(chunk);
    });
    const timer = setTimeout(() => wrk.kill('SIGINT'), ms);
    await once(wrk, 'close');
    clearTimeout(timer);
    const told: Record<string, number> = JSON.parse(/\{.*\}/.exec(output)?.[0] ?? '{}');
    const { count = 0, us = Number.NaN, status: refused = 0, lost = 0, p50 = 0, p99 = 0, p999 = 0 } = told;
    const others = (status < 400 ? refused : count - refused) + lost;
    return { count, rate: (count / us) * 1e6, p50: p50 * 1000, p99: p99 * 1000, p999: p999 * 1000, others };
  }
}
