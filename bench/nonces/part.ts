/**
 * Holds live nonces in its own process. Fills the contestant with this name, and returns the memory per nonce, the time
 * of a claim, the longest claim while it is filled and while expired nonces are removed, and the time of the claim that
 * drops a bucket. The order is the number of nonces.
 */
import { randomBytes } from 'node:crypto';
import { createNonces } from '../../src/store/nonces/nonces.ts';
import type { Sample } from '../measure/benchmark.ts';
import type { Answer } from '../measure/parts/part.ts';
import { quantile } from '../measure/results/statistics.ts';

const window = 600_000;
const bucketSpan = window / 4;
/** The number of claims that are timed together, because reading the clock takes as long as a large part of one. */
const batch = 64;
const batches = 1_000;
const start = Math.ceil(Date.UTC(2024, 1, 29) / bucketSpan) * bucketSpan;

/** A contestant: claims a nonce at a time (ms from the start) and returns whether it was new. */
interface Contestant {
  claim(nonce: string, time: number): boolean;
  readonly size: () => number;
  /** Whether nonces expire. */
  readonly drops: boolean;
}

const contestants: Readonly<Record<string, () => Contestant>> = {
  'fingerprints in buckets': () => {
    let time = 0;
    const nonces = createNonces({
      bucketSpan,
      max: 2 ** 31,
      maxPerUser: 2 ** 31,
      key: randomBytes(16),
      monotonic: () => time,
    });
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

/** The names of the contestants. */
export const holders: readonly string[] = Object.keys(contestants);

/** The name of reads of random cache lines in an array of the same size, each of which depends on the one before. */
export const randomReads = 'dependent random reads';

/** Measures the contestant with this name. */
export function part(name = ''): Answer {
  if (name === randomReads) return (count) => ({ fresh: measureReads(Number(count)) });
  const make = contestants[name];
  if (make === undefined) throw new RangeError(`nothing called ${name} holds nonces`);
  return (count) => measure(make, Number(count));
}

function measure(make: () => Contestant, count: number): Sample {
  const nonces = nonceSource();
  warmUp(make(), nonces);
  const before = resident();
  const contestant = make();
  const growing = fill(contestant, nonces, count);
  const memory = (resident() - before) / contestant.size();
  const claims = timedClaims(contestant, nonces);
  return { memory, ...claims, growing, ...(contestant.drops && drops(contestant, nonces)) };
}

/** The number of words in a cache line, and of bytes that a nonce needs. */
const wordsInLine = 16;
const bytesPerNonce = 16;

/** Returns the median time of a read (ns). */
function measureReads(count: number): number {
  const lines = Math.ceil((count * bytesPerNonce) / (wordsInLine * Int32Array.BYTES_PER_ELEMENT));
  const words = new Int32Array(lines * wordsInLine);
  // One cycle through all lines in a random order (Sattolo).
  const order = Int32Array.from({ length: lines }, (_, line) => line);
  for (let last = lines - 1; last > 0; last -= 1) {
    const other = Math.floor(Math.random() * last);
    [order[last], order[other]] = [order[other] ?? 0, order[last] ?? 0];
  }
  for (let line = 0; line < lines; line += 1) words[line * wordsInLine] = (order[line] ?? 0) * wordsInLine;
  const means: number[] = [];
  let at = 0;
  for (let round = 0; round < batches; round += 1) {
    const begun = process.hrtime.bigint();
    for (let read = 0; read < batch; read += 1) at = words[at] ?? 0;
    means.push(Number(process.hrtime.bigint() - begun) / batch);
  }
  if (at % wordsInLine !== 0) throw new Error('a read went astray');
  return quantile(means, 0.5);
}

/** Creates flat strings of 16 characters on demand. */
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

/** Warms up over more than half an hour of simulated time, so that dropping buckets is compiled as well. */
function warmUp(contestant: Contestant, nonces: () => string): void {
  for (let claim = 0; claim < 200_000; claim += 1) contestant.claim(nonces(), claim * 10);
}

function resident(): number {
  for (let round = 0; round < 3; round += 1) globalThis.gc?.();
  return process.memoryUsage.rss();
}

/** Fills the contestant over one window. Returns the longest claim (ns). */
function fill(contestant: Contestant, nonces: () => string, count: number): number {
  let longest = 0;
  for (let claim = 0; claim < count; claim += 1) {
    const nonce = nonces();
    const time = Math.floor((claim / count) * window);
    const begun = performance.now();
    const fresh = contestant.claim(nonce, time);
    longest = Math.max(longest, performance.now() - begun);
    if (!fresh) throw new Error(`nonce ${claim} was taken for a replay`);
  }
  return longest * 1e6;
}

/** Claims new nonces and replays. Returns the median over batches (ns). */
function timedClaims(contestant: Contestant, nonces: () => string): Sample {
  const taken: string[] = [];
  const fresh = batched(contestant, () => {
    const nonce = nonces();
    taken.push(nonce);
    return nonce;
  });
  let next = 0;
  // In a different order than they were claimed in.
  const replay = batched(contestant, () => {
    next = (next + 7919) % taken.length;
    return taken[next] ?? '';
  });
  return { fresh, replay };
}

function batched(contestant: Contestant, nonces: () => string): number {
  const means: number[] = [];
  const some = new Array<string>(batch).fill('');
  for (let round = 0; round < batches; round += 1) {
    for (let index = 0; index < batch; index += 1) some[index] = nonces();
    const begun = process.hrtime.bigint();
    for (const nonce of some) contestant.claim(nonce, window);
    means.push(Number(process.hrtime.bigint() - begun) / batch);
  }
  return quantile(means, 0.5);
}

/**
 * Advances the time past each bucket and continues to claim at a hundredth of the rate until all is removed. Returns
 * the longest of each (ns).
 */
function drops(contestant: Contestant, nonces: () => string): Sample {
  let dropping = 0;
  let sweeping = 0;
  for (let time = window + bucketSpan; time <= 2 * window; time += bucketSpan) {
    const size = contestant.size();
    const latest = nonces();
    dropping = Math.max(
      dropping,
      duration(() => contestant.claim(latest, time)),
    );
    if (contestant.size() >= size) throw new Error('nothing was dropped');
    for (let later = 10; later < bucketSpan; later += 10) {
      const nonce = nonces();
      sweeping = Math.max(
        sweeping,
        duration(() => contestant.claim(nonce, time + later)),
      );
    }
  }
  return { dropping: dropping * 1e6, sweeping: sweeping * 1e6 };
}

function duration(work: () => void): number {
  const begun = performance.now();
  work();
  return performance.now() - begun;
}
