/**
 * A small seeded generator for property tests (mulberry32), so that a failure can be replayed.
 * The seed comes from the environment variable SEED, else it is drawn; a test prints it in its messages.
 */
export interface Seeded {
  readonly seed: number;
  /** A number in [0, 1). */
  next(): number;
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number;
  /** One of the items given. */
  pick<T>(items: readonly T[]): T;
  /** A string of up to `most` characters out of `alphabet`. */
  text(alphabet: string, most: number): string;
}

/** Makes a generator; without a seed it draws one, or takes SEED from the environment. */
export function seeded(seed = Number(process.env['SEED'] ?? process.hrtime()[1])): Seeded {
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
  const text = (alphabet: string, most: number): string => {
    const characters = [...alphabet];
    return Array.from({ length: below(most + 1) }, () => pick(characters)).join('');
  };
  return { seed, next, below, pick, text };
}
