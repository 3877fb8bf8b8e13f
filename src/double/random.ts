import { createHash } from 'node:crypto';
import type { Stateful } from './stateful.ts';

/** Chance that comes out the same for the same seed, as long as the same is asked for in the same order. Nothing to keep secrets with. */
export interface SeededRandom extends Stateful<number> {
  readonly seed: string;
  /** Gives that many bytes. */
  bytes(size: number): Uint8Array;
  /** Tells that what is drawn from now on is what `reset` leads back to. */
  begin(): void;
}

/** Makes such chance out of a seed. */
export function createSeededRandom(seed: string): SeededRandom {
  let drawn = 0;
  let begun = 0;
  return {
    seed,
    bytes(size) {
      drawn += 1;
      return createHash('shake256', { outputLength: size }).update(`${seed}\n${drawn}`).digest();
    },
    begin() {
      begun = drawn;
    },
    snapshot: () => drawn,
    restore(snapshot) {
      drawn = snapshot;
    },
    reset() {
      drawn = begun;
    },
  };
}
