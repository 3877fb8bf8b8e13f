/**
 * A whole check of a signed GET: header, date, digest, comparison, nonce. Each contestant is measured in a process of
 * its own, in turns; shown are the CPU time of a check (user and system, all threads) and the checks in a second of
 * the clock, and the median of the CPU time beside ours and beside two bare hashes. Every request is checked once, and
 * signed before the time is taken. Run: npm run bench -- signature, or node --import tsx bench/signature.bench.ts [ROUNDS]
 */
import { spawnSync } from 'node:child_process';
import { type Check, type Peer, peers } from './signature/peers.ts';

/** So many requests are signed, and then checked while they are still at hand for the processor. */
const batch = 250;
const warmUpBatches = 200;
const batches = 200;

/** CPU time and time of a check, in ns. */
interface Figure {
  readonly cpu: number;
  readonly wall: number;
}

const [, , first = '7', name] = process.argv;
const rounds = Number(first);
if (!(rounds >= 1)) throw new RangeError('ROUNDS must be a number from 1 on');
if (name === undefined) compare();
else console.log(JSON.stringify(await measure(name)));

function compare(): void {
  const figures = new Map<string, Figure[]>();
  const absent = new Set<string>();
  for (let round = 0; round < rounds; round += 1) {
    for (const peer of peers.keys()) {
      if (absent.has(peer)) continue;
      const figure = measured(peer);
      if (figure === undefined) absent.add(peer);
      else figures.set(peer, [...(figures.get(peer) ?? []), figure]);
    }
  }
  print(figures);
  for (const peer of absent) console.log(`${peer}: left out, not installed (npm install --prefix bench)`);
}

function measured(peer: string): Figure | undefined {
  const args = ['--expose-gc', '--no-deprecation', ...process.execArgv, import.meta.filename, first, peer];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  const { cpu, wall }: { cpu?: number; wall?: number } = JSON.parse(stdout);
  return cpu === undefined || wall === undefined ? undefined : { cpu, wall };
}

/** The figure of this process; nothing where the package is not installed. */
async function measure(peer: string): Promise<Figure | object> {
  const sign = made(peer);
  if (sign === undefined) return {};
  await measureBatches(sign, 0, warmUpBatches);
  const figure = await measureBatches(sign, warmUpBatches, warmUpBatches + batches);
  const again = await sign(0);
  if (!(await again())) throw new Error(`${peer} refuses what is good`);
  if (hasNonces(peer) && (await again())) throw new Error(`${peer} takes a nonce twice`);
  return figure;
}

function made(peer: string): Peer | undefined {
  try {
    return peers.get(peer)?.();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

async function measureBatches(sign: Peer, from: number, to: number): Promise<Figure> {
  const sum = { cpu: 0, wall: 0 };
  for (let number = from; number < to; number += 1) {
    const checks: Check[] = [];
    for (let at = 0; at < batch; at += 1) checks.push(await sign(number * batch + at));
    // What signing left behind is not to be cleared away at the cost of checking.
    globalThis.gc?.({ type: 'minor' });
    const cpu = process.cpuUsage();
    const begun = process.hrtime.bigint();
    await run(checks);
    sum.wall += Number(process.hrtime.bigint() - begun);
    const { user, system } = process.cpuUsage(cpu);
    sum.cpu += (user + system) * 1000;
  }
  const count = (to - from) * batch;
  return { cpu: sum.cpu / count, wall: sum.wall / count };
}

/** Waits only for what is not there at once. */
async function run(checks: readonly Check[]): Promise<void> {
  for (const check of checks) {
    const good = check();
    if (good !== true && !(await good)) throw new Error('a good request was refused');
  }
}

function hasNonces(peer: string): boolean {
  return /^countersign$|^createHmac|hawk|message-signatures/.test(peer);
}

function print(figures: ReadonlyMap<string, readonly Figure[]>): void {
  console.log(
    `Node ${process.version}, ${rounds} rounds of ${(batches * batch).toLocaleString('en')} checks`,
  );
  const heads = ['min ns', 'median', 'max', 'checks/s', 'to ours', 'to bare'];
  console.log(`${''.padEnd(32)}${heads.map((head) => head.padStart(10)).join('')}`);
  const middle = (peer: string): number => spread(figures.get(peer) ?? [], 'cpu')[1];
  for (const [peer, list] of figures) {
    const [least, median, most] = spread(list, 'cpu');
    const cells = [least, median, most, 1e9 / spread(list, 'wall')[1]].map((cell) => cell.toFixed(0));
    const ratios = [middle('countersign'), middle('two bare crypto.hash calls')];
    cells.push(...ratios.map((of) => (median / of).toFixed(2)));
    console.log(`${peer.padEnd(32)}${cells.map((cell) => cell.padStart(10)).join('')}`);
  }
}

function spread(list: readonly Figure[], what: keyof Figure): [least: number, median: number, most: number] {
  const sorted = list.map((figure) => figure[what]).sort((one, other) => one - other);
  return [sorted[0] ?? 0, sorted[Math.floor(sorted.length / 2)] ?? 0, sorted.at(-1) ?? 0];
}
