/**
 * Puts a server under load and measures its throughput and cost. Server and client have one core each if there are two.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Figure, Round, Sample, Stage } from '../../measure/benchmark.ts';
import { type Part, startPart } from '../../measure/parts/part.ts';
import { median } from '../../measure/results/statistics.ts';
import type { Requests } from './requests.ts';
import { Supply } from './supply.ts';

/** The figures of a load test; the first one is compared. */
export const loadFigures: [Figure, ...Figure[]] = [
  { key: 'cpu', label: 'CPU per request', unit: 'ns' },
  { key: 'rate', label: 'requests', unit: 'per second', more: true },
  { key: 'p50', label: 'p50', unit: 'ns' },
  { key: 'p99', label: 'p99', unit: 'ns' },
  { key: 'p999', label: 'p99.9', unit: 'ns' },
  { key: 'resident', label: 'memory', unit: 'bytes' },
  { key: 'busy', label: 'load busy', unit: 'share' },
];

/** The minimum number of responses for a significant result. */
const fewest = 5;

/** A listening server. */
export interface Running {
  readonly part: Part;
  readonly port: number;
  /** The ports of all its processes, over which connections are spread. */
  readonly ports?: readonly number[];
}

const [serverCore, loadCore] = [0, 1];
/** The number of requests per second to prepare for a first round. Signing a request takes longer than answering it. */
const likely = 12_000;

/**
 * Starts a server of `load/server/server.ts`, on any core until it is warm. Resolves to a text if its package is not
 * installed.
 */
export async function startServer(stage: Stage, ...words: readonly string[]): Promise<Running | string> {
  const part = await startPart(stage, 'load/server/server.ts', words);
  if (typeof part === 'string') return part;
  const { port = 0 } = await part.ask('port');
  return { part, port };
}

/** Options of a load test. */
export interface LoadOptions {
  /** The duration of a round (ms). Default: 250, and 3000 in the long form. */
  readonly ms?: number;
  /** The duration of the warm-up (ms). Default: 1000. */
  readonly warmUp?: number;
  readonly connections?: number;
  readonly secure?: boolean;
  /** The share of the maximum rate (0 to 1). Default: full load. */
  readonly part?: number;
  /** The number of requests per second. */
  readonly rate?: number;
  /**
   * The minimum number of responses of a round; with fewer, the round is repeated with a longer duration. Default: 100.
   */
  readonly enough?: number;
}

/** Waits until the server has finished the requests in progress, which would affect the next contestant. */
async function atRest({ part }: Running): Promise<void> {
  const spent = async (): Promise<number> => (await part.ask('cost'))['cpu'] ?? 0;
  for (let before = 0, now = await spent(); now - before > 2e6; [before, now] = [now, await spent()])
    await pause(20);
}

/** The number of warm-up steps that are compared. */
const lately = 3;

/** Returns whether the last steps were at most a tenth faster than one before them. */
function levelled(rates: readonly number[]): boolean {
  return median(rates.slice(-lately)) < 1.1 * Math.max(...rates.slice(0, -lately));
}

/** Puts one server after the other under load, with one client. */
export class Loader {
  readonly #stage: Stage;
  readonly #client: Part;
  readonly #supplies = new WeakMap<Requests, Supply>();
  readonly #kept = new WeakSet<Running>();
  #files = 0;

  private constructor(stage: Stage, client: Part) {
    this.#stage = stage;
    this.#client = client;
  }

  static async start(stage: Stage): Promise<Loader> {
    const client = await startPart(stage, 'load/client/client.ts', []);
    if (typeof client === 'string') throw new Error(client);
    client.keepTo(loadCore);
    return new Loader(stage, client);
  }

  /** Runs one round. Throws if a response is not as expected. */
  async round(server: Running, requests: Requests, round: Round, options: LoadOptions = {}): Promise<Sample> {
    const { ms = this.#stage.full ? 3000 : 250, enough = 100 } = options;
    // During a concurrent warm-up, the server has no core of its own, so its maximum rate cannot be measured.
    if (!(round.warmUp && options.part === undefined) && !this.#kept.has(server)) {
      server.part.keepTo(serverCore);
      this.#kept.add(server);
    }
    if (round.warmUp) return this.#warmUp(server, requests, round, options);
    const { part, ...full } = options;
    // The maximum rate is measured again in each round, because the speed of the machine changes.
    const last = part === undefined ? round.last : await this.#take(server, requests, round, full, ms);
    // A round with too few responses is repeated with a longer duration. A very slow server is measured with few.
    const sample = await this.#take(server, requests, { ...round, last }, options, ms);
    if ((sample['count'] ?? 0) >= enough) return sample;
    const longer = await this.#take(server, requests, { ...round, last }, options, ms * 4);
    if ((longer['count'] ?? 0) >= fewest) return longer;
    throw new Error(`fewer than ${fewest} replies in ${ms * 4} ms`);
  }

  /**
   * Warms the server up until it has used enough CPU time and its throughput no longer increases; longer if other
   * contestants used the processors. Runs in several steps, as rounds do, because V8 discards and recompiles much code
   * at the first connections after others were closed.
   */
  async #warmUp(server: Running, requests: Requests, round: Round, options: LoadOptions): Promise<Sample> {
    const { warmUp = 1000 } = options;
    const go = Math.max(150, warmUp / 5);
    const rates: number[] = [];
    let worked = 0;
    let last: Sample | undefined;
    for (let taken = go; ; taken += go) {
      last = await this.#take(server, requests, { ...round, last }, options, go);
      worked += last['spent'] ?? 0;
      rates.push(last['full'] ?? 0);
      const enough = taken >= warmUp && worked > 0.6 * warmUp * 1e6 && levelled(rates);
      if (enough || taken >= 3 * warmUp) return last;
    }
  }

  async #take(
    server: Running,
    requests: Requests,
    { last, warmUp }: Round,
    options: LoadOptions,
    ms: number,
  ): Promise<Sample> {
    const expected = last?.['full'] ?? likely;
    const file = this.#write(requests, server, Math.ceil(expected * (ms / 1000) * 1.4 + 1000));
    const { part, rate: given = part === undefined ? undefined : expected * part } = options;
    const pace = warmUp ? undefined : given;
    const before = await server.part.ask('cost');
    const sample = await (pace !== undefined
      ? this.#ask('paced', server, requests, options, ms, file, pace)
      : this.#ask('full', server, requests, options, ms, file));
    const after = await server.part.ask('cost');
    if (options.enough !== undefined) await atRest(server);
    rmSync(file);
    const { count = 0, others = 0, rate = 0 } = sample;
    // The first of the repeated requests may be valid although the others are not.
    if (others > (requests.once ? 0 : 1)) {
      throw new Error(`${others} of ${count} replies were not ${requests.status}`);
    }
    const spent = (after['cpu'] ?? 0) - (before['cpu'] ?? 0);
    const { others: _, ...figures } = sample;
    const full = pace === undefined ? rate : expected;
    return { ...figures, cpu: spent / count, spent, resident: after['resident'] ?? 0, full };
  }

  /**
   * Opens connections until there are `count`, sends one request on each, and keeps them open until another server is
   * measured.
   */
  async hold(server: Running, requests: Requests, connections: number): Promise<void> {
    const file = this.#write(requests, server, 1);
    await this.#client.ask('hold', String(server.port), 'plain', String(connections), '', '', '', file);
  }

  #write(requests: Requests, server: Running, count: number): string {
    this.#files += 1;
    const file = join(this.#stage.scratch, `requests-${this.#files}`);
    const supply = this.#supplies.get(requests) ?? new Supply(requests);
    this.#supplies.set(requests, supply);
    const all = supply.take(count, server, Date.now());
    writeFileSync(file, all.map((request) => `${Buffer.byteLength(request)}\n${request}`).join(''));
    return file;
  }

  #ask(
    kind: 'full' | 'paced',
    { port, ports = [port] }: Running,
    { status, once: single }: Requests,
    { connections = 64, secure = false }: LoadOptions,
    ms: number,
    file: string,
    rate = 0,
  ): Promise<Sample> {
    const words = [
      kind,
      ports.join(),
      secure ? 'secure' : 'plain',
      connections,
      ms,
      status,
      single ? 'once' : 'again',
    ];
    return this.#client.ask(...words.map(String), file, String(rate));
  }
}
