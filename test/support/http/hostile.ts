import type { Seeded } from '../seeded.ts';

const octets = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).join('');

/**
 * A value that a client might send to do harm: pieces of the grammar under test and octets of any kind in random
 * order, up to `most` of them.
 */
export function hostile(random: Seeded, pieces: readonly string[], most = 12): string {
  const length = random.below(most + 1);
  return Array.from({ length }, () =>
    random.below(4) === 0 ? random.text(octets, 3) : random.pick(pieces),
  ).join('');
}
