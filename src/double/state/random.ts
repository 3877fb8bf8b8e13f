import { createHash } from 'node:crypto';

/** A generator of pseudo-random bytes. */
export type SeededRandom = ReturnType<typeof createSeededRandom>;

/** Creates a generator of pseudo-random bytes: the same seed and sequence of calls produce the same bytes. Not fit for real secrets. */
export function createSeededRandom(seed: string) {
  let calls = 0;
  let begun = 0;
  return {
    seed,
    /** Returns `size` bytes. */
    bytes(size: number): Uint8Array {
      calls += 1;
      return createHash('shake256', { outputLength: size }).update(`${seed}\n${calls}`).digest();
    },
    /** Marks the present position in the sequence as the one to which `reset` returns. */
    begin(): void {
      begun = calls;
    },
    snapshot: () => calls,
    restore(snapshot: number): void {
      calls = snapshot;
    },
    reset(): void {
      calls = begun;
    },
  };
}
