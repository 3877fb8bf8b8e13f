/** Pseudo-random numbers: the same seed produces the same numbers. Not fit for secrets. */
export interface Random {
  readonly seed: number;
  /** Returns a number in [0, 1). */
  next(): number;
  /** Returns a whole number from 0 to below `limit`. */
  below(limit: number): number;
  /** Returns one of the items. Throws RangeError if there are none. */
  pick<T>(items: readonly T[]): T;
  /** Returns a string of up to `most` characters of `alphabet`. */
  text(alphabet: string, max: number): string;
}

/** Creates a generator (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  const pick = <T>(items: readonly T[]): T => {
    const item = items[below(items.length)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  };
  const text = (alphabet: string, max: number): string => {
    const characters = [...alphabet];
    return Array.from({ length: below(max + 1) }, () => pick(characters)).join('');
  };
  return { seed, next, below, pick, text };
}
