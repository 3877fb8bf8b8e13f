import { createHash } from 'node:crypto';
import type { Snapshottable } from './snapshot.ts';

/** Pseudo-random bytes: the same for the same seed and the same sequence of calls. Not fit for real secrets. */
export interface SeededRandom extends Snapshottable<number> {
  readonly seed: string;
  /** Gives that many bytes. */
  bytes(size: number): Uint8Array;
  /** Makes the present place in the sequence the one that `reset` goes back to. */
  begin(): void;
}

/** Makes pseudo-random bytes out of a seed. */
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
