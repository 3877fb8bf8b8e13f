/**
 * Live nonces: memory for each (resident memory of a fresh process after, less that before), a claim, the longest
 * one while they become so many and while what was dropped is taken out, and the claim that drops a bucket. Beside
 * it a Set of strings. Each contestant has a process of its own. Nonces have 16 characters and come at an even rate
 * over a window of ten minutes. Run: node --import tsx bench/nonces.bench.ts [COUNT], 10,000,000 when left out.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createNonces } from '../src/store/nonces.ts';

const window = 600_000;
const bucketSpan = window / 4;
/** The most that a Set takes. */
const mostInSet = 16_777_216;
/** Claims that are timed together, since looking at the clock takes as long as a good part of one. */
const batch = 64;
const batches = 8_000;
const start = Math.ceil(Date.UTC(2024, 1, 29) / bucketSpan) * bucketSpan;

/** What is measured: takes a nonce at a time (ms from the start), and says whether it was fresh. */
interface Contestant {
  claim(nonce: string, time: number): boolean;
  readonly size: () => number;
  /** Whether time lets go of anything. */
  readonly drops: boolean;
}

const contestants: Readonly<Record<string, () => Contestant>> = {
  'fingerprints in buckets': () => {
    let time = 0;
    const nonces = createNonces({ bucketSpan, max: 2 ** 31, key: randomBytes(16), monotonic: () => time });
    return {
      claim(nonce, now) {
        time = now;
        return nonces.claim('demo', nonce, start + now + window, start + now) === 'fresh';
      },
      size: () => nonces.size,
      drops: true,
    };
  },
  'Set of strings': () => {
    const set = new Set<string>();
    return {
      claim(nonce) {
        const key = `4:demo${nonce}`;
        if (set.has(key)) return false;
        set.add(key);
        return true;
      },
      size: () => set.size,
      drops: false,
    };
  },
};

const [, , first = '10000000', name] = process.argv;
const count = Number(first.replaceAll(/[_,]/g, ''));
if (!(count >= 1 && count <= 1e9)) throw new RangeError('COUNT must be from 1 to 1,000,000,000');
if (name === undefined) compare();
else console.log(measure(contestants[name]));

function compare(): void {
  console.log(`${count.toLocaleString('en')} live nonces, Node ${process.version}`);
  for (const contestant of Object.keys(contestants)) {
    if (contestant === 'Set of strings' && count > mostInSet) {
      console.log(`${contestant}: throws above ${mostInSet.toLocaleString('en')}`);
      continue;
    }
    const args = ['--expose-gc', '--max-old-space-size=8192', ...process.execArgv, import.meta.filename];
    const child = spawnSync(process.execPath, [...args, String(count), contestant], { encoding: 'utf8' });
    console.log(`${contestant}:\n${child.status === 0 ? child.stdout : child.stderr}`);
  }
}

function measure(make: (() => Contestant) | undefined): string {
  if (make === undefined) throw new RangeError('there is no such contestant');
  const nonces = nonceSource();
  warmUp(make(), nonces);
  const before = resident();
  const contestant = make();
  const growing = fill(contestant, nonces);
  const bytes = (resident() - before) / contestant.size();
  const lines = [`${bytes.toFixed(1)} bytes each`, ...claims(contestant, nonces)];
  lines.push(`longest while growing ${milliseconds(Math.max(...growing))}`);
  if (contestant.drops) lines.push(...drops(contestant, nonces));
  return lines.map((line) => `  ${line}`).join('\n');
}

/** Flat strings of 16 characters, made as they are asked for. */
function nonceSource(): () => string {
  let bytes = randomBytes(65_536);
  let used = 0;
  return () => {
    if (used === bytes.length) {
      bytes = randomBytes(65_536);
      used = 0;
    }
    used += 8;
    return bytes.toString('hex', used - 8, used);
  };
}

/** Over a good half of an hour, so that buckets are dropped too before that is measured. */
function warmUp(contestant: Contestant, nonces: () => string): void {
  for (let claim = 0; claim < 200_000; claim += 1) contestant.claim(nonces(), claim * 10);
}

function resident(): number {
  for (let round = 0; round < 3; round += 1) globalThis.gc?.();
  return process.memoryUsage.rss();
}

/** Fills it over the time of a window; gives the ten longest claims (ms). */
function fill(contestant: Contestant, nonces: () => string): number[] {
  const longest = new Float64Array(10);
  for (let claim = 0; claim < count; claim += 1) {
    const nonce = nonces();
    const time = Math.floor((claim / count) * window);
    const begun = performance.now();
    const fresh = contestant.claim(nonce, time);
    const elapsed = performance.now() - begun;
    if (!fresh) throw new Error(`nonce ${claim} was taken for a replay`);
    if (elapsed > (longest[0] ?? 0)) {
      longest[0] = elapsed;
      longest.sort();
    }
  }
  return [...longest];
}

/** Fresh nonces and replays: the median over batches, and of single claims the 99th percentile. */
function claims(contestant: Contestant, nonces: () => string): string[] {
  const taken: string[] = [];
  const fresh = timed(contestant, () => {
    const nonce = nonces();
    taken.push(nonce);
    return nonce;
  });
  let next = 0;
  // In another order than they came in.
  const seen = timed(contestant, () => {
    next = (next + 7919) % taken.length;
    return taken[next] ?? '';
  });
  return [`fresh ${fresh}`, `replay ${seen}`];
}

function timed(contestant: Contestant, nonces: () => string): string {
  const means: number[] = [];
  const singles: number[] = [];
  const some = new Array<string>(batch).fill('');
  for (let round = 0; round < batches; round += 1) {
    for (let index = 0; index < batch; index += 1) some[index] = nonces();
    const begun = process.hrtime.bigint();
    for (const nonce of some) contestant.claim(nonce, window);
    means.push(Number(process.hrtime.bigint() - begun) / batch);
    const nonce = nonces();
    const alone = process.hrtime.bigint();
    contestant.claim(nonce, window);
    singles.push(Number(process.hrtime.bigint() - alone));
  }
  return `claim: median ${percentile(means, 50)} ns in batches of ${batch}, alone with the timer p99 ${percentile(singles, 99)} ns`;
}

/** Lets the time of each bucket pass, and claims on at a hundredth of the rate until all is taken out. */
function drops(contestant: Contestant, nonces: () => string): string[] {
  const dropping: number[] = [];
  let sweeping = 0;
  for (let time = window + bucketSpan; time <= 2 * window; time += bucketSpan) {
    const size = contestant.size();
    const latest = nonces();
    dropping.push(duration(() => contestant.claim(latest, time)));
    if (contestant.size() >= size) throw new Error('nothing was dropped');
    for (let later = 10; later < bucketSpan; later += 10) {
      const nonce = nonces();
      sweeping = Math.max(
        sweeping,
        duration(() => contestant.claim(nonce, time + later)),
      );
    }
  }
  const left = (resident() / 1e6).toFixed(0);
  return [
    `dropping a bucket ${dropping.map(milliseconds).join(', ')}`,
    `longest while what was dropped is taken out ${milliseconds(sweeping)}; the process then has ${left} MB`,
  ];
}

function duration(work: () => void): number {
  const begun = performance.now();
  work();
  return performance.now() - begun;
}

function percentile(numbers: readonly number[], percent: number): string {
  const sorted = numbers.toSorted((one, other) => one - other);
  return (sorted[Math.floor((sorted.length * percent) / 100)] ?? Number.NaN).toFixed(0);
}

function milliseconds(time: number): string {
  return `${time.toFixed(3)} ms`;
}
