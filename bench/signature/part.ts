/** Whoever checks signatures, in a process of its own; each order is a round of checks, signed before the time is taken. */
import type { Sample } from '../measure/benchmark.ts';
import type { Answer } from '../measure/part.ts';
import { type Check, type Peer, peers } from './peers.ts';

/** So many requests are signed, and then checked while they are still at hand for the processor. */
const batch = 250;
const batchesInRound = 24;
/** What is slow at first is compiled while it runs: so long before the first round (ns). */
const warmUp = 1.2e9;

/** Makes the peer of this name, and makes sure that it checks what it is said to. */
export async function part(name = ''): Promise<Answer> {
  const sign = peers.get(name)?.();
  if (sign === undefined) throw new RangeError(`nobody called ${name} checks signatures`);
  const again = await sign(0);
  if (!(await again())) throw new Error(`${name} refuses what is good`);
  if (hasNonces(name) && (await again())) throw new Error(`${name} takes a nonce twice`);
  let next = batch;
  const takeRound = (batches: number) => {
    const from = next;
    next += batch * batches;
    return round(sign, from, next);
  };
  const begun = process.hrtime.bigint();
  while (Number(process.hrtime.bigint() - begun) < warmUp) await takeRound(4);
  return () => takeRound(batchesInRound);
}

async function round(sign: Peer, from: number, to: number): Promise<Sample> {
  const sum = { cpu: 0, wall: 0 };
  for (let number = from; number < to; number += batch) {
    const checks: Check[] = [];
    for (let at = 0; at < batch; at += 1) checks.push(await sign(number + at));
    // What signing left behind is not to be cleared away at the cost of checking.
    globalThis.gc?.({ type: 'minor' });
    const cpu = process.cpuUsage();
    const begun = process.hrtime.bigint();
    await run(checks);
    sum.wall += Number(process.hrtime.bigint() - begun);
    const { user, system } = process.cpuUsage(cpu);
    sum.cpu += (user + system) * 1000;
  }
  const count = to - from;
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
