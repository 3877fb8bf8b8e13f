import { createHash } from 'node:crypto';
import type { Snapshottable } from './state.ts';

/** Pseudo-random bytes: the same seed and sequence of calls produce the same bytes. Not fit for real secrets. */
export interface SeededRandom extends Snapshottable<number> {
  readonly seed: string;
  /** Returns `size` bytes. */
  bytes(size: number): Uint8Array;
  /** Marks the present position in the sequence as the one to which `reset` returns. */
  begin(): void;
}

/** Creates a generator of pseudo-random bytes. */
export function createSeededRandom(seed: string): SeededRandom {
  let calls = 0;
  let begun = 0;
  return {
    seed,
    bytes(size) {
      calls += 1;
      return createHash('shake256', { outputLength: size }).update(`${seed}\n${calls}`).digest();
    },
    begin() {
      begun = calls;
    },
    snapshot: () => calls,
    restore(snapshot) {
      calls = snapshot;
    },
    reset() {
      calls = begun;
    },
  };
}
