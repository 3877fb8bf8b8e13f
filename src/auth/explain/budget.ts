import type { KeyKind } from '../keyring.ts';

/** The time (µs) that building the mistakes, and trying them with one key, may take each. */
const maxTime = 3000;

/** The estimated time (µs) of one verification, without hashing. */
const costs: Readonly<Record<KeyKind, number>> = {
  secret: 5,
  ed25519: 120,
  'ecdsa-p256-sha256': 120,
  'ecdsa-p384-sha384': 800,
  'rsa-pss-sha512': 80,
  'rsa-v1_5-sha256': 60,
};

/** The bytes that are hashed in a microsecond. */
const hashedPerTime = 400;

/**
 * Bounds the work of an explanation to about 10 ms. It counts estimates instead of reading a clock, so that the number of mistakes
 * that are tried does not depend on the user, and an explanation is the same each time.
 */
export class Budget {
  #left: number;

  /** @param time The estimated time (µs) that may be spent. */
  constructor(time: number = maxTime) {
    this.#left = time;
  }

  /** Returns whether a message of this length (bytes) may still be tried, and takes its cost off the budget. */
  spend(kind: KeyKind, length: number): boolean {
    this.#left -= costs[kind] + length / hashedPerTime;
    return this.#left >= 0;
  }
}
