import { createRandom, type Random } from '../../src/store/contract/random.ts';

/** A seeded generator for property tests. A test prints the seed in its messages, so that a failure can be repeated. */
export type Seeded = Random;

/** Creates a generator. Default of the seed: the environment variable SEED, or one that differs in each run. */
export function seeded(seed = Number(process.env['SEED'] ?? process.hrtime()[1])): Seeded {
  return createRandom(seed);
}
