/** Verifies signatures in its own process; each order runs a round. The requests are signed beforehand. */
import type { Sample } from '../measure/benchmark.ts';
import type { Answer } from '../measure/parts/part.ts';
import type { Check, Peer } from './peers.ts';

/** The number of requests that are signed and then verified together, while they are in the CPU cache. */
const batch = 250;
const batchesInRound = 24;
/** The maximum CPU time of a round (ns). */
const roundLength = 5e7;
/** The CPU time of the warm-up, during which code is compiled (µs). */
const warmUp = 6e5;

/** The suites by name: their peers, each of which is created only when it is measured. A missing package throws. */
const suites: Readonly<Record<string, () => Promise<ReadonlyMap<string, () => Peer | Promise<Peer>>>>> = {
  hmac: async () => (await import('./peers.ts')).peers,
  aws4: async () => (await import('./aws4-peers.ts')).aws4Peers,
  declared: async () => (await import('./declared-peers.ts')).declaredPeers,
  messages: async () => (await import('./message-peers.ts')).messagePeers,
};

/** Creates the peer of a suite with this name, and checks that it accepts valid and rejects invalid requests. */
export async function part(suite = '', name = ''): Promise<Answer> {
  const peers = await suites[suite]?.();
  const sign = await peers?.get(name)?.();
  if (sign === undefined) throw new RangeError(`nobody called ${name} checks signatures`);
  return measuredPeer(name, sign, hasNonces(name));
}

/** Checks that a peer accepts valid and rejects invalid requests, and returns the function that measures it. */
async function measuredPeer(name: string, sign: Peer, takesNonces: boolean): Promise<Answer> {
  const again = await sign(0);
  if (!(await again())) throw new Error(`${name} refuses what is good`);
  if (takesNonces && (await again())) throw new Error(`${name} takes a nonce twice`);
  const takeRound = rounds(sign);
  const begun = process.cpuUsage();
  const spent = (): number => {
    const { user, system } = process.cpuUsage(begun);
    return user + system;
  };
  while (spent() < warmUp) await takeRound(4);
  return () => takeRound(batchesInRound);
}

/** Runs rounds of at most `most` batches. */
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
      // Garbage of the signing is collected before the verification is measured.
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

/** Awaits a result only if it is a promise. */
async function run(checks: readonly Check[]): Promise<void> {
  for (const check of checks) {
    const good = check();
    if (good !== true && !(await good)) throw new Error('a good request was refused');
  }
}

function hasNonces(peer: string): boolean {
  return /^countersign$|^createHmac|hawk|nonce/.test(peer);
}
