/**
 * A contestant in a process of its own. Arguments: its name, its directory, how many articles, and whether to `fill`
 * the directory or to `hold` it: then it opens it, runs the rounds that its parent asks for, and ends with the parent.
 */

import { article } from './articles.ts';
import { contestants, type Opened } from './contestants.ts';

/** What the parent asks for. */
export type Order = { readonly writers: number; readonly seconds: number } | 'close';

/** What it is told: how the opening went, a round, or the end. */
export interface Opening {
  /** How long it took (ms). */
  readonly load: number;
}
export interface Round {
  readonly writes: number;
  /** How long it took, to the last acknowledgement (ms). */
  readonly elapsed: number;
  /** Of a single write (ms). */
  readonly p50: number;
  readonly p99: number;
}
export interface Ending {
  /** Resident memory at the end, above that before the opening (bytes). */
  readonly resident: number;
}
/** Why it cannot be measured. */
export interface Failure {
  readonly failure: string;
}

const [, , name = '', directory = '', size = '', task = ''] = process.argv;
const count = Number(size);
const contestant = contestants.get(name);
if (contestant === undefined) throw new RangeError(`there is no contestant ${name}`);
process.once('disconnect', () => process.exit());

try {
  if (task === 'fill') {
    await contestant.fill(directory, count);
    process.disconnect();
  } else {
    await hold(contestant.open.bind(contestant));
  }
} catch (error) {
  const failure = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
  process.send?.({ failure } satisfies Failure, () => process.exit());
}

async function hold(open: (directory: string, count: number) => Promise<Opened>): Promise<void> {
  const before = resident();
  const begun = performance.now();
  const opened = await open(directory, count);
  process.send?.({ load: performance.now() - begun } satisfies Opening);
  process.on('message', async (order: Order) => {
    if (order === 'close') {
      const ending: Ending = { resident: resident() - before };
      await opened.close();
      process.send?.(ending, () => process.exit());
    } else {
      process.send?.(await run(opened, order.writers, order.seconds * 1000));
    }
  });
}

/** Each writer replaces an article that no other is replacing, waits until that is acknowledged, and goes on. */
async function run(opened: Opened, writers: number, span: number): Promise<Round> {
  const latencies: number[] = [];
  const busy = new Uint8Array(count);
  let edition = 0;
  const begun = performance.now();
  const end = begun + span;
  const writer = async (): Promise<void> => {
    let number = 0;
    for (let start = begun; start < end; ) {
      do number = Math.floor(Math.random() * count);
      while (busy[number] === 1);
      busy[number] = 1;
      edition += 1;
      await opened.write(number, article(number, edition));
      busy[number] = 0;
      const now = performance.now();
      latencies.push(now - start);
      start = now;
    }
  };
  await Promise.all(Array.from({ length: writers }, writer));
  const elapsed = performance.now() - begun;
  const sorted = Float64Array.from(latencies).sort();
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { writes: latencies.length, elapsed, p50: at(0.5), p99: at(0.99) };
}

/** What is left when all that can be let go is gone (bytes). */
function resident(): number {
  for (let round = 0; round < 3; round += 1) globalThis.gc?.();
  return process.memoryUsage.rss();
}
