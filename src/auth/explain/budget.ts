import type { KeyKind } from '../keyring.ts';

/** The estimated time (µs) of one verification with a kind of key, without hashing. */
const costs: Readonly<Record<KeyKind, number>> = {
  secret: 5,
  ed25519: 120,
  'ecdsa-p256-sha256': 120,
  'ecdsa-p384-sha384': 800,
  'rsa-pss-sha512': 80,
  'rsa-v1_5-sha256': 60,
  'rsa-v1_5-sha1': 60,
};

/** The bytes that are hashed in a microsecond. */
const hashedPerTime = 400;

/** Returns the estimated time (µs) to verify a message of this length (bytes) with a kind of key. */
export function verificationTime(kind: KeyKind, length: number): number {
  return costs[kind] + length / hashedPerTime;
}

/**
 * Bounds the work of an explanation to about 10 ms. It counts estimates instead of reading a clock, so that neither the load of the
 * host nor the user decides which mistakes are tried, and an explanation is the same each time.
 */
export class ExplanationBudget {
  #left: number;

  /** @param time The estimated time (µs) that may be spent. */
  constructor(time = 10_000) {
    this.#left = time;
  }

  /** Takes an estimated time (µs) off the budget. Returns false once it is used up. */
  spend(time: number): boolean {
    this.#left -= time;
    return this.#left >= 0;
  }

  /**
   * Returns the mistakes that reproduce a signature, among those that fit into the budget. It does not stop at the first one. A
   * generator creates no more of them than are tried.
   *
   * @param estimateTime Returns the estimated time (µs) to try a mistake.
   */
  matching<Mistake>(
    mistakes: Iterable<Mistake>,
    estimateTime: (mistake: Mistake) => number,
    reproduces: (mistake: Mistake) => boolean,
  ): Mistake[] {
    const found: Mistake[] = [];
    for (const mistake of mistakes) {
      if (!this.spend(estimateTime(mistake))) break;
      if (reproduces(mistake)) found.push(mistake);
    }
    return found;
  }
}
