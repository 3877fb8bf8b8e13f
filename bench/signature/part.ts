/** Whoever checks signatures, in a process of its own; each order is a round of checks, signed before the time is taken. */
import type { Sample } from '../measure/benchmark.ts';
import type { Answer } from '../measure/parts/part.ts';
import { type Check, type Peer, peers } from './peers.ts';

/** So many requests are signed, and then checked while they are still at hand for the processor. */
const batch = 250;
const batchesInRound = 24;
/** Who has checked for so long (ns of CPU time) is not given more of them. */
const roundLength = 1e8;
/** What is slow at first is compiled while it runs: for so much processor time before the first round (µs). */
const warmUp = 1.2e6;

/** Makes the peer of this name, and makes sure that it checks what it is said to. */
export async function part(name = ''): Promise<Answer> {
  const sign = peers.get(name)?.();
  if (sign === undefined) throw new RangeError(`nobody called ${name} checks signatures`);
  const again = await sign(0);
  if (!(await again())) throw new Error(`${name} refuses what is good`);
  if (hasNonces(name) && (await again())) throw new Error(`${name} takes a nonce twice`);
  const takeRound = rounds(sign);
  const begun = process.cpuUsage();
  const spent = (): number => {
    const { user, system } = process.cpuUsage(begun);
    return user + system;
  };
  while (spent() < warmUp) await takeRound(4);
  return () => takeRound(batchesInRound);
}

/** Takes rounds of so many batches at most. */
function rounds(sign: Peer): (batches: number) => Promise<Sample> {
  let number = batch;
  return async (batches) => {
    const sum = { cpu: 0, wall: 0 };
    let count = 0;
    for (let taken = 0; taken < batches && sum.cpu < roundLength; taken += 1) {
      const checks: Check[] = [];
      for (let at = 0; at < batch; at += 1) checks.push(await sign(number + at));
      number += batch;
      count += batch;
      // What signing left behind is not to be cleared away at the cost of checking.
      globalThis.gc?.({ type: 'minor' });
      const cpu = process.cpuUsage();
      const begun = process.hrtime.bigint();
      await run(checks);
      sum.wall += Number(process.hrtime.bigint() - begun);
      const { user, system } = process.cpuUsage(cpu);
      sum.cpu += (user + system) * 1000;
    }
    return { cpu: sum.cpu / count, wall: sum.wall / count };
  };
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
